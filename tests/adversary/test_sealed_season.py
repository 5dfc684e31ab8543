"""Attacks on the published folder of a sealed season: cribs from task to task, leaks in the files, re-wording."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import itinera
from adversary import live_rewording, rewording
from itinera.agents.rule_based import RuleBasedAgent
from itinera.errors import GoalsWithheld
from itinera.formats import matterport, r2r, reverie, rxr, vlnce
from itinera.hearth.season import secret_season
from itinera.runs.live_host import LiveHost
from itinera.tasks import PROTOCOLS, Episode
from itinera.worlds import NavGraph

SECRET = hashlib.sha256(b"the secret of a test").digest()
FIELDS = {
    "r2r/R2R_test.json": {"scan", "path_id", "path", "heading", "instructions"},
    "rxr/rxr_test_guide.jsonl.gz": {
        "path_id", "split", "scan", "heading", "path", "instruction_id", "language", "instruction"
    },
    "vlnce/test/test.json.gz": {
        "episode_id", "trajectory_id", "scene_id", "start_position", "start_rotation", "instruction"
    },
    "reverie/REVERIE_test.json": {"scan", "id", "path", "heading", "instructions"},
}  # fmt: skip


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The test split of a sealed season of three houses."""
    out = tmp_path_factory.mktemp("sealed") / "season"
    out.with_name("season-answers").mkdir()
    (out.with_name("season-answers") / "secret.txt").write_text(SECRET.hex())
    itinera.build_hearth(out, houses=3, splits=["test"], sealed=True, workers=0)
    return out


def read_tasks(folder: Path, split: str) -> dict[str, tuple[Episode, ...]]:
    return {
        "r2r": r2r.read_split(folder / f"r2r/R2R_{split}.json").episodes,
        "rxr": rxr.read_split(folder / f"rxr/rxr_{split}_guide.jsonl.gz").episodes,
        "vlnce": vlnce.read_split(folder / f"vlnce/{split}/{split}.json.gz").episodes,
        "reverie": reverie.read_split(folder / f"reverie/REVERIE_{split}.json").episodes,
    }


def start_node(episode: Episode, graph: NavGraph) -> str:
    """The node of a start; that above it for an episode on the ground."""
    if isinstance(episode.start.place, str):
        return episode.start.place
    offsets = graph.positions - (0.0, 0.0, 1.5) - episode.start.place
    return graph.nodes[int((offsets**2).sum(axis=1).argmin())]


def crib_rate(folder: Path, split: str) -> float:
    """The fraction of tasks to which the solution of another one can be copied: they share start or path id."""
    worlds = matterport.read_worlds(folder / "connectivity")
    tasks = [(kind, e) for kind, episodes in read_tasks(folder, split).items() for e in episodes]
    marks: dict[tuple[str, str], list[int]] = {}
    for i, (_, episode) in enumerate(tasks):
        node = start_node(episode, worlds[episode.world_id].space)  # type: ignore[arg-type]
        for mark in {("start", node), ("path", episode.path_id)}:
            marks.setdefault(mark, []).append(i)
    shared = {i for rows in marks.values() if len(rows) > 1 for i in rows}
    return len(shared) / len(tasks)


def test_no_solution_can_be_copied_to_another_task(sealed, season):
    assert crib_rate(season, "val_unseen") == 1.0  # an open split has three texts per path, and all kinds of tasks
    assert crib_rate(sealed, "test") == 0.0


def test_no_two_tasks_have_the_same_goal(sealed):
    answers = sealed.with_name("season-answers")
    graph = next(iter(matterport.read_worlds(sealed / "connectivity").values())).space
    assert isinstance(graph, NavGraph)
    goals = [e.reference[-1] for kind, told in read_tasks(answers, "test").items() if kind != "vlnce" for e in told]
    ground = [e.goals[0] for e in read_tasks(answers, "test")["vlnce"]]
    goals += [graph.nodes[int(((graph.positions - (0, 0, 1.5) - goal) ** 2).sum(axis=1).argmin())] for goal in ground]
    assert len(set(goals)) == len(goals) > 60


def records(file: Path) -> Iterator[dict[str, Any]]:
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    if ".jsonl" in file.name:
        yield from map(json.loads, data.splitlines())
    else:
        content = json.loads(data)
        yield from content["episodes"] if isinstance(content, dict) else content


@pytest.mark.parametrize("file", FIELDS)
def test_a_task_has_its_start_and_its_text_and_nothing_else(sealed, file):
    """By a list of what is allowed: whatever a format may learn to write later has to be thought of here."""
    found = list(records(sealed / file))
    assert found
    for record in found:
        assert record.keys() == FIELDS[file]
        assert len(record.get("path", ["start"])) == 1
        assert not isinstance(record.get("instruction"), dict) or record["instruction"].keys() == {"instruction_text"}


def test_files_and_their_order_tell_neither_kind_nor_house(sealed):
    for name, kinds in read_tasks(sealed, "test").items():
        ids = [int(e.id.partition("_")[0]) for e in kinds]
        assert ids == sorted(ids), name
        assert len({e.path_id for e in kinds}) == len(kinds)


def published(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every byte of a folder, archives opened, and every name."""
    for file in sorted(folder.rglob("*")):
        yield str(file.relative_to(folder)), b""
        if ".tar" in file.name:
            with tarfile.open(file) as archive:
                for member in archive:
                    content = archive.extractfile(member)
                    yield f"{file.name}/{member.name}", b"" if content is None else content.read()
        elif file.is_file():
            yield file.name, gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


def test_neither_secret_nor_key_nor_answer_is_in_a_published_file(sealed):
    season = secret_season(SECRET)
    answers = read_tasks(sealed.with_name("season-answers"), "test")
    whole = b"\n".join(name.encode() + b"\n" + data for name, data in published(sealed))
    seed = season.seed.to_bytes(16, "little")
    for hidden in (SECRET, season.sealing_key, seed):
        for form in (hidden, hidden.hex().encode(), hidden[::-1].hex().encode(), str(int.from_bytes(hidden)).encode()):
            assert form not in whole
    assert str(season.seed).encode() not in whole
    for episodes in answers.values():
        for episode in episodes:
            steps = [str(place) for place in episode.reference]
            assert json.dumps(steps)[1:-1].encode() not in whole
            assert ",".join(f'"{step}"' for step in steps).encode() not in whole
    tasks = {str(record["episode_id"]): record for record in records(sealed / "vlnce/test/test.json.gz")}
    for episode in answers["vlnce"]:
        x, y, _ = episode.goals[0].tolist()
        # A start may be on one line with its goal, so it does not count.
        shown = {name: value for name, value in tasks[episode.id].items() if not name.startswith("start_")}
        assert all(str(abs(value)) not in json.dumps(shown) for value in (x, y))


@pytest.mark.parametrize("file", [file for file in FIELDS if not file.startswith("vlnce")])
def test_the_host_can_score_every_kind_of_graph_tasks(sealed, tmp_path, file):
    answers = sealed.with_name("season-answers")
    predictions = [
        {"instr_id": e.id, "trajectory": [[node, 0.0, 0.0] for node in e.reference]}
        for e in itinera.read_tasks(answers / file).episodes
    ]
    (tmp_path / "predictions.json").write_text(json.dumps(predictions))
    scores = itinera.score(tmp_path / "predictions.json", answers / file, sealed)
    assert scores["SR"].mean() == 1.0
    with pytest.raises(GoalsWithheld):
        itinera.score(tmp_path / "predictions.json", sealed / file, sealed / "connectivity")


@pytest.mark.slow
def test_rewording_finds_goals_and_the_documentation_says_so(sealed):
    """Sealing by files does not protect against this attack (docs/hearth.md gives its success rate): serving does."""
    results = rewording.measure(sealed)
    assert set(results) == {"short", "long"}
    for result in results.values():
        assert result.success > max(0.3, 2 * result.chance)


def test_a_live_phase_shows_each_text_once_and_no_name_of_the_host(sealed: Path):
    """All that the participant of a whole session receives, as bytes."""
    split = r2r.read_split(sealed.with_name("season-answers") / "r2r/R2R_test.json")
    host = LiveHost(split, sealed, PROTOCOLS["r2r"], live_rewording.RULES)
    sent: list[bytes] = []

    class Recorder(LiveHost):
        def play(self, *arguments: Any, **options: Any) -> Any:
            state = host.play(*arguments, **options)
            assert state is not None
            sent.append(state.payload)
            return state

    recorder = Recorder(split, sealed, PROTOCOLS["r2r"], live_rewording.RULES)
    live_rewording.play(recorder, RuleBasedAgent())
    lines = b"".join(sent).splitlines()
    texts = [json.loads(line)["text"] for line in lines if line.startswith(b'{"ask":"start_episode"')]
    assert sorted(texts) == sorted(episode.instruction.text for episode in split)
    worlds = matterport.read_worlds(sealed / "connectivity")
    names = {name for world in worlds.values() if isinstance(world.space, NavGraph) for name in world.space.nodes}
    names |= {*worlds, *split.by_id, *(episode.path_id for episode in split if len(episode.path_id) > 6)}
    words = set(re.findall(rb"[0-9A-Za-z_-]{6,}", b"".join(sent)))
    assert not {name.encode() for name in names} & words
    keys = {key for line in lines for key in json.loads(line)}
    assert keys == {"ask", "seed", "state", "text", "language", "observation"}


@pytest.mark.slow
def test_rewording_what_a_live_phase_shows_reaches_no_more_than_an_honest_reader(sealed: Path):
    rates = live_rewording.measure(sealed)
    honest = rates.pop("reader")
    for found in rates.values():
        assert found["SR"] <= honest["SR"]
        assert found["SPL"] <= honest["SPL"]
