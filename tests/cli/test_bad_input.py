"""Whatever is wrong with a predictions file: told plainly, by file and remedy, with exit code 1."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tiny
from cli.conftest import Command


def without(name: str) -> list[dict[str, Any]]:
    return [record for record in tiny.predictions() if record["instr_id"] != name]


def walking(**walks: str) -> list[dict[str, Any]]:
    return tiny.predictions(tiny.WALKS | {name.removeprefix("e"): walk for name, walk in walks.items()})


def bomb(unpacked: int) -> bytes:
    return gzip.compress(b"[" + b" " * unpacked)


GOOD = json.dumps(tiny.predictions()).encode()
KNOWN = b'[{"instr_id": "1_0", "trajectory": '  # enough to be recognised as a submission

# what is wrong: the file, what is said of it, and a part of the remedy
BAD: dict[str, tuple[Any, str, str]] = {
    "unknown id": ([*tiny.predictions(), *tiny.predictions({"9_0": "abc"})],
                   'episode "9_0": is unknown', "score each split with its own file"),
    "missing episode": (without("2_0"), 'episode "2_0": has no trajectory', "--missing zero"),
    "duplicate id": ([*tiny.predictions(), *tiny.predictions({"3_1": "pqr"})],
                     'episode "3_1": is answered twice', "Keep one trajectory"),
    "wrong start": (walking(e1_0="bc"), 'episode "1_0": starts at node b, but the task starts at node a',
                    "must include its start"),
    "non-edge": (walking(e1_0="ac"), 'episode "1_0": goes from node a to node c, which no edge joins',
                 "Log every node passed"),
    "node of another scan": (walking(e1_0="abp"), 'episode "1_0": node p is not in world house', "belong together"),
    "NaN": (GOOD.replace(b"0.5", b"NaN", 1), "line 1: NaN is not a number", "Write finite numbers"),
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
    "another kind of file": (tiny.PATHS, "holds R2R, R4R and longer joins (tasks) where walks are expected",
                             "Check the order of the files"),
    "deep nesting": (KNOWN + b"[" * 100_000 + b"]" * 100_000 + b"}]", "nested too deeply", "documentation"),
    "million digits": (KNOWN + b'[["a", ' + b"1" * 1_000_000 + b"]]}]", "record 0", "documentation"),
    "million digits for a name": (b'[{"trajectory": [["a"]], "instr_id": ' + b"1" * 1_000_000 + b"}]",
                                  "thousands of digits", "documentation"),
    "gz bomb": (bomb(64 << 20), "holds more than 16 MiB once unpacked", "Check where the file comes from"),
    "no known format": ({"answer": 42}, "is in no format known here", "--format: native-walks"),
    "binary rubbish": (bytes(range(256)) * 9, "is in no format known here", "--format"),
    "empty file": (b"", "is empty", "opy"),
    "UTF-16": (GOOD.decode().encode("utf-16"), "is not UTF-8 text", "Save the file as UTF-8"),
    "not a file": (None, "there is no such file", "Check the path"),
    "a folder": (Path, "holds no predictions", ""),
}  # fmt: skip


def test_the_same_files_without_a_fault_are_scored(files: tiny.Files, itinera: Command) -> None:
    assert itinera("score", files.write("bad.json", GOOD), *files.options).code == 0


@pytest.mark.parametrize("verb", ["score", "check", "audit"])
@pytest.mark.parametrize(("content", "problem", "remedy"), BAD.values(), ids=BAD.keys())
def test_bad_predictions_are_refused_plainly(
    files: tiny.Files, itinera: Command, verb: str, content: Any, problem: str, remedy: str
) -> None:
    bad = files.folder / "bad.json"
    if content is Path:
        bad.mkdir()
    elif content is not None:
        files.write("bad.json", content)
    published = ["--published", "SR=0.5"] if verb == "audit" else []
    outcome = itinera(verb, bad, *files.options, *published)
    assert outcome.code == 1
    assert outcome.out == ""
    assert f"itinera: {bad}: " in outcome.err
    assert problem in outcome.err
    assert remedy in outcome.err
