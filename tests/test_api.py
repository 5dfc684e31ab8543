"""`import itinera`: reading and scoring by one call each, with objects, names or files."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import numpy as np
import pytest

import itinera as it
import tiny
from itinera.errors import BadArgument, BadFile, MissingPackage
from itinera.metrics import SUITES
from itinera.records import Predictions, ScoreTable, Trajectory
from itinera.tasks import PROTOCOLS
from itinera.worlds import NavGraph


@pytest.fixture
def files(tmp_path: Path) -> tiny.Files:
    return tiny.on_graphs(tmp_path)


@pytest.fixture
def scores(files: tiny.Files) -> ScoreTable:
    return it.score(files.predictions, files.tasks, files.worlds)


def test_files_and_objects_give_the_same_scores(files: tiny.Files, scores: ScoreTable):
    tasks, worlds = it.read_tasks(files.tasks), it.read_worlds(files.worlds)
    predictions = it.read_predictions(files.predictions, tasks)
    again = it.score(predictions, tasks, worlds, suite="paper", protocol="r2r")
    assert again.fingerprint == scores.fingerprint
    for metric, values in scores.items():
        np.testing.assert_array_equal(again[metric], values)


def test_suites_and_protocols_may_be_objects(files: tiny.Files, scores: ScoreTable):
    protocol = PROTOCOLS["r2r"]
    by_object = it.score(
        files.predictions, str(files.tasks), files.worlds, suite=SUITES["hamt"](protocol), protocol=protocol
    )
    by_name = it.score(files.predictions, files.tasks, files.worlds, suite="hamt")
    assert by_object.fingerprint == by_name.fingerprint != scores.fingerprint


def test_a_list_of_trajectories_is_scored(files: tiny.Files, scores: ScoreTable):
    trajectories = list(it.read_predictions(files.predictions))
    assert it.score(trajectories, files.tasks, files.worlds).mean("SR") == scores.mean("SR")


def test_scores_are_written_with_their_provenance(files: tiny.Files, scores: ScoreTable, tmp_path: Path):
    out = tmp_path / "bundle.jsonl"
    it.score(files.predictions, files.tasks, files.worlds, out=out)
    stored = it.read_scores(out)
    assert stored.mean("SPL") == scores.mean("SPL")
    assert stored.provenance is not None
    assert set(stored.provenance.inputs) == {"predictions", "tasks", "worlds"}
    assert it.check(out).kind == "scores"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"suite": "papr"}, r"suite must be one of paper, .*Did you mean paper\?"),
        ({"suite": 3}, "suite must be a name or a Suite, not int"),
        ({"protocol": "r3r"}, "protocol must be one of r2r, "),
        ({"protocol": 3}, "protocol must be a name or a Protocol, not int"),
        ({"missing": "skip"}, "missing must be one of fail, zero, not 'skip'"),
        ({"repeats": "drip"}, r"repeats must be one of keep, drop, not 'drip'\. Did you mean drop\?"),
        ({"predictions": [{"instr_id": "1_0"}]}, r"predictions must be Predictions, .*not list\. See read_predictions"),
        ({"tasks": 3}, r"tasks must be a Split or the path of a file, not int\. See read_tasks"),
        ({"worlds": 3}, r"worlds must be a mapping of World by id or the path of a folder, not int\. See read_worlds"),
        ({"worlds": None}, "needs navigation graphs: give their folder as worlds"),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_accepted(files: tiny.Files, change: dict, message: str):
    arguments = {"predictions": files.predictions, "tasks": files.tasks, "worlds": files.worlds} | change
    with pytest.raises(BadArgument, match=message):
        it.score(**arguments)


def test_readers_name_themselves_where_no_path_is_given():
    with pytest.raises(BadArgument, match=r"read_tasks\(path\) takes the path of a file, not list"):
        it.read_tasks([])  # type: ignore[arg-type]


def test_worlds_and_graphs_are_shown_shortly(files: tiny.Files):
    worlds = it.read_worlds(files.worlds)
    assert repr(worlds) == f"Worlds({str(files.worlds)!r}: {len(worlds)} worlds, such as 'house')"
    with pytest.raises(KeyError, match="no world 'attic'"):
        worlds["attic"]
    assert "attic" not in worlds
    assert "house" in worlds
    with pytest.raises(BadArgument, match="contains neither scenes"):
        it.read_worlds(files.worlds, protocol="r2r-ce")


def test_a_graph_becomes_one_of_networkx(files: tiny.Files):
    graph = it.read_worlds(files.worlds)["house"].space
    assert isinstance(graph, NavGraph)
    other = graph.to_networkx()
    assert set(other.nodes) == set(graph.nodes)
    a, b = graph.nodes[0], graph.nodes[1]
    import networkx

    assert networkx.shortest_path_length(other, a, b, weight="weight") == pytest.approx(graph.between([a], [b])[0, 0])


def test_tasks_are_indexed_by_number_id_and_slice(files: tiny.Files):
    tasks = it.read_tasks(files.tasks)
    first = tasks[0]
    assert tasks[first.id] is first
    assert first.id in tasks
    assert first in tasks
    assert "nothing" not in tasks
    assert len(tasks[1:]) == len(tasks) - 1 == len(list(tasks)) - 1
    assert len(tasks.to_pandas()) == len(tasks.to_dicts()) == len(tasks)
    assert tasks.to_dicts()[0]["instruction"] == first.instruction.text
    assert repr(tasks).startswith("Split('R2R_tiny': ")
    assert "<table>" in tasks._repr_html_()
    with pytest.raises(KeyError, match="no episode 'nothing' in R2R_tiny"):
        tasks["nothing"]


def test_predictions_are_indexed_by_number_id_and_slice(files: tiny.Files):
    predictions = it.read_predictions(files.predictions)
    first = predictions[0]
    assert predictions[first.episode_id].places == first.places
    assert first.episode_id in predictions
    assert len(predictions[:2]) == 2
    assert [t.episode_id for t in predictions] == list(predictions.to_pandas().index)
    assert "trajectories" in repr(predictions)
    assert "<table>" in predictions._repr_html_()
    with pytest.raises(KeyError, match="no trajectory of episode 'nothing'"):
        predictions["nothing"]


def test_tours_count_in_what_predictions_show():
    two = (Trajectory("1", ("a",)), Trajectory("2", ("b",)))
    from itinera.records import Rollout

    assert repr(Predictions("x", (Rollout("t", two),))) == "Predictions('x': 2 trajectories in 1 tours)"


def test_a_score_table_is_like_a_data_frame(scores: ScoreTable):
    assert "SPL" in scores
    assert "SPLL" not in scores
    assert list(scores) == scores.keys() == list(dict(scores))
    assert len(scores) == len(scores["SPL"]) == len(scores.to_dicts())
    frame = scores.to_pandas()
    assert list(frame.index) == list(scores.episode_ids)
    assert frame["SPL"].mean() == pytest.approx(scores.mean("SPL"))
    with pytest.raises(KeyError, match=r"no metric 'SPLL'; there are .* Did you mean SPL\?"):
        scores["SPLL"]
    with pytest.raises(KeyError, match="no metric 0"):
        scores[0]  # type: ignore[index]


def test_a_score_table_prints_means_with_intervals(scores: ScoreTable):
    found = scores.interval("SPL")
    assert found.low <= found.mean <= found.high
    assert scores.interval("SPL", level=0.5).high <= found.high
    text = str(scores)
    assert "95 % interval" in text
    assert f"{100 * found.mean:.1f}" in text
    assert "SPL" in scores._repr_html_()
    assert repr(scores).startswith(f"ScoreTable({len(scores)} episodes in 2 scenes, suite paper: PL, steps")
    with pytest.raises(KeyError, match="no metric 'x'"):
        scores.interval("x")


def test_tour_metrics_have_means_and_intervals_too(files: tiny.Files):
    scores = it.score(files.predictions, files.tasks, files.worlds, tours=files.tours, missing="zero")
    assert scores.tours is not None
    assert len(scores.tours) == len(scores.tours.to_dicts()) == len(scores.tours.to_pandas())
    assert list(scores.tours) == ["t-nDTW", "t-SR", "t-SPL"]
    assert "TourTable(" in repr(scores.tours)
    assert 0 <= scores.mean("t-nDTW") <= 1
    with pytest.raises(KeyError, match=r"'t-nDTW' is a tour metric: table\.tours\['t-nDTW'\]"):
        scores["t-nDTW"]


def test_a_table_of_columns_made_elsewhere_has_intervals():
    scores = ScoreTable.from_values({"SR": [1, 0, 1, 1]}, world_ids=["a", "a", "b", "b"])
    assert scores.mean("SR") == 0.75
    assert "4 episodes in 2 scenes" in str(scores)


@pytest.mark.parametrize("package", ["pandas", "networkx"])
def test_a_missing_package_is_named_with_its_install_command(
    scores: ScoreTable, files: tiny.Files, package: str, monkeypatch: pytest.MonkeyPatch
):
    graph = it.read_worlds(files.worlds)["house"].space
    export = scores.to_pandas if package == "pandas" else graph.to_networkx  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=f"needs {package}. Install it with: pip install {package}"):
        export()


def test_published_numbers_find_their_suite(files: tiny.Files, scores: ScoreTable):
    found = it.audit(files.predictions, files.tasks, files.worlds, published={"SPL": f"{scores.mean('SPL'):.4f}"})
    assert "paper" in [match.suite for match in found.matches]
    assert "those of: " in repr(found)
    assert str(found).endswith(found.verdict)
    assert found.verdict in found._repr_html_()


def test_a_scorer_is_compared_with_the_golden_cases():
    report = it.conformance(lambda attempt: {"steps": len(attempt["trajectory"]["places"])})
    assert not report.agrees
    assert len(report.differences) > 0
    assert "differences from paper" in repr(report)
    with pytest.raises(BadArgument, match="suite must be one of paper"):
        it.conformance(len, suite="pap")  # type: ignore[arg-type]


def test_a_file_is_converted_and_checked(files: tiny.Files, tmp_path: Path):
    out = tmp_path / "predictions.jsonl"
    done = it.convert(files.predictions, out, "native-predictions")
    assert str(done) == f"{out}: Itinera predictions, from R2R, R4R, REVERIE and NDH submissions."
    report = it.check(out, tasks=files.tasks, worlds=files.worlds)
    assert report.counts["trajectories"] == len(it.read_predictions(out))
    assert str(report).endswith("No faults.")
    with pytest.raises(BadFile, match="episode"):
        it.check(files.write("short.json", tiny.predictions({"1_0": "abc"})), tasks=files.tasks, worlds=files.worlds)
    part = it.read_tasks(files.tasks)[:1]  # trajectories of other episodes are left out
    assert str(it.check(out, tasks=part, worlds=files.worlds)).endswith("No faults.")


def test_remarks_go_through_logging(files: tiny.Files, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO, logger="itinera"):
        tasks = files.write("ce.json", tiny.GROUND)
        it.score(files.write("walks.json", tiny.GROUND_WALKS), tasks, implausible="keep")
    assert "Distances are straight lines" in caplog.text


def test_a_folder_is_verified(files: tiny.Files):
    report = it.verify_data(files.folder)
    assert report.faults == ()
    assert "No faults." in repr(report)


def test_a_part_of_a_split_is_scored_by_a_selection_or_a_slice(files):
    tasks = it.read_tasks(files.tasks)
    assert it.score(files.predictions, tasks, files.worlds, episodes=["3_0", "/^1_/"]).episode_ids == (
        "1_0",
        "1_1",
        "3_0",
    )
    part = it.score(files.predictions, tasks[:2], files.worlds)
    assert repr(part).startswith("ScoreTable(2 of 5 episodes in 1 scenes")
    whole = it.score(files.predictions, tasks, files.worlds)
    assert whole.select(["1_1", "1_0"]).part.digest == part.part.digest
    np.testing.assert_array_equal(whole.select(["1_1", "1_0"])["SPL"], part["SPL"])


def test_rows_of_scored_tours_are_selected_with_their_tours(files):
    scores = it.score(files.predictions, files.tasks, files.worlds, tours=files.tours)
    part = scores.select(["3_0", "3_1", "1_1"])
    assert part.tours.world_ids == ("house", "hut")
    assert len(part.episode_info.tour_positions) == 3
    assert scores.select(["3_0"]).tours is None


def test_failures_are_found_with_their_instructions(files):
    (worst,) = it.find_failures(files.predictions, files.tasks, files.worlds, count=3)
    assert (worst.episode_id, worst.error, worst.instruction) == ("1_1", 4.0, "go to c ")
    assert "<table>" in it.find_failures(files.predictions, files.tasks, files.worlds)._repr_html_()
