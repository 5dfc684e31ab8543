"""`itinera score` of tasks that name an object: REVERIE with its boxes, SOON with its directions, end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import itinera as it
import tiny
from cli.conftest import Command
from itinera.formats import bundles, catalog
from itinera.formats.reverie import write_objects
from itinera.worlds import VisibleObject


def visible(object_id: str, *views: int) -> VisibleObject:
    return VisibleObject(object_id, "lamp", np.array(views, dtype=np.int64), np.zeros((len(views), 4)))


@pytest.fixture
def files(tmp_path: Path) -> tiny.Files:
    """REVERIE's tasks in two scans: object 5 of the house is visible from c and d, object 6 of the hut from r."""
    files = tiny.on_graphs(tmp_path)
    boxes = {
        "house": {"c": (visible("5", 3),), "d": (visible("5", 4),), "b": (visible("5"),)},
        "hut": {"r": (visible("6", 0),)},
    }
    write_objects(tmp_path / "BBox", boxes)
    tasks = [
        {"scan": "house", "id": "1_5", "path_id": 1, "objId": 5, "path": list("abc"), "heading": 0.0,
         "instructions": ["Bring the lamp.", "Fetch the lamp."]},
        {"scan": "hut", "id": "2_6", "path_id": 2, "objId": 6, "path": list("pqr"), "heading": 0.0,
         "instructions": ["Light the lamp."]},
    ]  # fmt: skip
    files.write("reverie.json", tasks)
    # Arrives and names it; passes it by 4 m and names another; stops 2 m before it, within 3 m, and names it.
    files.write(
        "duet.json",
        [
            {"instr_id": "1_5_0", "trajectory": [["a"], ["b", "c"]], "pred_objid": "5"},
            {"instr_id": "1_5_1", "trajectory": [["a"], ["b"], ["c", "d", "e"]], "pred_objid": 9},
            {"instr_id": "2_6_0", "trajectory": [["p"], ["q"]], "pred_objid": 6},
        ],
    )
    return files


def options(files: tiny.Files, *more: object) -> list[object]:
    return ["--tasks", files.folder / "reverie.json", "--worlds", files.worlds, *more]


def test_files_of_duet_are_scored_by_visibility_and_by_name(files: tiny.Files, itinera: Command) -> None:
    boxes = files.folder / "BBox"
    told = itinera("score", files.folder / "duet.json", *options(files, "--objects", boxes, "--json")).json
    means = {name: value["mean"] for name, value in told["metrics"].items()}
    assert told["suite"] == "reverie"
    # SPL: 4 / 4, 0, 0. Naming from q, which does not see it, earns nothing.
    assert means == pytest.approx(
        {"PL": (4 + 8 + 2) / 3, "steps": 7 / 3, "NE": 2.0, "ONE": 2 / 3, "SR": 1 / 3, "OSR": 2 / 3, "SPL": 1 / 3,
         "RGS": 1 / 3, "RGSPL": 1 / 3}
    )  # fmt: skip
    duet = itinera(
        "score", files.folder / "duet.json", *options(files, "--objects", boxes, "--suite", "duet-reverie", "--json")
    ).json["metrics"]
    assert (duet["SR"]["mean"], duet["RGS"]["mean"], duet["RGSPL"]["mean"]) == pytest.approx((1 / 3, 2 / 3, 2 / 3))


def test_the_library_scores_the_same_and_the_bundle_knows_the_boxes(files: tiny.Files, itinera: Command) -> None:
    boxes, out = files.folder / "BBox.zip", files.folder / "scores.jsonl"
    write_objects(boxes, catalog.find_format("bbox").read(files.folder / "BBox"))
    assert itinera("score", files.folder / "duet.json", *options(files, "--objects", boxes, "--out", out)).code == 0
    stored = bundles.read_scores(out)
    scores = it.score(files.folder / "duet.json", files.folder / "reverie.json", files.worlds, objects=boxes)
    assert scores["RGS"].tolist() == stored["RGS"].tolist() == [1.0, 0.0, 0.0]
    assert stored.provenance is not None
    assert "objects" in stored.provenance.digests


def test_an_agent_that_names_nothing_is_told_so(files: tiny.Files, itinera: Command) -> None:
    walks = json.loads((files.folder / "duet.json").read_text())
    mute = files.write("mute.json", [{"instr_id": w["instr_id"], "trajectory": w["trajectory"]} for w in walks])
    outcome = itinera("score", mute, *options(files, "--objects", files.folder / "BBox", "--json"))
    assert outcome.json["metrics"]["RGS"]["mean"] == 0.0
    assert "3 of 3 trajectories name no object (predObjId or pred_objid); RGS and RGSPL count them as 0." in outcome.err


def test_without_boxes_one_sentence_says_what_is_needed(files: tiny.Files, itinera: Command) -> None:
    outcome = itinera("score", files.folder / "duet.json", *options(files))
    assert outcome.code == 2
    assert "Suite reverie asks which objects are visible: give REVERIE's BBox folder or archive" in outcome.err
    paper = itinera("score", files.folder / "duet.json", *options(files, "--suite", "paper", "--json"))
    assert paper.json["metrics"]["SR"]["mean"] == pytest.approx(2 / 3)


def test_a_hearth_season_has_its_own_boxes(files: tiny.Files, itinera: Command) -> None:
    season = files.folder / "season"
    (season / "reverie").mkdir(parents=True)
    files.worlds.rename(season / "connectivity")
    (season / "season.json").write_text("{}")
    write_objects(season / "reverie" / "BBox.tar.gz", catalog.find_format("bbox").read(files.folder / "BBox"))
    tasks = ("--tasks", files.folder / "reverie.json", "--worlds", season)
    told = itinera("score", files.folder / "duet.json", *tasks, "--json").json
    assert (told["suite"], told["metrics"]["RGS"]["mean"]) == ("reverie", pytest.approx(1 / 3))


def test_boxes_for_a_suite_that_needs_none_are_refused(files: tiny.Files, itinera: Command) -> None:
    more = ("--objects", files.folder / "BBox", "--suite", "paper")
    outcome = itinera("score", files.folder / "duet.json", *options(files, *more))
    assert (outcome.code, "not in paper" in outcome.err) == (2, True)


def test_an_audit_finds_the_scorer_of_a_published_rgs(files: tiny.Files, itinera: Command) -> None:
    more = ("--objects", files.folder / "BBox", "--published", "SR=33.3", "RGS=66.7", "--json")
    told = itinera("audit", files.folder / "duet.json", *options(files, *more)).json
    assert [match["suite"] for match in told["matches"]] == ["duet-reverie"]


def test_answers_survive_conversion(files: tiny.Files, itinera: Command) -> None:
    native, back = files.folder / "native.jsonl", files.folder / "back.json"
    assert itinera("convert", files.folder / "duet.json", native, "--to", "native-predictions").code == 0
    assert [walk.object_id for walk in it.read_predictions(native)] == ["5", "9", "6"]
    assert itinera("convert", native, back, "--to", "r2r-submission").code == 0
    assert [record["predObjId"] for record in json.loads(back.read_text())] == [5, 9, 6]


CORNERS = {"left_top": (0.1, 0.2), "right_top": (0.5, 0.2), "right_bottom": (0.5, -0.2), "left_bottom": (0.1, -0.2)}


def test_files_of_soon_are_scored_by_what_they_point_at(files: tiny.Files, itinera: Command) -> None:
    target = {name: {"heading": h, "elevation": e} for name, (h, e) in CORNERS.items()}
    task: dict[str, Any] = {"path_id": "1", "scan": "house", "path": list("abc"), "instructions": [{"full": "A lamp."}],
                            "bboxes": [{"image_id": "c", "target": target}]}  # fmt: skip
    tasks = files.write("soon.jsonl", json.dumps(task) + "\n")
    pointing = {"path": [["a"], ["b", "c"]], "obj_heading": [0.3 / (2 * np.pi)], "obj_elevation": [0.5]}
    walks = files.write("walks.json", [{"instr_id": "1_0", "trajectory": pointing}])
    for suite in ("soon", "duet-soon"):
        told = itinera("score", walks, "--tasks", tasks, "--worlds", files.worlds, "--suite", suite, "--json").json
        means = {name: told["metrics"][name]["mean"] for name in ("SR", "GP", "det-SR", "det-SPL")}
        assert means == {"SR": 1.0, "GP": 4.0, "det-SR": 1.0, "det-SPL": 1.0}


def test_a_judge_replays_the_moves_and_takes_the_objects_as_answers(files: tiny.Files, itinera: Command) -> None:
    entry = files.folder / "entry.jsonl"
    assert itinera("run", "--agent", "expert", *options(files), "--out", entry, "--workers", 0).code == 0
    header, *lines = entry.read_text().splitlines()
    rollouts = [json.loads(line) for line in lines]
    for rollout, answer in zip(rollouts, ("5", "4", "6"), strict=True):
        rollout["trajectories"][0]["object_id"] = answer
    entry.write_text("\n".join([header, *map(json.dumps, rollouts)]) + "\n")
    rules = f'tasks = "reverie.json"\nworlds = "{files.worlds.name}"\n'
    challenge = files.write("challenge.toml", f'{rules}objects = "BBox"\n')
    metrics = itinera("judge", entry, "--challenge", challenge, "--json").json["scores"]["metrics"]
    assert (metrics["SR"]["mean"], metrics["RGS"]["mean"]) == pytest.approx((1.0, 2 / 3))
    files.write("challenge.toml", rules)
    assert "give REVERIE's BBox folder or archive" in itinera("judge", entry, "--challenge", challenge).err
