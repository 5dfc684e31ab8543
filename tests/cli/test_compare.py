"""`itinera compare`, end to end."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny
from cli.conftest import Command
from itinera.formats.bundles import write_scores
from itinera.records import Column, ScoreTable
from itinera.reports.comparison import Comparison, MetricComparison
from itinera.stats import Difference, Interval
from reports.example_tables import table


@pytest.fixture
def bundles(files: tiny.Files, itinera: Command) -> list[Path]:
    """The tiny walks, and perfect ones."""
    made = []
    for name, walks in (("mine", tiny.WALKS), ("perfect", tiny.PERFECT)):
        made.append(files.folder / f"{name}.jsonl")
        preds = files.write(f"{name}.json", tiny.predictions(walks))
        assert itinera("score", preds, *files.options, "--out", made[-1]).code == 0
    return made


def test_differences_are_of_the_later_minus_the_first(bundles: list[Path], itinera: Command) -> None:
    outcome = itinera("compare", *bundles, "--json")
    assert outcome.code == 0
    told = outcome.json
    assert (told["systems"], told["episodes"], told["scenes"], told["suite"]) == (["mine", "perfect"], 5, 2, "paper")
    assert told["metrics"]["SR"]["means"] == {"mine": 0.8, "perfect": 1.0}
    assert told["metrics"]["SR"]["differences"]["perfect"]["mean"] == pytest.approx(0.2)
    assert told["metrics"]["NE"]["differences"]["perfect"]["mean"] == pytest.approx(-1.2)
    # Better on 1_1 alone, equal elsewhere; for an error better is lower, and 1_1 and 2_0 are.
    assert told["metrics"]["SR"]["differences"]["perfect"]["probability_of_improvement"] == pytest.approx(3 / 5)
    assert told["metrics"]["NE"]["differences"]["perfect"]["probability_of_improvement"] == pytest.approx(3.5 / 5)


def test_the_other_way_round_the_signs_change(bundles: list[Path], itinera: Command) -> None:
    there, back = (itinera("compare", *order, "--json").json for order in (bundles, bundles[::-1]))
    for name in ("SR", "NE", "SPL"):
        assert there["metrics"][name]["differences"]["perfect"]["mean"] == pytest.approx(
            -back["metrics"][name]["differences"]["mine"]["mean"]
        )


def test_the_terminal_shows_signs_and_letters(bundles: list[Path], itinera: Command) -> None:
    lines = itinera("compare", *bundles).out.splitlines()
    assert "5 episodes in 2 scenes · suite paper · protocol r2r" in lines[0]
    (line,) = [line for line in lines if " SR %" in line and "OSR" not in line]
    assert "80.0 a" in line
    assert "100.0 a" in line  # two scenes cannot tell them apart
    assert "+20.0" in line
    assert any("−1.20" in line for line in lines if " NE m" in line)
    (length,) = [line for line in lines if " PL m" in line]
    assert "4.40 a" not in length  # neither long nor short is better


@pytest.mark.parametrize(("shape", "said"), [("--csv", "metric,mine,perfect"), ("--markdown", "| metric | mine |"),
                                             ("--latex", r"\begin{tabular}")])  # fmt: skip
def test_every_shape_is_written(bundles: list[Path], itinera: Command, shape: str, said: str) -> None:
    outcome = itinera("compare", *bundles, shape)
    assert outcome.code == 0
    assert outcome.out.startswith(said)


def test_the_same_seed_gives_the_same_answer(bundles: list[Path], itinera: Command) -> None:
    assert (
        itinera("compare", *bundles, "--seed", 3, "--json").out
        == itinera("compare", *bundles, "--seed", 3, "--json").out
    )


def test_bundles_of_one_name_are_told_apart_by_their_folders(bundles: list[Path], itinera: Command) -> None:
    twin = bundles[0].parent / "other" / "mine.jsonl"
    twin.parent.mkdir()
    twin.write_bytes(bundles[0].read_bytes())
    told = itinera("compare", bundles[0], twin, "--json").json
    assert told["systems"] == [str(bundles[0]), str(twin)]
    assert told["metrics"]["SR"]["differences"][str(twin)] == {
        "mean": 0.0, "low": 0.0, "high": 0.0, "p_value": 1.0, "probability_of_improvement": 0.5,
    }  # fmt: skip


def scored(files: tiny.Files, itinera: Command, name: str, *options: object) -> Path:
    out = files.folder / name
    assert itinera("score", files.predictions, *files.options, "--out", out, *options).code == 0
    return out


def test_suites_are_not_mixed(files: tiny.Files, bundles: list[Path], itinera: Command) -> None:
    outcome = itinera("compare", bundles[0], scored(files, itinera, "hamt.jsonl", "--suite", "hamt"))
    assert outcome.code == 2
    assert "was scored with suite paper" in outcome.err
    assert "hamt with hamt" in outcome.err


def test_protocols_are_not_mixed(files: tiny.Files, bundles: list[Path], itinera: Command) -> None:
    outcome = itinera("compare", bundles[0], scored(files, itinera, "long.jsonl", "--protocol", "r4r"))
    assert outcome.code == 2
    assert "Results of different protocols cannot be compared" in outcome.err


def test_episodes_are_not_mixed(files: tiny.Files, bundles: list[Path], itinera: Command) -> None:
    tasks = files.write("fewer.json", tiny.PATHS[1:])
    walks = files.write("fewer_preds.json", tiny.predictions({k: tiny.WALKS[k] for k in ("2_0", "3_0", "3_1")}))
    fewer = files.folder / "fewer.jsonl"
    assert itinera("score", walks, "--tasks", tasks, "--worlds", files.worlds, "--out", fewer).code == 0
    for pair in ((bundles[0], fewer), (fewer, bundles[0])):
        outcome = itinera("compare", *pair)
        assert outcome.code == 2
        assert "does not have the same episodes" in outcome.err


def test_one_bundle_is_no_comparison(bundles: list[Path], itinera: Command) -> None:
    outcome = itinera("compare", bundles[0])
    assert outcome.code == 2
    assert "at least two results" in outcome.err


def test_a_file_that_is_no_bundle_is_refused(files: tiny.Files, bundles: list[Path], itinera: Command) -> None:
    outcome = itinera("compare", bundles[0], files.predictions)
    assert outcome.code == 1
    assert f"{files.predictions}: line 1: " in outcome.err


def test_a_changed_bundle_is_refused(bundles: list[Path], itinera: Command) -> None:
    bundles[1].write_text(bundles[1].read_text().replace('"SR":1.0', '"SR":0.0', 1))
    outcome = itinera("compare", *bundles)
    assert outcome.code == 1
    assert "changed or cut short" in outcome.err


def test_tours_are_compared_where_both_were_scored_over_the_same(files: tiny.Files, itinera: Command) -> None:
    made = []
    for name, walks in (("mine", tiny.WALKS), ("perfect", tiny.PERFECT)):
        made.append(files.folder / f"{name}.jsonl")
        preds = files.write(f"{name}.json", tiny.predictions(walks))
        assert itinera("score", preds, *files.options, "--tours", files.tours, "--out", made[-1]).code == 0
    told = itinera("compare", *made, "--json").json["metrics"]
    alone = itinera("score", files.folder / "mine.json", *files.options, "--tours", files.tours, "--json").json
    assert told["t-nDTW"]["means"]["perfect"] == pytest.approx(1.0)
    assert told["t-nDTW"]["means"]["mine"] == pytest.approx(alone["metrics"]["t-nDTW"]["mean"])
    assert told["t-nDTW"]["differences"]["perfect"]["mean"] > 0


def test_solved_is_a_row_per_agent_on_what_all_solved(bundles: list[Path], itinera: Command) -> None:
    outcome = itinera("compare", *bundles, "--solved")
    assert outcome.code == 0
    assert "5 episodes in 2 scenes, 4 solved by every agent · suite paper · protocol r2r" in outcome.out
    (line,) = [line for line in outcome.out.splitlines() if "mine" in line]
    assert "80.0 [" in line
    told = itinera("compare", *bundles, "--solved", "--json").json
    assert (told["solved_by_all"], told["robot"]) == (4, None)
    assert told["metrics"]["SPL∩"]["means"]["perfect"]["mean"] == 1.0
    assert told["metrics"]["SPL∩"]["means"]["mine"]["mean"] == pytest.approx((1 + 4 / 6 + 1 + 4 / 8) / 4)


def test_where_nobody_solved_the_same_it_is_said(files: tiny.Files, bundles: list[Path], itinera: Command) -> None:
    still = files.write("still.json", tiny.predictions({name: walk[0] for name, walk in tiny.WALKS.items()}))
    assert itinera("score", still, *files.options, "--out", files.folder / "still.jsonl").code == 0
    outcome = itinera("compare", bundles[1], files.folder / "still.jsonl", "--solved")
    assert "No episode was solved by every agent" in outcome.err
    assert "undefined" in outcome.out


def colored(value: float, letters: tuple[str, str], better: str) -> dict[tuple[int, int], str]:
    """The colors of a comparison of one metric and one difference."""
    gap = Difference(Interval(value, value - 0.1, value + 0.1, 0.95), 0.01, exact=True, episodes=5, clusters=2)
    metric = MetricComparison(Column("SR", "", better), 5, (0.0, value), (gap,), (gap.interval,), letters)  # type: ignore[arg-type]
    return Comparison(("a", "b"), (metric,), 5, 2, "paper", "r2r").colors()


def test_better_is_green_worse_is_red_and_chance_has_no_color() -> None:
    assert colored(0.2, ("b", "a"), "higher") == {(0, 3): "green"}
    assert colored(-0.2, ("a", "b"), "higher") == {(0, 3): "red"}
    assert colored(0.2, ("a", "b"), "lower") == {(0, 3): "red"}
    assert colored(-0.2, ("b", "a"), "lower") == {(0, 3): "green"}
    assert colored(0.2, ("ab", "a"), "higher") == {}
    assert colored(0.2, ("b", "a"), "neither") == {}


def test_colors_stand_at_the_differences(
    bundles: list[Path], itinera: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        Comparison, "colors", lambda found, max_width: dict.fromkeys([(0, 1 + len(found.names))], "green")
    )
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    (line,) = [line for line in itinera("compare", *bundles).out.splitlines() if "\x1b[32m" in line]
    assert " PL m" in line
    assert "[" in line.split("\x1b[32m")[1].split("\x1b[0m")[0]  # the interval


def test_a_part_is_compared(bundles: list[Path], itinera: Command) -> None:
    told = itinera("compare", *bundles, "--episodes", "scan=house", "--json").json
    assert (told["episodes"], told["scenes"], told["part"]["total"]) == (3, 1, 5)
    assert told["metrics"]["SR"]["means"] == {"mine": pytest.approx(2 / 3), "perfect": 1.0}
    assert "3 of 5 episodes in 1 scene" in itinera("compare", *bundles, "--episodes", "scan=house").out
    assert "has no scene 'shed'" in itinera("compare", *bundles, "--episodes", "scan=shed").err


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_long_names_fit_the_terminal(
    bundles: list[Path], itinera: Command, monkeypatch: pytest.MonkeyPatch, columns: int, count: int
) -> None:
    names = [f"an-agent-whose-name-is-much-too-long-for-a-column-{k}" for k in range(count)]
    copies = [bundles[k % 2].parent / f"{name}.jsonl" for k, name in enumerate(names)]
    for k, copy in enumerate(copies):
        copy.write_bytes(bundles[k % 2].read_bytes())
    monkeypatch.setenv("COLUMNS", str(columns))
    title, *lines = itinera("compare", *copies).out.splitlines()
    assert max(map(len, lines)) <= columns
    # No cell is broken into two lines: a line for each metric (and agent), and four of the frame.
    assert len(lines) - 4 in (15, 15 * count)
    assert title.endswith(", ".join(f"{k}: {name}" for k, name in enumerate(names, start=1)))


def test_the_smallest_possible_p_value_is_said_to_be(tmp_path: Path, itinera: Command) -> None:
    scenes = [f"scene {k}" for k in range(6) for _ in range(2)]
    for name, values in (("none", 0.0), ("all", 1.0)):
        write_scores(tmp_path / f"{name}.jsonl", ScoreTable.from_values({"SR": [values] * 12}, world_ids=scenes))
    files = [tmp_path / "none.jsonl", tmp_path / "all.jsonl"]
    err = itinera("compare", *files).err
    # Six scenes have 2**6 sign patterns; the observed one and its opposite are the most extreme: 2 / 64.
    assert err.startswith("p = 0.0312 is the smallest possible with 6 scenes, however large the difference")
    assert "smallest possible" not in itinera("compare", files[0], files[0].parent / "none.jsonl").err


def write_run(path: Path, rates: str) -> None:
    write_scores(path, table("aabbccddeeff", SR=[int(c) for c in rates], SPL=[0.9 * int(c) for c in rates]))


def test_files_under_one_name_are_runs_of_one_system(itinera: Command, tmp_path: Path) -> None:
    for number, rates in enumerate(("101010111011", "111010101011", "101011101010")):
        write_run(tmp_path / f"seed{number}.jsonl", rates)
    write_run(tmp_path / "old.jsonl", "001000101000")
    pattern = str(tmp_path / "seed*.jsonl")
    found = itinera("compare", "--name", f"old={tmp_path / 'old.jsonl'}", "--runs", f"mine={pattern}", "--json")
    assert found.code == 0, found.err
    decoded = found.json
    assert decoded["runs"] == {"old": 1, "mine": 3}
    assert len(decoded["metrics"]["SR"]["runs"]["mine"]["means"]) == 3
    one_by_one = [f"--name=mine={tmp_path}/seed{k}.jsonl" for k in range(3)]
    again = itinera("compare", str(tmp_path / "old.jsonl"), *one_by_one, "--json")
    assert again.json == decoded


def test_metrics_are_those_asked_for_in_their_order(itinera: Command, tmp_path: Path) -> None:
    write_run(tmp_path / "a.jsonl", "101010111011")
    write_run(tmp_path / "b.jsonl", "001000101000")
    files = [str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]
    found = itinera("compare", *files, "--metrics", "SPL,SR", "--csv")
    assert [line.split(",")[0] for line in found.out.splitlines()] == ["metric", "SPL % ↑", "SR % ↑"]
    wrong = itinera("compare", *files, "--metrics", "SLP")
    assert wrong.code == 2
    assert "Did you mean SPL?" in wrong.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--name", "mine"], "must be NAME=FILE"),
        (["--name", "mine=none*.jsonl"], "No file matches none*.jsonl"),
        (["--best-of", "mine"], "must be NAME=N"),
    ],
)
def test_a_wrong_name_says_what_to_type(itinera: Command, tmp_path: Path, options: list[str], message: str) -> None:
    write_run(tmp_path / "a.jsonl", "101010111011")
    found = itinera("compare", str(tmp_path / "a.jsonl"), *options)
    assert found.code == 2
    assert message in found.err
