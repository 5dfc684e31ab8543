"""`itinera build hearth` end to end: every file can be read and used, and the way of working leaves no trace."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from itinera import api
from itinera.errors import BadArgument
from itinera.formats import catalog, matterport, pointnav, r2r, reverie, rooms, rxr, vlnce
from itinera.formats.provenance import check_sidecar
from itinera.hearth import season as seasons
from itinera.records.provenance import make_provenance
from itinera.runs import build_season as driver
from itinera.runs.build_season import SeasonConfig
from itinera.runs.engines.processes import ProcessEngine

FEW = {"train": {"train": 6, "val_seen": 2}, "val_unseen": {"val_unseen": 5}, "test": {"test": 4}}


@pytest.fixture(scope="module", autouse=True)
def _few_paths() -> Iterator[None]:
    """Houses as they are, but with fewer paths, which take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seasons, "paths_per_split", lambda index: FEW[seasons.house_role(index)])
        yield


@pytest.fixture(scope="module")
def hearth(tmp_path_factory: pytest.TempPathFactory, _few_paths: None) -> Path:
    """A season of three houses."""
    out = tmp_path_factory.mktemp("built") / "hearth"
    build(SeasonConfig(seasons.public_season(1), out, 3))
    return out


@pytest.fixture
def copied(hearth: Path, tmp_path: Path) -> Path:
    """The season, to be changed."""
    shutil.copytree(hearth, tmp_path / "hearth")
    return tmp_path / "hearth"


def build(config: SeasonConfig) -> None:
    driver.build_season(config, workers=1, provenance=make_provenance({}))


def files(folder: Path) -> dict[str, bytes]:
    """What a person sees of a season, without how it was called for."""
    found = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
    return {name: file.read_bytes() for name, file in found.items() if not name.startswith((".", "season.json."))}


def made_since(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The houses that are really made from now on, as a list that grows."""
    made: list[int] = []
    whole = driver.build_part
    monkeypatch.setattr(driver, "build_part", lambda config, index: (made.append(index), whole(config, index)))
    return made


# What is in it


def test_a_finished_season_is_left_alone_and_told(itinera, hearth, monkeypatch):
    before = {file: file.stat().st_mtime_ns for file in hearth.rglob("*") if file.is_file()}
    made = made_since(monkeypatch)
    done = itinera("build", "hearth", "--out", hearth, "--houses", 3)
    assert done.code == 0, done.err
    assert "season 1 of Hearth, 3 houses." in done.out
    table = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.out.splitlines() if line[:1] == "│"]
    assert [[*row[:4], row[5]] for row in table] == [
        ["train", "1", "6", "18", "6"],
        ["val_seen", "1", "2", "6", "2"],
        ["val_unseen", "1", "5", "15", "5"],
        ["test", "1", "4", "12", "4"],
    ]
    finds = [int(row[4]) for row in table]
    assert all(0 < find <= int(row[2]) for find, row in zip(finds, table, strict=True))
    assert made == []
    assert before == {file: file.stat().st_mtime_ns for file in hearth.rglob("*") if file.is_file()}


def test_every_file_is_known_by_its_content(hearth):
    for split in seasons.SPLITS:
        for file, name in {
            f"r2r/R2R_{split}.json": "r2r",
            f"rxr/rxr_{split}_guide.jsonl.gz": "rxr",
            f"vlnce/{split}/{split}.json.gz": "vlnce",
            f"vlnce/{split}/{split}_gt.json.gz": "vlnce-dense",
            f"pointnav/{split}/{split}.json.gz": "pointnav",
            f"reverie/REVERIE_{split}.json": "reverie",
        }.items():
            assert catalog.detect(hearth / file).name == name
    assert catalog.detect(hearth / "connectivity").name == "connectivity"
    assert catalog.detect(hearth / "reverie/BBox.tar.gz").name == "bbox"
    assert catalog.detect(hearth / "rooms.csv").name == "rooms"


def test_the_files_tell_of_the_same_houses(hearth):
    worlds = matterport.read_worlds(hearth / "connectivity", visible=True)
    seen, table = reverie.read_objects(hearth / "reverie/BBox.tar.gz"), rooms.read_table(hearth / "rooms.csv")
    assert list(worlds) == sorted(seen) == list(table) == ["hearth-1-000", "hearth-1-001", "hearth-1-002"]
    for name, world in worlds.items():
        nodes = set(world.space.nodes)  # type: ignore[attr-defined]
        assert seen[name].keys() == nodes == table[name].keys()
        assert rooms.read_house(hearth / f"houses/{name}.house") == table[name]
        assert sum(len(objects) for objects in seen[name].values()) > 2 * len(nodes)


def test_graph_ground_and_spoken_tasks_are_the_same_episodes(hearth):
    on_graph = r2r.read_split(hearth / "r2r/R2R_train.json").episodes
    spoken = rxr.with_alignment(
        rxr.read_split(hearth / "rxr/rxr_train_guide.jsonl.gz"), hearth / "rxr/pose_traces/rxr_train.tar.gz"
    )
    on_ground = vlnce.read_split(hearth / "vlnce/train/train.json.gz")
    dense = vlnce.read_dense(hearth / "vlnce/train/train_gt.json.gz")
    assert on_ground.protocol == "r2r-ce"
    assert [e.id for e in spoken.episodes] == [e.id for e in on_ground.episodes] == list(dense)
    for a, b, c in zip(on_graph, spoken.episodes, on_ground.episodes, strict=True):
        assert a.instruction.text == b.instruction.text == c.instruction.text
        assert a.path_id == b.path_id == c.path_id
        assert a.reference == b.reference
        assert len(c.reference) == len(a.reference)
        assert a.start.heading == pytest.approx(b.start.heading)
        assert np.cos(a.start.heading - c.start.heading) == pytest.approx(1.0)
        assert (b.alignment.first >= 0).all()  # type: ignore[union-attr]
        assert dense[c.id].positions[0] == pytest.approx(c.start.place, abs=1e-3)
        assert np.linalg.norm(dense[c.id].positions[-1] - c.goals[0]) < 0.6
        assert dense[c.id].forward_steps == (dense[c.id].actions == 1).sum()
        assert c.notes["scene_id"] == "hearth/hearth-1-000/hearth-1-000.glb"


def test_objects_to_find_are_seen_from_the_end_of_their_paths(hearth):
    seen = reverie.read_objects(hearth / "reverie/BBox.tar.gz")
    for split in seasons.SPLITS:
        for episode in reverie.read_split(hearth / f"reverie/REVERIE_{split}.json").episodes:
            (found,) = (o for o in seen[episode.world_id][episode.goals[0]] if o.id == str(episode.notes["objId"]))
            assert len(found.views)
            assert found.name in episode.instruction.text


def test_path_ids_are_unique_in_the_season(hearth):
    ids = [{e.path_id for e in r2r.read_split(hearth / f"r2r/R2R_{s}.json").episodes} for s in seasons.SPLITS]
    assert len(set().union(*ids)) == sum(map(len, ids)) == 17
    points = [
        {e.id for e in pointnav.read_split(hearth / f"pointnav/{s}/{s}.json.gz").episodes} for s in seasons.SPLITS
    ]
    assert len(set().union(*points)) == sum(map(len, points)) == 17


def test_the_seasons_file_tells_order_houses_counts_and_digests(hearth, itinera):
    about = json.loads((hearth / "season.json").read_text())
    assert about["config"]["seed"] == 1
    assert about["houses"] == {"train": ["hearth-1-000"], "val_unseen": ["hearth-1-001"], "test": ["hearth-1-002"]}
    assert about["splits"]["train"].items() >= {"houses": 1, "paths": 6, "instructions": 18, "pointnav": 6}.items()
    assert about["files"].keys() == files(hearth).keys() - {"season.json"}


# What others make of it


def test_a_perfect_walk_scores_perfectly(itinera, hearth, tmp_path):
    tasks, worlds = hearth / "r2r/R2R_val_unseen.json", hearth / "connectivity"
    walks = [
        {"instr_id": e.id, "trajectory": [[node, 0.0, 0.0] for node in e.reference]}
        for e in r2r.read_split(tasks).episodes
    ]
    (tmp_path / "walks.json").write_text(json.dumps(walks))
    done = itinera("score", tmp_path / "walks.json", "--tasks", tasks, "--worlds", worlds, "--json")
    assert done.code == 0, done.err
    assert {name: done.json["metrics"][name]["mean"] for name in ("SR", "SPL", "nDTW", "CLS")} == pytest.approx(
        {"SR": 1.0, "SPL": 1.0, "nDTW": 1.0, "CLS": 1.0}
    )


def test_the_experts_steps_are_judged_a_success(itinera, hearth, tmp_path):
    folder = hearth / "vlnce/val_unseen"
    dense = vlnce.read_dense(folder / "val_unseen_gt.json.gz")
    states = {
        name: [
            {"position": [x, z, -y], "heading": 0.0, "stop": i == len(way.positions) - 1}
            for i, (x, y, z) in enumerate(way.positions.tolist())
        ]
        for name, way in dense.items()
    }
    (tmp_path / "walks.json").write_text(json.dumps(states))
    asked = ("--tasks", folder / "val_unseen.json.gz", "--reference", folder / "val_unseen_gt.json.gz", "--json")
    done = itinera("score", tmp_path / "walks.json", *asked)
    assert done.code == 0, done.err
    assert done.json["metrics"]["SR"]["mean"] == 1.0
    assert done.json["metrics"]["nDTW"]["mean"] == pytest.approx(1.0)


@pytest.mark.parametrize("what", ["r4r", "tours"])
def test_longer_tasks_are_built_from_it(itinera, hearth, tmp_path, what):
    asked = (
        "--tasks",
        hearth / "r2r/R2R_train.json",
        "--worlds",
        hearth / "connectivity",
        "--out",
        tmp_path / "x.json",
    )
    done = itinera("build", what, *asked)
    assert done.code == 0, done.err
    assert (tmp_path / "x.json").exists()


def test_it_can_be_described_and_checked(itinera, hearth):
    tasks = [hearth / f"r2r/R2R_{split}.json" for split in ("train", "val_unseen")]
    done = itinera("describe", *tasks, "--worlds", hearth / "connectivity", "--json")
    assert done.code == 0, done.err
    assert [portrait["name"] for portrait in done.json] == ["R2R_train", "R2R_val_unseen"]
    for file in (*tasks, hearth / "rxr/rxr_test_guide.jsonl.gz", hearth / "vlnce/test/test.json.gz"):
        assert itinera("check", file).code == 0


# Sealed and secret


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory, _few_paths: None) -> Path:
    """The test split of a sealed season, built from a secret that an earlier build drew."""
    out = tmp_path_factory.mktemp("sealed") / "hearth"
    out.with_name("hearth-answers").mkdir()
    (out.with_name("hearth-answers") / "secret.txt").write_text(hashlib.sha256(b"sealed").hexdigest() + "\n")
    api.build_hearth(out, houses=3, splits=["test"], sealed=True, workers=0)
    return out


TASKS = ("r2r/R2R_test.json", "rxr/rxr_test_guide.jsonl.gz", "vlnce/test/test.json.gz", "reverie/REVERIE_test.json")


def test_a_sealed_season_withholds_the_answers_and_keeps_them_elsewhere(sealed, hearth):
    answers = sealed.with_name("hearth-answers")
    for file in TASKS:
        hidden, answered = catalog.read_tasks(sealed / file), catalog.read_tasks(answers / file)
        assert hidden.withheld_goals == len(hidden.episodes) > 0
        assert answered.withheld_goals == 0
        assert [e.instruction for e in hidden.episodes] == [e.instruction for e in answered.episodes]
        assert [e.id for e in hidden.episodes] == [e.id for e in answered.episodes]
        assert all(e.stated_distance is None for e in hidden.episodes)
    assert not (sealed / "vlnce/test/test_gt.json.gz").exists()
    assert not (sealed / "rxr/pose_traces").exists()
    assert not (sealed / ".houses").exists()
    assert (answers / "vlnce/test/test_gt.json.gz").exists()


def test_sealing_an_open_season_draws_a_secret_and_leaves_no_answers_behind(itinera, copied, monkeypatch):
    drawn = hashlib.sha256(b"drawn").digest()
    monkeypatch.setattr("secrets.token_bytes", lambda size: drawn[:size])
    options = ("--out", copied, "--houses", 3, "--splits", "test", "--sealed", "--workers", 0)
    refused = itinera("build", "hearth", *options)
    assert refused.code == 2
    assert "comes from another run" in refused.err
    assert itinera("build", "hearth", *options, "--overwrite").code == 0
    assert (copied.with_name("hearth-answers") / "secret.txt").read_text() == drawn.hex() + "\n"
    assert not (copied / ".houses").exists()
    assert not (copied / "vlnce/test/test_gt.json.gz").exists()
    assert catalog.read_tasks(copied / TASKS[0]).withheld_goals > 0


def test_a_sealed_season_tells_the_hash_first_and_resumes_with_its_secret(itinera, sealed, monkeypatch):
    secret = bytes.fromhex((sealed.with_name("hearth-answers") / "secret.txt").read_text())
    season = seasons.secret_season(secret)
    made = made_since(monkeypatch)
    before = files(sealed)
    done = itinera("build", "hearth", "--out", sealed, "--houses", 3, "--splits", "test", "--sealed")
    assert done.code == 0, done.err
    assert made == []
    assert done.err.splitlines()[0] == f"SHA-256 of the secret: {season.commitment}"
    assert files(sealed) == before
    about = json.loads((sealed / "season.json").read_text())
    assert (about["config"]["seed"], about["config"]["commitment"]) == (None, season.commitment)
    assert about["houses"]["test"] == [f"hearth-{season.commitment[:8]}-002"]
    assert about["splits"]["test"] == {"houses": 1, "paths": 3, "instructions": 3, "object_goals": 1, "pointnav": 4}
    assert check_sidecar(sealed / "season.json").seed is None  # type: ignore[union-attr]


def test_the_published_secret_builds_the_same_season_again(itinera, sealed, tmp_path):
    secret = shutil.copy(sealed.with_name("hearth-answers") / "secret.txt", tmp_path / "published.txt")
    options = ("--houses", 3, "--splits", "test", "--sealed", "--secret", secret, "--workers", 0)
    done = itinera("build", "hearth", "--out", tmp_path / "hearth", *options)
    assert done.code == 0, done.err
    assert files(tmp_path / "hearth") == files(sealed)
    assert not (tmp_path / "hearth-answers/secret.txt").exists()


def test_a_public_seed_cannot_be_sealed(tmp_path):
    with pytest.raises(BadArgument, match="A sealed season needs a secret"):
        SeasonConfig(seasons.public_season(1), tmp_path / "hearth", 3, sealed=True)


# Ways of working


@pytest.mark.slow
def test_the_order_of_work_leaves_no_trace(hearth, tmp_path, monkeypatch):
    def backwards(self, work, jobs, *, files=()):
        for number, job in reversed(list(enumerate(jobs))):
            yield number, work(job)

    monkeypatch.setattr(ProcessEngine, "map", backwards)
    build(SeasonConfig(seasons.public_season(1), tmp_path / "hearth", 3))
    assert files(tmp_path / "hearth") == files(hearth)


def test_an_interrupted_build_goes_on_where_it_was(itinera, copied, hearth, monkeypatch):
    (copied / "season.json").unlink()
    shutil.rmtree(copied / ".houses/hearth-1-001")
    half = copied / ".houses/hearth-1-001.0123.part"
    half.mkdir()
    made = made_since(monkeypatch)
    done = itinera("build", "hearth", "--out", copied, "--houses", 3, "--workers", 1)
    assert done.code == 0, done.err
    assert made == [1]
    assert not half.exists()
    assert files(copied) == files(hearth)


def test_a_smaller_choice_leaves_nothing_of_the_larger(itinera, copied, monkeypatch):
    made = made_since(monkeypatch)
    options = ("--out", copied, "--houses", 3, "--splits", "val_unseen", "--json")
    refused = itinera("build", "hearth", *options)
    assert refused.code == 2
    assert "season.json exists already and comes from another run" in refused.err
    done = itinera("build", "hearth", *options, "--overwrite")
    assert done.code == 0, done.err
    assert made == []
    assert list(done.json["splits"]) == ["val_unseen"]
    assert list(matterport.read_worlds(copied / "connectivity")) == ["hearth-1-001"]
    assert not (copied / "r2r/R2R_train.json").exists()


def test_other_settings_are_other_houses(copied):
    config = SeasonConfig(seasons.public_season(1), copied, 3)
    for other in (
        SeasonConfig(seasons.public_season(1), copied, 3, radius=0.18),
        SeasonConfig(seasons.Season(2, "1"), copied, 3),
        SeasonConfig(seasons.public_season(1), copied, 3, scenes=True),
    ):
        assert driver.is_built(config, 0)
        assert not driver.is_built(other, 0)
        with pytest.raises(BadArgument, match="comes from another run"):
            build(other)


def test_scenes_are_written_and_can_be_read(itinera, tmp_path):
    scenes = pytest.importorskip("itinera.formats.scenes")
    pytest.importorskip("trimesh")
    out = tmp_path / "hearth"
    done = itinera("build", "hearth", "--out", out, "--houses", 3, "--splits", "test", "--scenes", "--workers", 1)
    assert done.code == 0, done.err
    folder = out / "scenes/hearth/hearth-1-002"
    glb, obj = (scenes.read_scene(folder / f"hearth-1-002{ending}") for ending in (".glb", ".obj"))
    assert len(glb.faces) == len(obj.faces) > 5000
    assert glb.vertices.min(axis=0) == pytest.approx(obj.vertices.min(axis=0), abs=1e-4)
    assert len(np.unique(glb.instances)) > 50


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--houses", 0), 2, "at least 3 houses"),
        (("--houses", 2), 2, "at least 3 houses"),
        (("--season", -1), 2, "A season's seed must be ≥ 0 (got -1)"),
        (("--splits", "train,val"), 2, "splits must be one of train, val_seen, val_unseen, test, not 'val'"),
        (("--radius", 0.5), 2, "A robot of radius 0.5 m does not fit through these houses"),
        (("--workers", -1), 2, "workers must be ≥ 0 (got -1)"),
        (("--sealed", "--splits", "train"), 2, "which is not among splits (--splits)"),
        (("--secret", "missing.txt"), 1, "missing.txt"),
        (("--secret", "text.txt"), 1, "text.txt: is not a secret of 32 random bytes (64 hexadecimal digits)"),
        (("--secret", "zeros.txt"), 1, "zeros.txt: A secret must be 32 random bytes"),
        (("--secret", "text.txt", "--season", 2), 2, "Give a seed (--season) or build from a secret"),
        (
            ("--sealed", "--season", 2),
            2,
            "Give a seed (--season) or build from a secret (--secret, --sealed), not both",
        ),
    ],
)
def test_a_wrong_call_is_told_before_anythingis_built(itinera, tmp_path, monkeypatch, options, code, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("correct horse battery staple")
    (tmp_path / "zeros.txt").write_text("0" * 64)
    done = itinera("build", "hearth", "--out", tmp_path / "hearth", *options)
    assert done.code == code
    assert said in done.err
    assert not (tmp_path / "hearth").exists()


def test_a_folder_of_somebody_elses_is_not_filled(itinera, tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    done = itinera("build", "hearth", "--out", tmp_path)
    assert done.code == 2
    assert "contains other files" in done.err
    assert itinera("build", "hearth", "--out", tmp_path / "thesis.txt").code == 2


@pytest.mark.slow
def test_the_number_of_workers_leaves_no_trace(itinera_process, tmp_path):
    for workers in (1, 3):
        out = tmp_path / str(workers) / "hearth"
        done = itinera_process("build", "hearth", "--out", out, "--houses", 4, "--workers", workers)
        assert done.code == 0, done.err
    assert files(tmp_path / "1/hearth") == files(tmp_path / "3/hearth")


def test_rxr_has_instructions_in_all_languages(itinera, hearth, tmp_path):
    out = tmp_path / "spoken"
    options = ["--houses", 3, "--splits", "val_unseen", "--workers", 0]
    assert itinera("build", "hearth", "--out", out, *options, "--languages", "en,es").code == 0
    file = "rxr/rxr_val_unseen_guide.jsonl.gz"
    english, both = (rxr.read_split(folder / file).episodes for folder in (hearth, out))
    assert [e.instruction.text for e in both if e.instruction.language != "es-ES"] == [
        e.instruction.text for e in english
    ]
    assert sum(e.instruction.language == "es-ES" for e in both) == len(english)
    assert files(out)["r2r/R2R_val_unseen.json"] == files(hearth)["r2r/R2R_val_unseen.json"]
    # Houses that were built with other languages are not taken for these.
    refused = itinera("build", "hearth", "--out", out, *options)
    assert refused.code == 2
    assert "--overwrite" in refused.err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--languages", "en,fr"), "languages must be one of en, es, not 'fr'"),
        (("--languages", "es"), "must contain en"),
        (("--faults", "1.5"), "is a probability per word, between 0 and 1 (got 1.5)"),
    ],
)
def test_wordings_that_do_not_exist_are_refused(itinera, tmp_path, options, problem):
    refused = itinera("build", "hearth", "--out", tmp_path / "season", *options)
    assert refused.code == 2
    assert problem in refused.err
