"""The mean of a split from the scores of a subset, with control variates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.analysis.extrapolation import extrapolate
from itinera.analysis.sampling import draw_subset
from itinera.errors import BadArgument
from small_split import make_scores, make_split

SPLIT = make_split()
REFERENCE = make_scores(SPLIT, 1, source="reference")
AGENT = make_scores(SPLIT, 2, like=REFERENCE)


def test_scores_of_the_subset_and_of_the_split_give_the_same_estimate():
    subset = draw_subset(SPLIT, 50)
    part = AGENT.select(subset.ids)
    found, again = extrapolate(part, subset, [REFERENCE]), extrapolate(AGENT, subset, [REFERENCE])
    assert found.to_dict()["metrics"] == again.to_dict()["metrics"]
    assert found["SR"].split.mean != part.mean("SR")


def test_the_whole_split_as_its_own_subset_is_known_exactly():
    found = extrapolate(AGENT, draw_subset(SPLIT, len(SPLIT)))
    for metric in ("SR", "nDTW", "NE"):
        assert found[metric].split.mean == pytest.approx(AGENT[metric].mean())
        assert found[metric].split.high - found[metric].split.low == pytest.approx(0)


def test_a_reference_that_is_the_agent_itself_leaves_no_error():
    found = extrapolate(AGENT, draw_subset(SPLIT, 50), [AGENT])
    assert found["nDTW"].split.mean == pytest.approx(AGENT["nDTW"].mean())
    assert found["nDTW"].variance_left == pytest.approx(0, abs=1e-12)


def test_control_variates_save_variance_and_keep_their_coverage():
    errors, inside = {"plain": [], "adjusted": []}, []
    for seed in range(150):
        subset = draw_subset(SPLIT, 50, seed=seed)
        plain, adjusted = extrapolate(AGENT, subset)["nDTW"], extrapolate(AGENT, subset, [REFERENCE])["nDTW"]
        truth = AGENT["nDTW"].mean()
        errors["plain"].append(plain.split.mean - truth)
        errors["adjusted"].append(adjusted.split.mean - truth)
        inside.append(adjusted.split.low <= truth <= adjusted.split.high)
    assert np.var(errors["adjusted"]) < 0.6 * np.var(errors["plain"])
    assert 0.9 <= np.mean(inside) <= 0.99


def test_other_scenes_are_less_certain_than_the_split():
    found = extrapolate(AGENT, draw_subset(SPLIT, 180))
    for metric in ("SR", "nDTW", "NE"):
        one = found[metric]
        assert one.scenes.high - one.scenes.low > 2 * (one.split.high - one.split.low)


def test_the_order_of_rows_does_not_matter():
    subset = draw_subset(SPLIT, 50)
    order = np.random.default_rng(0).permutation(len(SPLIT))
    turned = replace(
        REFERENCE,
        episode_ids=tuple(REFERENCE.episode_ids[i] for i in order),
        world_ids=tuple(REFERENCE.world_ids[i] for i in order),
        path_ids=tuple(REFERENCE.path_ids[i] for i in order),
        values={name: column[order] for name, column in REFERENCE.items()},
    )
    for metric in ("SR", "nDTW"):
        one, other = extrapolate(AGENT, subset, [REFERENCE])[metric], extrapolate(AGENT, subset, [turned])[metric]
        assert one.split.mean == pytest.approx(other.split.mean)
        assert one.scenes.low == pytest.approx(other.scenes.low)


def test_several_references_are_joined():
    subset = draw_subset(SPLIT, 100)
    second = make_scores(SPLIT, 9, source="second")
    found = extrapolate(AGENT, subset, [REFERENCE, second])
    assert found.references == ("reference", "second")
    assert found["nDTW"].variance_left < 0.8


def test_metrics_that_are_undefined_somewhere_are_left_out():
    values = {name: column.copy() for name, column in AGENT.items()}
    values["NE"][0] = np.inf
    found = extrapolate(replace(AGENT, values=values), draw_subset(SPLIT, len(SPLIT)))
    assert [one.column.name for one in found.metrics] == ["SR", "nDTW"]
    with pytest.raises(KeyError, match="no metric 'NE'; there are SR, nDTW"):
        found["NE"]


def test_scores_of_other_episodes_are_refused():
    subset = draw_subset(SPLIT, 50)
    with pytest.raises(BadArgument, match=r"agent \(\d+ episodes\) are not those of the subset of small, "):
        extrapolate(AGENT.select(SPLIT.by_id.keys() - set(subset.ids)).select(AGENT.episode_ids[:40]), subset)
    with pytest.raises(BadArgument, match=r"A reference agent \(50 episodes\) must cover the 204 episodes"):
        extrapolate(AGENT, subset, [AGENT.select(subset.ids)])


def test_references_of_another_suite_are_refused():
    one = replace(AGENT, suite="paper", fingerprint="a")
    with pytest.raises(BadArgument, match="by suite hamt, the subset by paper"):
        extrapolate(one, draw_subset(SPLIT, 50), [replace(REFERENCE, suite="hamt", fingerprint="b")])


def test_the_table_names_the_subset_and_both_targets():
    subset = draw_subset(SPLIT, 50)
    text = str(extrapolate(AGENT, subset, [REFERENCE]))
    assert f"50 of 204 episodes (subset of small, {subset.digest}) · control variates: reference" in text
    assert "full split (204 episodes)" in text
    assert "other scenes" in text
    assert "variance left" in text
