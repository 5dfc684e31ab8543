"""Whatever is wrong with a predictions file: told plainly, by file and remedy, with exit code 1."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import tiny
from cli.conftest import Command


def without(name: str) -> list[dict[str, Any]]:
    return [record for record in tiny.predictions() if record["instr_id"] != name]


def walking(**walks: str) -> list[dict[str, Any]]:
    return tiny.predictions(tiny.WALKS | {name.removeprefix("e"): walk for name, walk in walks.items()})


GOOD = json.dumps(tiny.predictions()).encode()
KNOWN = b'[{"instr_id": "1_0", "trajectory": '  # enough to be recognised as a submission

# what is wrong: the file, what is said of it, and a part of the remedy
BAD: dict[str, tuple[Any, str, str]] = {
    "unknown id": ([*tiny.predictions(), *tiny.predictions({"9_0": "abc"})],
                   'episode "9_0": is unknown', "score each split with its own tasks file"),
    "missing episode": (without("2_0"), 'episode "2_0": has no trajectory', "--missing zero"),
    "duplicate id": ([*tiny.predictions(), *tiny.predictions({"3_1": "pqr"})],
                     'episode "3_1": has two trajectories', "Keep one trajectory"),
    "wrong start": (walking(e1_0="bc"), 'episode "1_0": starts at node b, but the task starts at node a',
                    "must include its start"),
    "non-edge": (walking(e1_0="ac"), 'episode "1_0": goes from node a to node c, which no edge joins',
                 "Log every node passed"),
    "node of another scan": (walking(e1_0="abp"), 'episode "1_0": node p is not in world house', "belong together"),
    "NaN": (GOOD.replace(b"0.5", b"NaN", 1), "record 0 (line 1): NaN is not a number", "Write finite numbers"),
    "infinity": (GOOD.replace(b"0.5", b"1e999", 1), "record 0, field trajectory[0][1]: Number out of range",
                 "documentation"),
    "empty path": (walking(e2_0=""), 'record 2 ("2_0"), field trajectory: is empty', "must include its start"),
    "nameless": ([{"instr_id": None, "trajectory": [["a"]]}], "record 0: has neither instr_id nor inst_idx",
                 "Name the instruction"),
    "truncated gz": (gzip.compress(GOOD)[:-20], "cut short or damaged", "Copy or download the file again"),
    "damaged gz": (b"\x1f\x8b\x08\x00" + bytes(60), "cut short or damaged", "Copy or download the file again"),
    "truncated JSON": (GOOD[:-30], "the JSON ends too soon", "copy it again"),
    "trailing rubbish": (GOOD + b"]", "line 1: not JSON at byte", "JSON library"),
    "wrong JSON shape": ([{"instr_id": "1_0", "trajectory": [{"viewpoint": "a"}]}],
                         "record 0, field trajectory[0]: Expected `array`, got `object`", "documentation"),
    "deep nesting": (KNOWN + b"[" * 100_000 + b"]" * 100_000 + b"}]", "nested too deeply", "documentation"),
    "million digits": (KNOWN + b'[["a", ' + b"1" * 1_000_000 + b"]]}]",
                       "record 0, field trajectory[0][1]: Number out of range", "documentation"),
    "million digits for a name": (b'[{"trajectory": [["a"]], "instr_id": ' + b"1" * 1_000_000 + b"}]",
                                  "record 0, field instr_id: Integer value out of range", "documentation"),
    "gz bomb": (gzip.compress(KNOWN + b" " * (64 << 20)), "holds more than 16 MiB once unpacked",
                "Check where the file comes from"),
    "no known format": ({"answer": 42}, "is in no known format", "Name its format: native-predictions"),
    "binary rubbish": (bytes(range(256)) * 9, "is not UTF-8 text", "only gzip and xz are read"),
    "empty file": (b"", "is empty", "Write or copy it again"),
    "UTF-16": (GOOD.decode().encode("utf-16"), "is not UTF-8 text", "Save the file as UTF-8"),
    "not a file": (None, "there is no such file", "Check the path"),
    "a folder": (Path, "is a folder without connectivity files, object boxes, results or logs", "Give a file"),
}  # fmt: skip


def test_the_same_files_without_a_fault_are_scored(files: tiny.Files, itinera: Command) -> None:
    assert itinera("score", files.write("bad.json", GOOD), *files.options).code == 0


@pytest.mark.parametrize("verb", ["score", "check"])
@pytest.mark.parametrize(("content", "problem", "remedy"), BAD.values(), ids=BAD.keys())
def test_bad_predictions_are_refused_plainly(
    files: tiny.Files, itinera: Command, verb: str, content: Any, problem: str, remedy: str
) -> None:
    bad = files.folder / "bad.json"
    if content is Path:
        bad.mkdir()
    elif content is not None:
        files.write("bad.json", content)
    outcome = itinera(verb, bad, *files.options)
    assert outcome.code == 1
    assert outcome.out == ""
    assert outcome.err.startswith(f"itinera: {bad}: ")
    assert problem in outcome.err
    assert remedy in outcome.err
    assert "Traceback" not in outcome.err


def test_every_fault_of_a_file_is_told_together(files: tiny.Files, itinera: Command) -> None:
    walks = {"1_0": "ac", "1_1": "bc", "2_0": "cdz", "9_9": "abc", "3_1": "pqr"}
    outcome = itinera("score", files.write("bad.json", tiny.predictions(walks)), *files.options)
    assert outcome.code == 1
    for problem in (
        'episode "9_9": is unknown',
        'episode "3_0": has no trajectory',
        'episode "2_0": node z is not in world house',
    ):
        assert problem in outcome.err
    # What leaves its world hides where the walks of that world start and jump; mended, they show.
    outcome = itinera("score", files.write("bad.json", tiny.predictions(walks | {"2_0": "cd"})), *files.options)
    for problem in ('episode "1_0": goes from node a to node c', 'episode "1_1": starts at node b'):
        assert problem in outcome.err


@pytest.mark.parametrize("option", ["--tasks", "--worlds", "--tours"])
def test_each_input_is_named_when_it_is_the_one_at_fault(files: tiny.Files, itinera: Command, option: str) -> None:
    cut = files.write("cut.json.gz", gzip.compress(GOOD)[:-20])
    outcome = itinera("score", files.predictions, *files.options, option, cut)
    assert outcome.code == 1
    assert f"{cut}: the compressed data is cut short or damaged" in outcome.err


def test_files_in_the_wrong_order_are_told(files: tiny.Files, itinera: Command) -> None:
    outcome = itinera("score", files.tasks, "--tasks", files.predictions, "--worlds", files.worlds)
    assert outcome.code == 1
    assert "holds R2R, R4R, REVERIE and NDH submissions (predictions) where tasks are expected" in outcome.err
    assert "Check the order of the files" in outcome.err


def test_tasks_without_episodes_are_told(files: tiny.Files, itinera: Command) -> None:
    tasks = files.write("none.jsonl", '{"itinera": "tasks", "name": "none"}\n')
    outcome = itinera("score", files.predictions, "--tasks", tasks, "--worlds", files.worlds)
    assert outcome.code in (1, 2)
    assert "none contains no episodes" in outcome.err


def test_walks_on_the_ground_do_not_answer_tasks_on_graphs(files: tiny.Files, itinera: Command) -> None:
    walks = files.write("ground.json", {name: tiny.states(tiny.EAST) for name in tiny.WALKS})
    outcome = itinera("score", walks, *files.options)
    assert outcome.code == 1
    assert "holds positions, but world house is a graph of nodes" in outcome.err
    tasks = files.write("ce.json", tiny.GROUND)
    nodes = files.write("nodes.json", tiny.predictions({"1": "ab", "2": "ab"}))
    outcome = itinera("score", nodes, "--tasks", tasks)
    assert outcome.code == 1
    assert "positions must be finite triples of metres" in outcome.err


def test_a_bomb_does_not_fill_the_memory_of_a_real_process(files: tiny.Files, itinera_process: Command) -> None:
    bomb = files.write("bomb.json.gz", gzip.compress(KNOWN) + gzip.compress(b" " * (1 << 20)) * 4096)
    outcome = itinera_process("check", bomb, limit=2 << 30)  # 4 GiB once unpacked
    assert outcome.code == 1
    assert f"{bomb}: holds more than 16 MiB once unpacked" in outcome.err
