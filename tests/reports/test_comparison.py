"""Results side by side: only of one kind, with signs, letters and honest ties."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.records import ScoreTable
from itinera.records.runs import average_runs
from itinera.records.tables import to_latex, to_markdown
from itinera.reports.alignment import align_values
from itinera.reports.comparison import compare
from reports.example_tables import table

SCENES = "aabbccddeeff"


def spread(base: float, step: float = 0.01) -> list[float]:
    """A value for each of the twelve episodes, close to `base`."""
    return [base + step * (i % 5) for i in range(12)]


def test_differences_are_later_minus_first() -> None:
    found = compare(["one", "two"], [table(SCENES, SR=[0] * 12), table(SCENES, SR=[1, 0] * 6)])
    (metric,) = found.metrics
    assert (found.episodes, found.scenes, found.suite, found.protocol) == (12, 6, "paper", "r2r")
    assert metric.means == (0.0, 0.5)
    assert metric.differences[0].interval.mean == 0.5
    assert metric.improvements[0].mean == 0.75  # better on half, equal on half


def test_for_an_error_better_is_lower() -> None:
    near, far = table(SCENES, NE=spread(1)), table(SCENES, NE=spread(5, 0.02))
    (metric,) = compare(["near", "far"], [near, far]).metrics
    assert metric.differences[0].interval.mean > 3.9
    assert metric.improvements[0].mean == 0.0
    assert metric.letters == ("a", "b")  # "a" is the group of the best


def test_letters_are_shared_where_systems_cannot_be_told_apart() -> None:
    high, low = table(SCENES, PL=spread(9)), table(SCENES, PL=spread(1, 0.02))
    twin = table(SCENES, PL=spread(9)[::-1])
    (metric,) = compare(["high", "twin", "low"], [high, twin, low]).metrics
    assert metric.letters == ("a", "a", "b")
    assert len(metric.differences) == len(metric.improvements) == 2


def test_equal_results_differ_by_nothing() -> None:
    (metric,) = compare(["x", "y"], [table(SCENES, SR=[1, 0] * 6)] * 2).metrics
    gap = metric.differences[0]
    assert (gap.interval.mean, gap.interval.low, gap.interval.high, gap.p_value) == (0, 0, 0, 1)
    assert metric.improvements[0].mean == 0.5


def test_episodes_are_paired_by_id_and_not_by_order() -> None:
    names = [f"e{i}" for i in range(12)]
    one = table(SCENES, NE=list(range(12)))
    two = table(SCENES[::-1], episode_ids=names[::-1], NE=list(range(12))[::-1])
    (metric,) = compare(["one", "two"], [one, two]).metrics
    assert metric.differences[0].interval.mean == 0
    values, scenes = align_values(["one", "two"], [one, two], "NE")
    assert values.tolist() == [list(range(12))] * 2
    assert "".join(scenes) == SCENES


def test_what_is_undefined_or_infinite_anywhere_is_left_out_of_all() -> None:
    one = table(SCENES, NE=[math.nan, *range(1, 12)])
    two = table(SCENES, NE=[0, math.inf, *range(2, 12)])
    (metric,) = compare(["one", "two"], [one, two]).metrics
    assert metric.episodes == 10
    assert metric.means == (np.mean(range(2, 12)),) * 2


def test_a_metric_without_any_common_value_is_left_out() -> None:
    one, two = table(SCENES, NE=[math.nan] * 12, SR=[1] * 12), table(SCENES, NE=[0] * 12, SR=[1] * 12)
    assert [metric.column.name for metric in compare(["one", "two"], [one, two]).metrics] == ["SR"]


def test_the_answer_depends_on_the_seed_alone() -> None:
    """Thirty scenes are too many to try all sign patterns, so some are drawn."""
    rng = np.random.default_rng(1)
    scenes = "".join(chr(200 + i) for i in range(30)) * 2
    tables = [table(scenes, NE=rng.random(60)) for _ in range(2)]
    once, again, other = (compare(["x", "y"], tables, seed=seed).metrics[0].differences[0] for seed in (1, 1, 2))
    assert not once.exact
    assert once.p_value == again.p_value != other.p_value


REFUSED = {
    "protocols": ({"protocol": "r4r"}, "Results of different protocols cannot be compared"),
    "suites": ({"suite": "hamt"}, r"suite paper \(of paper\), two with hamt \(of hamt\)"),
    "episodes": (
        {"episode_ids": [f"f{i}" for i in range(12)]},
        'two does not have the same episodes .*, for example "e0"',
    ),
}


@pytest.mark.parametrize(("change", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_mixtures_are_refused(change: dict[str, object], said: str) -> None:
    one, two = table(SCENES, SR=[1] * 12), table(SCENES, SR=[1] * 12, **change)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match=said):
        compare(["one", "two"], [one, two])


def test_more_episodes_than_the_first_are_refused() -> None:
    one, two = table("aabb", SR=[1] * 4), table("aabbc", SR=[1] * 5)
    with pytest.raises(BadArgument, match="two does not have the same episodes"):
        compare(["one", "two"], [one, two])


def test_one_result_is_no_comparison() -> None:
    with pytest.raises(BadArgument, match="at least two results"):
        compare(["one"], [table("ab", SR=[1, 0])])


def test_pooled_means_are_compared_with_the_weights_of_each_system() -> None:
    # One: 3 of 4 steps followed in every episode. Two: all of 10 in half of them, none of 2 in the others.
    one = replace(table(SCENES, TR=[0.75] * 12), weights={"TR": np.full(12, 4.0)})
    two = replace(table(SCENES, TR=[1, 0] * 6), weights={"TR": np.array([10.0, 2.0] * 6)})
    (metric,) = compare(["one", "two"], [one, two]).metrics
    assert metric.means == pytest.approx((0.75, 60 / 72))
    assert metric.means == pytest.approx((one.mean("TR"), two.mean("TR")))
    assert metric.differences[0].interval.mean == pytest.approx(60 / 72 - 0.75)
    assert metric.improvements[0].mean == 0.5  # better on half of the episodes, worse on half


def test_an_episode_without_steps_does_not_count_in_a_pooled_comparison() -> None:
    one = replace(table("aabb", TR=[1, 1, 0, math.nan]), weights={"TR": np.array([2.0, 2.0, 4.0, 0.0])})
    two = replace(table("aabb", TR=[0, 1, 1, 1]), weights={"TR": np.array([0.0, 1.0, 1.0, 1.0])})
    (metric,) = compare(["one", "two"], [one, two]).metrics
    assert metric.episodes == 2
    assert metric.means == pytest.approx((2 / 6, 1.0))
    none = replace(two, weights={"TR": np.zeros(4)})
    assert compare(["one", "none"], [one, none]).metrics == ()


def test_the_table_of_a_paper_has_a_row_per_system_and_the_best_in_bold() -> None:
    one, two = (table(SCENES, SR=spread(a), NE=spread(b), PL=spread(9)) for a, b in ((0.4, 5), (0.6, 3)))
    found = compare(["one", "two"], [one, two]).to_paper_table()
    assert found.headings == ("method", "SR % ↑", "NE m ↓")  # neither direction of PL is better
    assert [row[0] for row in found.rows] == ["one", "two"]
    half = 100 * (one.interval("SR").high - one.interval("SR").low) / 2
    assert found.rows[0][1] == f"41.8 ± {half:.1f} b"
    assert found.bold == {(1, 1), (1, 2)}
    assert "| **61.7 ± " in to_markdown(found)
    assert r"\textbf{61.7 $\pm$ " in to_latex(found)


def runs(*means: float) -> list[ScoreTable]:
    """Runs whose values differ by a constant."""
    return [table(SCENES, SR=spread(mean, 0.02)) for mean in means]


def test_runs_are_compared_by_their_mean() -> None:
    mine = average_runs("mine", runs(0.5, 0.6, 0.7))
    found = compare(["other", "mine"], [table(SCENES, SR=spread(0.4)), mine])
    (metric,) = found.metrics
    assert found.runs == (1, 3)
    assert metric.means[1] == pytest.approx(np.mean(spread(0.6, 0.02)))
    assert (metric.variations[0], metric.variations[1].runs) == (None, 3)
    assert metric.differences[0].test == "t"
    assert "1 and 3 runs" in found.to_table().title
    assert found.to_dict()["runs"] == {"other": 1, "mine": 3}


def test_runs_that_vary_are_no_longer_better() -> None:
    other = table(SCENES, SR=spread(0.4))
    (sure,) = compare(["other", "mine"], [other, average_runs("mine", runs(0.59, 0.6, 0.61))]).metrics
    (unsure,) = compare(["other", "mine"], [other, average_runs("mine", runs(0.3, 0.6, 0.9))]).metrics
    assert (sure.letters, unsure.letters) == (("b", "a"), ("a", "a"))
    assert sure.means == pytest.approx(unsure.means)


def test_remarks_say_how_runs_vary_and_what_the_best_of_them_would_add() -> None:
    found = compare(["other", "mine"], [table(SCENES, SR=spread(0.4)), average_runs("mine", runs(0.5, 0.6))])
    first, second = found.remarks()
    assert first == (
        "mine: 2 runs with SR 53.5 to 63.5; standard deviation between runs 7.1 points, standard error of one run over "
        "scenes 1.0 points. The best of 2 runs is expected to exceed their mean by 5.0 points."
    )
    assert second == "There is one run of other: the intervals do not generalize to other runs of it."


def test_a_system_that_reports_its_best_run_is_corrected() -> None:
    known = average_runs("known", runs(0.5, 0.6))
    best = table(SCENES, SR=spread(0.62, 0.02))
    reported, corrected = (
        compare(["known", "best"], [known, best], best_of=best_of)["SR"] for best_of in (None, {"best": 2})
    )
    gain = known.runs[1].mean("SR") - known.mean("SR")  # of two runs, the better one is ahead of the mean by half
    assert corrected.corrections == pytest.approx((0.0, gain))
    assert corrected.means[1] == pytest.approx(reported.means[1] - gain)
    assert corrected.improvements == reported.improvements
    remarks = list(compare(["known", "best"], [known, best], best_of={"best": 2}).remarks())
    assert any("best reports the best of 2 runs, which exceeds their mean by 5.0 points of SR" in r for r in remarks)


def test_the_best_run_of_an_error_is_the_lowest() -> None:
    known = average_runs("known", [table(SCENES, NE=spread(4)), table(SCENES, NE=spread(5))])
    best = table(SCENES, NE=spread(3))
    found = compare(["known", "best"], [known, best], best_of={"best": 3})["NE"]
    assert found.means[1] > best.mean("NE")


def test_a_correction_needs_runs_to_learn_from() -> None:
    one, two = table(SCENES, SR=spread(0.4)), table(SCENES, SR=spread(0.5))
    with pytest.raises(BadArgument, match="needs a system with several runs"):
        compare(["one", "two"], [one, two], best_of={"two": 5})
    with pytest.raises(BadArgument, match="names three, which is not compared"):
        compare(["one", "two"], [one, two], best_of={"three": 5})
    with pytest.raises(BadArgument, match=r"is 1\. Give the number of its runs"):
        compare(["one", "two"], [one, two], best_of={"two": 1})
    with pytest.raises(BadArgument, match="needs no correction"):
        compare(["one", "two"], [one, average_runs("two", [two, two])], best_of={"two": 2})
