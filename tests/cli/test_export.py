"""`itinera export hearth` end to end: every format, its tasks and its manifest."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Command
from itinera import api
from itinera.errors import BadArgument
from itinera.formats import matterport, pointnav, rooms, vlnce
from itinera.formats.bundles import write_scores
from itinera.formats.frames import points_to_habitat
from itinera.formats.provenance import check_sidecar
from itinera.formats.r2r import read_split
from itinera.formats.rosmap import read_map
from itinera.formats.scenes import read_scene
from itinera.hearth.build import House, build_house
from itinera.records.provenance import digest
from itinera.runs import export_season
from reports.example_tables import table

HOUSE = "hearth-1-001"
FORMATS = ("gltf", "habitat", "usd", "mjcf", "ros", "matterport")


@pytest.fixture(scope="module", autouse=True)
def built_once() -> Iterator[House]:
    """The one house of the season, built once."""
    house = build_house(1, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export_season, "build_house", lambda seed, index, *, id: house)
        yield house


@pytest.fixture(scope="module")
def exports(season: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an export in every format."""
    folder = tmp_path_factory.mktemp("exports")
    for name in FORMATS:
        api.export_hearth(season, folder / name, to=name, images=(), workers=0)  # type: ignore[arg-type]
    return folder


@pytest.mark.parametrize("name", FORMATS)
def test_the_manifest_lists_every_file_with_its_digest(exports: Path, name: str) -> None:
    folder = exports / name
    manifest = json.loads((folder / "export.json").read_text())
    found = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    assert found == {*manifest["files"], "export.json", "export.json.provenance.json"}
    assert all(digest(folder / file) == stated for file, stated in manifest["files"].items())
    assert manifest["format"] == name
    assert manifest["houses"] == [HOUSE]
    provenance = check_sidecar(folder / "export.json")
    assert provenance is not None
    assert provenance.digests.keys() == {"season"}


def test_scenes_and_maps_can_be_read(exports: Path, built_once: House) -> None:
    mesh = built_once.mesh
    assert len(read_scene(exports / f"gltf/scenes/{HOUSE}.glb").faces) == len(mesh.faces)
    assert not read_map(exports / f"ros/maps/{HOUSE}/storey_0.yaml").blocked.all()
    assert rooms.read_house(exports / f"matterport/v1/scans/{HOUSE}/house_segmentations/{HOUSE}.house")
    assert (exports / f"usd/scenes/{HOUSE}.usda").read_bytes().startswith(b"#usda 1.0")
    assert (exports / f"mjcf/scenes/{HOUSE}.xml").read_bytes().startswith(b"<mujoco")


def test_matterports_graph_has_the_nodes_and_edges_of_the_season(exports: Path, season: Path) -> None:
    ours = matterport.read_worlds(season / "connectivity")[HOUSE].space
    theirs = matterport.read_worlds(exports / "matterport/connectivity")[HOUSE].space
    assert theirs.nodes == ours.nodes
    np.testing.assert_array_equal(theirs.positions, ours.positions)
    np.testing.assert_array_equal(theirs.adjacency, ours.adjacency)
    tasks = read_split(exports / "matterport/tasks/r2r/R2R_val_unseen.json")
    assert [e.id for e in tasks.episodes] == [e.id for e in read_split(season / "r2r/R2R_val_unseen.json").episodes]


def test_habitats_tasks_are_those_of_the_season_in_the_exported_scenes(exports: Path, season: Path) -> None:
    for kind, read in (("pointnav", pointnav.read_split), ("vlnce", vlnce.read_split)):
        file = f"{kind}/val_unseen/val_unseen.json.gz"
        ours, theirs = read(season / file), read(exports / "habitat/tasks" / file)
        assert [e.id for e in theirs.episodes] == [e.id for e in ours.episodes]
        for a, b in zip(ours.episodes, theirs.episodes, strict=True):
            np.testing.assert_array_equal(a.start.place, b.start.place)
            assert b.world_id == a.world_id
    with gzip.open(exports / "habitat/tasks/pointnav/val_unseen/val_unseen.json.gz") as stream:
        episode = json.load(stream)["episodes"][0]
    assert episode["scene_id"] == f"hearth/scenes/{HOUSE}.scene_instance.json"
    assert episode["scene_dataset_config"].endswith("hearth/hearth.scene_dataset_config.json")
    assert (exports / "habitat/scenes" / f"{HOUSE}.scene_instance.json").exists()


@pytest.mark.parametrize(("name", "up"), [("gltf", "y"), ("usd", "z"), ("mjcf", "z"), ("ros", "z")])
def test_plain_tasks_have_the_start_poses_of_the_season_in_the_frame_of_the_format(
    exports: Path, season: Path, name: str, up: str
) -> None:
    ours = vlnce.read_split(season / "vlnce/val_unseen/val_unseen.json.gz").episodes
    theirs = json.loads((exports / name / "tasks/vlnce_val_unseen.json").read_text())["episodes"]
    assert len(ours) == len(theirs)
    for episode, task in zip(ours, theirs, strict=True):
        place = np.asarray(episode.start.place, dtype=np.float64)
        wanted = place if up == "z" else points_to_habitat(place)[0]
        np.testing.assert_allclose(task["start"]["position"], wanted, atol=1e-5)
        assert task["instruction"] == episode.instruction.text
        assert len(task["reference_path"]) == len(episode.reference)
        w, _, y, z = task["start"]["quaternion"]
        ahead = np.array([1 - 2 * z * z, 2 * w * z, 0]) if up == "z" else np.array([-2 * w * y, 0, 2 * y * y - 1])
        heading = np.array([[np.cos(episode.start.heading), np.sin(episode.start.heading), 0.0]])
        np.testing.assert_allclose(ahead, (heading if up == "z" else points_to_habitat(heading))[0], atol=1e-5)
    assert (exports / name / theirs[0]["scene"]).exists()


def test_an_export_is_not_overwritten_unless_asked(season: Path, tmp_path: Path) -> None:
    out = tmp_path / "ros"
    first = api.export_hearth(season, out, to="ros", workers=0)
    with pytest.raises(BadArgument, match="--overwrite"):
        api.export_hearth(season, out, to="ros", workers=0)
    second = api.export_hearth(season, out, to="ros", houses=[1], overwrite=True, workers=0)
    assert first.record == second.record
    stale = next(file for file in second.record["files"] if file.endswith(".pgm"))
    api.export_hearth(season, out, to="matterport", images=(), overwrite=True, workers=0)
    assert not (out / stale).exists()


def test_a_folder_with_other_files_is_refused(season: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(BadArgument, match="contains other files"):
        api.export_hearth(season, tmp_path, to="ros", workers=0)


def test_the_command_prints_a_table_and_json(season: Path, tmp_path: Path, itinera: Command) -> None:
    words = ["export", "hearth", season, "--to", "matterport", "--images", "", "--out", tmp_path / "a", "--workers", 0]
    printed = itinera(*words)
    assert printed.code == 0
    assert HOUSE in printed.out
    assert itinera(*words).code == 2
    assert itinera(*words, "--overwrite", "--json").json["houses"].keys() == {HOUSE}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"to": "unity"}, "gltf"),
        ({"to": "usd", "houses": ["17"]}, "has no house 17"),
        ({"to": "matterport", "images": ["cube"]}, "skybox"),
    ],
)
def test_wrong_arguments_are_refused_with_what_to_give(
    season: Path, tmp_path: Path, options: dict, message: str
) -> None:
    with pytest.raises(BadArgument, match=message):
        api.export_hearth(season, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_secret_season_needs_its_secret(season: Path, tmp_path: Path) -> None:
    shutil.copytree(season, tmp_path / "hearth")
    file = tmp_path / "hearth/season.json"
    record = json.loads(file.read_text())
    record["config"] |= {"seed": None, "commitment": "ab" * 32}
    file.write_text(json.dumps(record))
    with pytest.raises(BadArgument, match="--secret"):
        api.export_hearth(tmp_path / "hearth", tmp_path / "out", to="ros")
    (tmp_path / "secret.txt").write_text(bytes(range(32)).hex())
    with pytest.raises(BadArgument, match="is not the secret"):
        api.export_hearth(tmp_path / "hearth", tmp_path / "out", to="ros", secret=tmp_path / "secret.txt")


def test_scores_are_exported_for_the_hub_and_as_logs(itinera: Command, tmp_path: Path) -> None:
    for step, rates in ((10, [1, 0, 1, 0]), (20, [1, 1, 1, 0])):
        write_scores(tmp_path / f"step{step}.jsonl", table("aabb", SR=rates))
    last = tmp_path / "step20.jsonl"
    found = itinera("export", "hf", last, "--dataset", "me/r2r", "--task", "val", "--out", tmp_path / "hub", "--json")
    assert found.code == 0
    results, card = (Path(file) for file in found.json["files"])
    assert "value: 0.75" in results.read_text()
    assert "| SR % ↑ | 75.0 |" in card.read_text()
    assert itinera("export", "hf", last, "--dataset", "r2r", "--out", tmp_path / "hub").code == 2
    logs = itinera("export", "logs", f"--name=mine={tmp_path}/step*.jsonl", "--out", tmp_path / "logs")
    assert logs.code == 0
    history = (tmp_path / "logs" / "mine" / "wandb-history.jsonl").read_text().splitlines()
    assert [json.loads(line)["_step"] for line in history] == [10, 20]
    assert itinera("export", "logs", f"--name=../mine={last}", "--out", tmp_path / "logs").code == 2
