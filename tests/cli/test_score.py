"""`itinera score`, end to end."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest

import tiny
from cli.conftest import Command
from itinera.formats.bundles import read_scores
from itinera.metrics.suites import SUITES
from itinera.tasks.protocol import R2R

EPISODE_METRICS = ("PL", "NE", "ONE", "SR", "OSR", "SPL", "SED", "nDTW", "SDTW", "CLS")


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_json_has_every_mean_with_its_interval(files: tiny.Files, itinera: Command) -> None:
    outcome = itinera("score", files.predictions, *files.options, "--json")
    assert outcome.code == 0
    told = outcome.json
    assert {"suite", "fingerprint", "episodes", "metrics", "undefined"} <= told.keys()
    assert (told["suite"], told["episodes"], told["scenes"], told["undefined"]) == ("paper", 5, 2, {})
    assert set(EPISODE_METRICS) <= told["metrics"].keys()
    for name, mean in tiny.MEANS.items():
        assert told["metrics"][name]["mean"] == pytest.approx(mean)
    for held in told["metrics"].values():
        assert held.keys() == {"mean", "low", "high"}
        assert held["low"] <= held["mean"] <= held["high"]


def test_results_go_to_stdout_and_remarks_to_stderr(files: tiny.Files, itinera_process: Command) -> None:
    """In a process of its own, warnings being errors."""
    outcome = itinera_process("score", files.predictions, *files.options, "--json")
    assert outcome.code == 0
    assert outcome.json["episodes"] == 5  # so there is nothing but JSON
    assert outcome.err == f"fingerprint {outcome.json['fingerprint']}\n"


def test_the_terminal_shows_percentages_and_intervals(files: tiny.Files, itinera: Command) -> None:
    outcome = itinera("score", files.predictions, *files.options)
    assert outcome.code == 0
    (line,) = [line for line in outcome.out.splitlines() if " SR %" in line and "OSR" not in line]
    assert "80.0" in line
    assert "–" in line
    (line,) = [line for line in outcome.out.splitlines() if " NE m" in line]
    assert "1.20" in line
    assert "5 episodes in 2 scenes · suite paper" in outcome.out


def test_csv_is_a_row_per_metric(files: tiny.Files, itinera: Command) -> None:
    rows = list(csv.DictReader(io.StringIO(itinera("score", files.predictions, *files.options, "--csv").out)))
    means = {row["metric"]: row["mean"] for row in rows}
    assert (means["SR % ↑"], means["NE m ↓"], means["PL m"]) == ("80.0", "1.20", "4.40")
    assert {"low", "high", "undefined"} < rows[0].keys()


def test_markdown_and_latex_are_tables(files: tiny.Files, itinera: Command) -> None:
    markdown = itinera("score", files.predictions, *files.options, "--markdown").out
    assert markdown.startswith("| metric | mean | low | high | undefined |\n| --- | ---: |")
    assert "| SR % ↑ | 80.0 |" in markdown
    latex = itinera("score", files.predictions, *files.options, "--latex").out
    assert latex.startswith(r"\begin{tabular}{lrrrr}")
    assert r"SR \% $\uparrow$ & 80.0 &" in latex


def test_only_one_shape_can_be_asked_for(files: tiny.Files, itinera: Command) -> None:
    outcome = itinera("score", files.predictions, *files.options, "--json", "--csv")
    assert outcome.code == 2
    assert "Choose one of --json and --csv" in outcome.err


def test_rows_hold_every_episode_in_full_precision(files: tiny.Files, itinera: Command) -> None:
    rows = files.folder / "rows.jsonl"
    assert itinera("score", files.predictions, *files.options, "--rows", rows).code == 0
    found = {row["episode_id"]: row for row in rows_of(rows)}
    assert list(found) == list(tiny.WALKS)
    assert all(set(EPISODE_METRICS) <= row.keys() for row in found.values())
    overshot = found["2_0"]
    assert (overshot["SR"], overshot["NE"], overshot["PL"], overshot["SPL"]) == (1.0, 2.0, 6.0, 4 / 6)
    assert overshot["nDTW"] == math.exp(-2 / (3 * 3))  # one node 2 m past a path of three


def test_a_bundle_holds_rows_and_where_they_came_from(files: tiny.Files, itinera: Command) -> None:
    bundle = files.folder / "deep" / "er" / "bundle.jsonl"
    outcome = itinera("score", files.predictions, *files.options, "--out", bundle, "--json")
    header, *rows = rows_of(bundle)
    assert header["fingerprint"] == outcome.json["fingerprint"]
    assert header["provenance"]["command"][:2] == ["itinera", "score"]
    assert header["provenance"]["inputs"].keys() == {"predictions", "tasks", "worlds"}
    assert len(rows) == 5
    assert itinera("check", bundle).code == 0


def test_tours_are_scored_beside_their_episodes(files: tiny.Files, itinera: Command) -> None:
    rows = files.folder / "rows.jsonl"
    outcome = itinera("score", files.predictions, *files.options, "--tours", files.tours, "--rows", rows, "--json")
    assert outcome.json["tours"] == 3
    # Tours "1_0, 2_0", "1_1" and "3_0, 3_1": DTW is 0 + 2, 6 (a stays: 0 + 2 + 4) and 0 + 2; nodes 6, 3 and 6.
    each = [math.exp(-2 / (3 * 6)), math.exp(-6 / (3 * 3)), math.exp(-2 / (3 * 6))]
    assert outcome.json["metrics"]["t-nDTW"]["mean"] == pytest.approx((2 * each[0] + each[1] + 2 * each[2]) / 5)
    tours = [row for row in rows_of(rows) if "tour_id" in row]
    assert [row["t-nDTW"] for row in tours] == pytest.approx(each)
    assert len(rows_of(rows)) == 8
    assert "3 tours" in itinera("score", files.predictions, *files.options, "--tours", files.tours).out


def test_episodes_that_no_tour_visits_need_no_answer(files: tiny.Files, itinera: Command) -> None:
    tours = files.write("few.json", {"tiny": {"house": [["1_0", "2_0"]]}})
    few = files.write("few_preds.json", tiny.predictions({"1_0": "abc", "2_0": "cde"}))
    outcome = itinera("score", few, *files.options, "--tours", tours, "--json")
    assert (outcome.code, outcome.json["episodes"]) == (0, 2)
    assert itinera("score", few, *files.options).code == 1


def test_tours_of_another_split_are_refused(files: tiny.Files, itinera: Command) -> None:
    tours = files.write("other.json", {"tiny": {"house": [["1_0", "9_0"]]}})
    outcome = itinera("score", files.predictions, *files.options, "--tours", tours)
    assert outcome.code == 1
    assert f'{tours}: tour "0": episode "9_0" is not in R2R_tiny' in outcome.err


ANY_TASKS = [name for name, make in SUITES.items() if make(R2R).add_targets is None]  # the others need objects


@pytest.mark.parametrize("suite", ANY_TASKS)
def test_every_suite_scores(files: tiny.Files, itinera: Command, suite: str) -> None:
    outcome = itinera("score", files.predictions, *files.options, "--suite", suite, "--json")
    assert (outcome.code, outcome.json["suite"]) == (0, suite)
    assert outcome.json["metrics"]["SR"]["mean"] == pytest.approx(0.8)


def test_suites_have_fingerprints_of_their_own(files: tiny.Files, itinera: Command) -> None:
    found = {
        itinera("score", files.predictions, *files.options, "--suite", suite, "--json").json["fingerprint"]
        for suite in ANY_TASKS
    }
    assert len(found) == len(ANY_TASKS)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--suite", "papr", "not 'papr'. Did you mean paper?"),
        ("--missing", "nought", "missing must be one of fail, zero, not 'nought'"),
        ("--repeats", "drip", "repeats must be one of keep, drop, not 'drip'. Did you mean drop?"),
        ("--protocol", "r3r", "protocol must be one of r2r, "),
        ("--format", "r2r-submision", "Did you mean r2r-submission?"),
    ],
)
def test_an_unknown_choice_names_the_nearest(
    files: tiny.Files, itinera: Command, option: str, value: str, said: str
) -> None:
    outcome = itinera("score", files.predictions, *files.options, option, value)
    assert outcome.code == 2
    assert said in outcome.err
    assert outcome.out == ""


def test_missing_episodes_can_count_as_zero(files: tiny.Files, itinera: Command) -> None:
    few = files.write("few.json", tiny.predictions({k: w for k, w in tiny.WALKS.items() if k != "3_0"}))
    rows = files.folder / "rows.jsonl"
    outcome = itinera("score", few, *files.options, "--missing", "zero", "--json", "--rows", rows)
    assert outcome.code == 0
    assert outcome.json["missing"] == 1
    assert outcome.json["metrics"]["SR"]["mean"] == pytest.approx(3 / 5)
    assert "1 episodes have no trajectory and count as zero" in outcome.err
    absent = next(row for row in rows_of(rows) if row["missing"])
    assert (absent["episode_id"], absent["SR"], absent["nDTW"], absent["NE"], absent["PL"]) == ("3_0", 0, 0, 4.0, 0)


def test_places_visited_twice_in_a_row_are_remarked_and_can_be_dropped(files: tiny.Files, itinera: Command) -> None:
    turning = files.write("turning.json", tiny.predictions(tiny.PERFECT | {"1_0": "aabbbc"}))
    kept = itinera("score", turning, *files.options, "--json")
    assert "20% of the trajectories visit a place twice in a row" in kept.err
    assert "--repeats drop" in kept.err
    assert kept.json["metrics"]["steps"]["mean"] == pytest.approx((5 + 4 * 2) / 5)
    dropped = itinera("score", turning, *files.options, "--json", "--repeats", "drop")
    assert "twice in a row" not in dropped.err
    assert dropped.json["metrics"]["steps"]["mean"] == 2
    assert dropped.json["metrics"]["PL"] == kept.json["metrics"]["PL"]
    assert dropped.json["fingerprint"] != kept.json["fingerprint"]


def test_results_with_and_without_repeats_cannot_be_compared(files: tiny.Files, itinera: Command) -> None:
    for repeats in ("keep", "drop"):
        out = files.folder / f"{repeats}.jsonl"
        itinera("score", files.predictions, *files.options, "--repeats", repeats, "--out", out)
    outcome = itinera("compare", files.folder / "keep.jsonl", files.folder / "drop.jsonl")
    assert outcome.code == 2
    assert "Score both with the same suite" in outcome.err


KEEP = ("--implausible", "keep")  # two places far apart suffice for a metric


@pytest.fixture
def ground(tmp_path: Path) -> dict[str, Path]:
    held = {"tasks": tiny.GROUND, "walks": tiny.GROUND_WALKS, "dense": tiny.DENSE}
    return {name: tiny.written(tmp_path / f"{name}.json", content) for name, content in held.items()}


def test_continuous_tasks_need_no_worlds_but_a_stop(ground: dict[str, Path], itinera: Command) -> None:
    refused = itinera("score", ground["walks"], "--tasks", ground["tasks"])
    assert refused.code == 1
    assert "2 trajectories are impossible under protocol r2r-ce: 2 with steps that are too long." in refused.err
    outcome = itinera("score", ground["walks"], "--tasks", ground["tasks"], *KEEP, "--json")
    assert outcome.code == 0
    assert "They are scored as they are." in outcome.err
    assert "Distances are straight lines" in outcome.err
    assert outcome.json["protocol"]["name"] == "r2r-ce"
    metrics = outcome.json["metrics"]
    # The second stands at its goal but never said stop.
    assert (metrics["NE"]["mean"], metrics["SR"]["mean"], metrics["OSR"]["mean"]) == (0.0, 0.5, 1.0)
    assert metrics["nDTW"]["mean"] == 1.0


def test_a_dense_reference_replaces_the_waypoints(ground: dict[str, Path], itinera: Command) -> None:
    options = ("--tasks", ground["tasks"], "--reference", ground["dense"], *KEEP, "--json")
    outcome = itinera("score", ground["walks"], *options)
    # The first walk is 2.5 m from the middle of its three points.
    assert outcome.json["metrics"]["nDTW"]["mean"] == pytest.approx((math.exp(-2.5 / (3 * 3)) + 1) / 2)


def test_worlds_given_for_continuous_tasks_are_remarked(
    ground: dict[str, Path], files: tiny.Files, itinera: Command
) -> None:
    outcome = itinera("score", ground["walks"], "--tasks", ground["tasks"], "--worlds", files.worlds, *KEEP)
    assert outcome.code == 0
    assert "is not used" in outcome.err


def test_another_protocol_can_judge(ground: dict[str, Path], itinera: Command) -> None:
    outcome = itinera("score", ground["walks"], "--tasks", ground["tasks"], "--protocol", "r2r", "--json")
    assert outcome.json["protocol"]["name"] == "r2r"
    assert outcome.json["metrics"]["SR"]["mean"] == 1.0


def test_graph_tasks_ask_for_worlds(files: tiny.Files, itinera: Command) -> None:
    outcome = itinera("score", files.predictions, "--tasks", files.tasks)
    assert outcome.code == 2
    assert "--worlds" in outcome.err


def test_withheld_goals_are_refused_by_score_and_passed_by_check(files: tiny.Files, itinera: Command) -> None:
    hidden = [record | {"path": record["path"][:1]} for record in tiny.PATHS]
    for record in hidden:
        del record["distance"]
    options = ("--tasks", files.write("R2R_test.json", hidden), "--worlds", files.worlds)
    outcome = itinera("score", files.predictions, *options)
    assert outcome.code == 1
    assert "R2R_test: goals withheld: 5 of 5 episodes" in outcome.err
    assert itinera("check", files.predictions, *options).code == 0


def test_unreachable_goals_are_infinitely_far_and_never_nan(files: tiny.Files, itinera: Command) -> None:
    from itinera.formats import matterport
    from itinera.worlds import World
    from text_worlds import graph

    matterport.write_worlds(files.folder / "broken", {"house": World("house", graph("a-b-c d-e-f"))})
    tasks = files.write("far.json", [tiny.path(1, "house", "f") | {"path": ["a", "f"]}])
    walks = files.write("walks.json", tiny.predictions({"1_0": "ab"}))
    outcome = itinera("score", walks, "--tasks", tasks, "--worlds", files.folder / "broken", "--json")
    assert outcome.code == 0
    assert outcome.json["metrics"]["NE"] == {"mean": "inf", "low": "inf", "high": "inf"}
    assert outcome.json["metrics"]["SR"]["mean"] == 0
    assert "NaN" not in outcome.out


def test_one_scene_is_remarked(files: tiny.Files, itinera: Command) -> None:
    tasks = files.write("one.json", tiny.PATHS[:2])
    walks = files.write("walks.json", tiny.predictions({k: tiny.WALKS[k] for k in ("1_0", "1_1", "2_0")}))
    outcome = itinera("score", walks, "--tasks", tasks, "--worlds", files.worlds)
    assert "One scene: the intervals do not generalize to other scenes" in outcome.err


def test_a_world_that_is_not_given_is_told(files: tiny.Files, itinera: Command) -> None:
    (files.worlds / "hut_connectivity.json").unlink()
    outcome = itinera("score", files.predictions, *files.options)
    assert outcome.code == 1
    assert "world hut is not among the worlds given.\n  Check worlds (--worlds)" in outcome.err


def test_tasks_and_worlds_that_do_not_belong_together_are_told(files: tiny.Files, itinera: Command) -> None:
    tasks = files.write("tasks.json", [tiny.path(1, "house", "axc")])
    walks = files.write("walks.json", tiny.predictions({"1_0": "abc"}))
    outcome = itinera("score", walks, "--tasks", tasks, "--worlds", files.worlds)
    assert outcome.code == 1
    assert "leaves world house: Not a node of this graph: x" in outcome.err


@pytest.mark.parametrize("option", ["--rows", "--out"])
def test_a_refused_score_leaves_the_old_output_alone(files: tiny.Files, itinera: Command, option: str) -> None:
    old = files.write("out.jsonl", "old")
    bad = files.write("bad.json", tiny.predictions({"1_0": "abc"}))
    assert itinera("score", bad, *files.options, option, old).code == 1
    assert old.read_text() == "old"


@pytest.mark.parametrize("option", ["--rows", "--out"])
def test_an_output_that_cannot_be_written_is_told(files: tiny.Files, itinera: Command, option: str) -> None:
    folder = files.folder / "folder"
    folder.mkdir()
    before = sorted(files.folder.rglob("*"))
    outcome = itinera("score", files.predictions, *files.options, option, folder)
    assert outcome.code == 1
    assert f"{folder}: cannot be written" in outcome.err
    assert sorted(files.folder.rglob("*")) == before


def test_everything_may_be_compressed_or_archived(files: tiny.Files, itinera: Command) -> None:
    import gzip

    from itinera.formats.writing import write_members

    packed = {
        path.name: files.write(f"{path.name}.gz", gzip.compress(path.read_bytes()))
        for path in (files.predictions, files.tasks, files.tours)
    }
    write_members(files.folder / "c.tar.xz", {path.name: path.read_bytes() for path in files.worlds.iterdir()})
    options = (
        "--tasks",
        packed["R2R_tiny.json"],
        "--worlds",
        files.folder / "c.tar.xz",
        "--tours",
        packed["tours.json"],
    )
    outcome = itinera("score", packed["preds.json"], *options, "--json")
    plain = itinera("score", files.predictions, *files.options, "--tours", files.tours, "--json")
    assert outcome.json["metrics"] == plain.json["metrics"]


HEADER = '{"itinera": "times", "robot": {"dynamics": "unicycle", "vmax": 0.25, "goal_radius": 0.2}}\n'
ROBOT_RUN = "time,x,y,yaw\n10,0,0,0\n20,1,0,0\n30,2,0,0\n"


@pytest.fixture
def robot(tmp_path: Path) -> list[Any]:
    """A robot's log of one of two episodes, its tasks and their fastest times, as arguments of a score."""
    goal, start = [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    tasks = [{"itinera": "tasks", "name": "flat", "judged_by": "pointnav"}]
    tasks += [{"id": k, "world_id": "flat", "start": start, "goals": [goal], "reference": [start, goal]} for k in "ab"]
    times = tiny.written(tmp_path / "times.jsonl", HEADER + '{"episode_id": "a", "lower": 8, "upper": 10}\n')
    tiny.written(tmp_path / "tasks.jsonl", "".join(json.dumps(task) + "\n" for task in tasks))
    log = tiny.written(tmp_path / "a.csv", ROBOT_RUN)
    return [log, "--tasks", tmp_path / "tasks.jsonl", "--missing", "zero", "--times", times]


def test_with_times_a_robots_log_is_told_its_completion_time_and_sct(robot: list[Any], itinera: Command) -> None:
    outcome = itinera("score", *robot, "--out", robot[0].with_name("a.scores"), "--json")
    assert outcome.code == 0
    told = outcome.json
    means = {name: held["mean"] for name, held in told["metrics"].items()}
    assert (means["C"], means["SCT"], means["SCT_low"], means["SCT_high"]) == (20, 0.5, 0.4, 0.5)
    assert (means["SR"], told["undefined"]) == (0.5, {"C": 1, "SCT": 1, "SCT_low": 1, "SCT_high": 1})
    assert (told["robot"]["dynamics"], told["robot"]["goal_radius"]) == ("unicycle", 0.2)
    assert 'lacks 1 of 2 episodes, such as "b"' in outcome.err
    assert "SCT by the fastest times of a unicycle robot of radius 0.2 m" in outcome.err
    assert "SCT is undefined for 1 rows" in outcome.err
    assert itinera("check", robot[0].with_name("a.scores")).code == 0
    assert itinera("reproduce", robot[0].with_name("a.scores")).code == 0


def test_a_log_can_be_given_its_episode(robot: list[Any], itinera: Command) -> None:
    log = robot[0].rename(robot[0].with_name("tuesday.csv"))
    assert 'episode "tuesday": is unknown' in itinera("score", log, *robot[1:]).err
    assert itinera("score", log, *robot[1:], "--episode", "a", "--json").json["metrics"]["SCT"]["mean"] == 0.5


def test_walks_without_times_have_no_sct_and_times_of_other_tasks_are_refused(
    robot: list[Any], itinera: Command
) -> None:
    episodes_without_times = tiny.written(robot[0].with_name("log.csv"), "episode_id,x,y\na,0,0\na,2,0\n")
    outcome = itinera("score", episodes_without_times, *robot[1:], *KEEP, "--json")
    assert "Some trajectories have no times" in outcome.err
    assert outcome.json["metrics"].keys().isdisjoint({"C", "SCT"})
    tiny.written(robot[-1], HEADER + '{"episode_id": "z", "lower": 8, "upper": 10}\n')
    outcome = itinera("score", *robot)
    assert outcome.code == 1
    assert "contains the fastest time of no episode that was scored" in outcome.err


ANOTHER_ROBOT = {"radius": 0.1, "vmax": 0.2, "wmax": 0.01}


@pytest.mark.parametrize("field", ANOTHER_ROBOT)
def test_times_of_another_robot_are_refused(robot: list[Any], itinera: Command, field: str) -> None:
    header = json.loads(HEADER)
    header["robot"][field] = ANOTHER_ROBOT[field]
    tiny.written(robot[-1], json.dumps(header) + '\n{"episode_id": "a", "lower": 8, "upper": 9}\n')
    outcome = itinera("score", *robot)
    assert outcome.code == 1
    assert f"line 1, field robot.{field}: is {ANOTHER_ROBOT[field]:g}, that of protocol pointnav" in outcome.err
    assert "itinera fastest-times" in outcome.err


def test_times_of_a_robot_that_cannot_drive_curves_are_refused_for_one_that_can(
    robot: list[Any], itinera: Command
) -> None:
    tiny.written(robot[-1], HEADER.replace("unicycle", "point-turn") + '{"episode_id": "a", "lower": 8, "upper": 9}\n')
    assert itinera("score", *robot).code == 0
    outcome = itinera("score", *robot, "--drive", "unicycle-6")
    assert outcome.code == 1
    assert "is point-turn, but unicycle-6 drives curves" in outcome.err


def test_times_for_other_tasks_are_refused_where_the_file_says_so(robot: list[Any], itinera: Command) -> None:
    provenance = {"version": "1", "inputs": {"tasks": "other.json"}, "digests": {"tasks": "0" * 32}}
    header = json.loads(HEADER) | {"provenance": provenance}
    tiny.written(robot[-1], json.dumps(header) + '\n{"episode_id": "a", "lower": 8, "upper": 9}\n')
    outcome = itinera("score", *robot)
    assert outcome.code == 1
    assert "are times for other tasks than" in outcome.err


def test_a_part_of_a_split_is_scored_and_said_to_be_one(files: tiny.Files, itinera: Command) -> None:
    bundle = files.folder / "part.jsonl"
    outcome = itinera("score", files.predictions, *files.options, "--episodes", "scan=hut", "--out", bundle)
    assert outcome.code == 0
    assert f"{files.predictions}: 2 of 5 episodes in 1 scene · suite paper" in outcome.out
    header, *rows = rows_of(bundle)
    assert [row["episode_id"] for row in rows] == ["3_0", "3_1"]
    assert (header["part"]["total"], header["part"]["selection"]) == (5, "scan=hut")
    again = itinera("score", files.predictions, *files.options, "--episodes", "3_1,3_0", "--json").json
    assert again["part"]["digest"] == header["part"]["digest"]
    assert (again["episodes"], again["metrics"]["SPL"]["mean"]) == (2, pytest.approx((1 + 4 / 8) / 2))
    assert read_scores(bundle).part.total == 5
    assert itinera("check", bundle).code == 0


def test_the_whole_split_is_no_part(files: tiny.Files, itinera: Command) -> None:
    whole = itinera("score", files.predictions, *files.options, "--json").json
    assert itinera("score", files.predictions, *files.options, "--episodes", "/./", "--json").json == whole
    assert "part" not in whole


def test_episodes_with_a_trajectory_are_a_part(files: tiny.Files, itinera: Command) -> None:
    some = files.write("some.json", tiny.predictions({name: tiny.WALKS[name] for name in ("1_0", "2_0")}))
    refused = itinera("score", some, *files.options)
    assert "3 of the 5 episodes of R2R_tiny have no trajectory" in refused.err
    assert "--episodes answered" in refused.err
    told = itinera("score", some, *files.options, "--episodes", "answered", "--json").json
    assert (told["episodes"], told["part"]["total"], told["missing"]) == (2, 5, 0)


def test_a_part_may_be_a_file_and_be_repeated(files: tiny.Files, itinera: Command) -> None:
    ids = files.write("ids.txt", "1_0\n2_0\n")
    told = itinera("score", files.predictions, *files.options, "--episodes", ids, "--episodes", "3_0", "--json").json
    assert told["episodes"] == 3


def test_tours_within_the_part_are_scored(files: tiny.Files, itinera: Command) -> None:
    options = [*files.options, "--tours", files.tours, "--json"]
    assert itinera("score", files.predictions, *options, "--episodes", "scan=hut").json["tours"] == 1
    assert "None of the 3 tours lies within" in itinera("score", files.predictions, *options, "--episodes", "3_0").err
