"""`itinera convert`, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tiny
from cli.conftest import Command
from itinera.formats import catalog, native_predictions, native_tasks
from itinera.formats.catalog import BY_NAME


def walked(path: Path) -> dict[str, list[str]]:
    return {t.episode_id: list(t.places) for t in catalog.read_predictions(path).trajectories}  # type: ignore[arg-type]


@pytest.mark.parametrize(("between", "name"), [("native-predictions", "w.jsonl"), ("native-predictions", "w.jsonl.gz"),
                                               ("rxr-submission", "w.jsonl")])  # fmt: skip
def test_walks_go_there_and_back(files: tiny.Files, itinera: Command, between: str, name: str) -> None:
    there, back = files.folder / name, files.folder / "back.json"
    outcome = itinera("convert", files.predictions, there, "--to", between)
    assert (outcome.code, outcome.out) == (0, "")
    assert f"{there}: " in outcome.err
    assert itinera("convert", there, back, "--to", "r2r-submission").code == 0
    assert walked(back) == {name: list(walk) for name, walk in tiny.WALKS.items()}


def test_tasks_go_there_and_back(files: tiny.Files, itinera: Command) -> None:
    there, back = files.folder / "tasks.jsonl", files.folder / "back.json"
    assert itinera("convert", files.tasks, there, "--to", "native-tasks").code == 0
    assert itinera("convert", there, back, "--to", "r2r").code == 0
    for before, after in zip(tiny.PATHS, json.loads(back.read_text()), strict=True):
        assert after.pop("heading") == pytest.approx(before["heading"])
        assert after == {k: v for k, v in before.items() if k != "heading"}


def test_converted_files_score_the_same(files: tiny.Files, itinera: Command) -> None:
    walks, tasks, worlds = (files.folder / name for name in ("w.jsonl", "t.jsonl", "worlds.tar.gz"))
    itinera("convert", files.predictions, walks, "--to", "native-predictions")
    itinera("convert", files.tasks, tasks, "--to", "native-tasks", "--tours", files.tours)
    itinera("convert", files.worlds, worlds, "--to", "connectivity")
    converted = itinera("score", walks, "--tasks", tasks, "--worlds", worlds, "--json").json
    plain = itinera("score", files.predictions, *files.options, "--tours", files.tours, "--json").json
    assert converted["metrics"] == plain["metrics"]
    assert converted["tours"] == 3


def test_ground_walks_go_to_positions_and_back(tmp_path: Path, itinera: Command) -> None:
    walks = tiny.written(tmp_path / "w.json", tiny.GROUND_WALKS)
    assert itinera("convert", walks, tmp_path / "w.csv", "--to", "positions").code == 0
    # Habitat's z is our -y.
    assert (tmp_path / "w.csv").read_text().splitlines()[4].startswith("2,0.0,-5.0,0.0")
    assert itinera("convert", tmp_path / "w.csv", tmp_path / "back.json", "--to", "vlnce-submission").code == 0
    back = json.loads((tmp_path / "back.json").read_text())
    assert [state["position"] for state in back["2"]] == tiny.SOUTH


def test_rxr_ce_submissions_are_named_by_instruction(tmp_path: Path, itinera: Command) -> None:
    told = {"instruction_text": "go", "instruction_id": 70, "language": "en-US"}
    tasks = {"episodes": [tiny.ground_episode(1, "house", tiny.EAST) | {"instruction": told}]}
    walks = tiny.written(tmp_path / "w.json", {"1": tiny.states(tiny.EAST)})
    options = ("--to", "rxr-ce-submission", "--tasks", tiny.written(tmp_path / "t.json", tasks))
    assert itinera("convert", walks, tmp_path / "out.jsonl", *options).code == 0
    assert json.loads((tmp_path / "out.jsonl").read_text()) == {"instruction_id": 70, "path": tiny.EAST}
    asked = ("score", tmp_path / "out.jsonl", "--tasks", tmp_path / "t.json", "--implausible", "keep", "--json")
    assert itinera(*asked).json["episodes"] == 1


def test_traces_align_the_words_of_guides(tmp_path: Path, itinera: Command) -> None:
    from itinera.formats.pose_traces import PoseTrace, write_trace

    guide = {"path_id": 1, "scan": "house", "heading": 0.0, "path": ["a", "b"], "instruction_id": 26, "language": "en",
             "instruction": "Go", "timed_instruction": [{"word": "Go", "start_time": 1, "end_time": 2}]}  # fmt: skip
    tiny.written(tmp_path / "g.jsonl", guide)
    trace = PoseTrace(np.array(["a", "b"]), np.array([0.0, 0.5]))
    write_trace(tmp_path / "traces" / "000026_guide_pose_trace.npz", trace)
    out = tmp_path / "t.jsonl"
    options = ("--to", "native-tasks", "--traces", tmp_path / "traces")
    assert itinera("convert", tmp_path / "g.jsonl", out, *options).code == 0
    (episode,) = native_tasks.read_split(out).episodes
    assert episode.alignment is not None
    assert (episode.alignment.first.tolist(), episode.alignment.last.tolist()) == ([1], [1])


def test_the_list_names_every_format(itinera: Command) -> None:
    outcome = itinera("convert", "--list")
    assert outcome.code == 0
    assert all(name in outcome.out for name in BY_NAME)


def test_kinds_are_not_mixed(files: tiny.Files, itinera: Command) -> None:
    outcome = itinera("convert", files.predictions, files.folder / "x", "--to", "r2r")
    assert outcome.code == 2
    assert "holds predictions (r2r-submission), which cannot become tasks (r2r)" in outcome.err


def test_places_of_one_sort_do_not_become_the_other(files: tiny.Files, itinera: Command) -> None:
    walks = files.write("w.json", tiny.GROUND_WALKS)
    outcome = itinera("convert", walks, files.folder / "x", "--to", "r2r-submission")
    assert outcome.code == 2
    assert 'The trajectory of episode "1" contains positions, but this format takes nodes' in outcome.err
    tasks = files.write("t.json", tiny.GROUND)
    assert itinera("convert", tasks, files.folder / "x", "--to", "r2r").code == 2
    assert not (files.folder / "x").exists()


def test_an_unfinished_call_is_told(files: tiny.Files, itinera: Command) -> None:
    outcome = itinera("convert", files.predictions)
    assert outcome.code == 2
    assert "--list" in outcome.err
    outcome = itinera("convert", files.predictions, files.folder / "x", "--to", "native-prediction")
    assert outcome.code == 2
    assert "Did you mean native-predictions?" in outcome.err


def test_options_that_do_not_fit_are_told(files: tiny.Files, itinera: Command) -> None:
    outcome = itinera("convert", files.tasks, files.folder / "x", "--to", "r2r", "--traces", files.worlds)
    assert (outcome.code, "aligns words of RxR annotations" in outcome.err) == (2, True)
    outcome = itinera("convert", files.worlds, files.folder / "x", "--to", "connectivity", "--tours", files.tours)
    assert (outcome.code, "(--tours) is for tasks" in outcome.err) == (2, True)


def test_a_bad_source_leaves_no_target(files: tiny.Files, itinera: Command) -> None:
    bad = files.write("bad.json", files.predictions.read_bytes()[:-5])
    outcome = itinera("convert", bad, files.folder / "x", "--to", "native-predictions")
    assert outcome.code == 1
    assert "ends too soon" in outcome.err
    assert not (files.folder / "x").exists()


def test_where_a_file_came_from_is_told_in_it_or_beside_it(files: tiny.Files, itinera: Command) -> None:
    there, back = files.folder / "walks.jsonl", files.folder / "back.json"
    itinera("convert", files.predictions, there, "--to", "native-predictions")
    told = native_predictions.read_predictions(there).provenance
    assert told is not None
    assert (told.command[:2], told.inputs) == (("itinera", "convert"), {"source": str(files.predictions)})
    itinera("convert", there, back, "--to", "r2r-submission")
    beside = json.loads((files.folder / "back.json.provenance.json").read_text())
    assert beside["provenance"]["inputs"] == {"source": str(there)}
    assert not (files.folder / "walks.jsonl.provenance.json").exists()


def test_a_converted_file_changed_by_hand_is_found_by_check(files: tiny.Files, itinera: Command) -> None:
    target = files.folder / "t.jsonl"
    assert itinera("convert", files.predictions, target, "--to", "rxr-submission").code == 0
    assert itinera("check", target).code == 0
    target.write_text(target.read_text() + "\n")
    outcome = itinera("check", target)
    assert outcome.code == 1
    assert f"{target}: was changed after it was written" in outcome.err
    assert "delete t.jsonl.provenance.json if the change was meant" in outcome.err
