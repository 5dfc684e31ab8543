"""Other people's JSON: typed, with every fault of a file told together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from itinera.errors import BadFile, Fault
from itinera.formats import decoding
from itinera.formats.decoding import decode, decode_dict, decode_list, read_list, refuse_repeated_keys
from itinera.formats.io import FaultList
from itinera.formats.jsonl import iter_records
from tiny import written


class Step(msgspec.Struct):
    node: str
    length: float = 0.0


GOOD = {"node": "a", "length": 2}


def faults_of(call: Any) -> list[str]:
    with pytest.raises(BadFile) as caught:
        call()
    return [str(fault).splitlines()[0] for fault in caught.value.faults]


def test_whole_numbers_pass_as_numbers_and_unknown_fields_are_passed_over() -> None:
    assert decode_list(b'[{"node": "a", "length": 2, "colour": "red"}]', Step, "f") == [Step("a", 2.0)]


def test_all_faults_of_a_list_are_told_together() -> None:
    data = json.dumps([GOOD, {"length": 1}, GOOD, {"node": 7}, {"node": "b", "length": "far"}]).encode()
    assert faults_of(lambda: decode_list(data, Step, "f")) == [
        "record 1: Object missing required field `node`.",
        "record 3, field node: Expected `str`, got `int`.",
        "record 4, field length: Expected `float`, got `str`.",
    ]


def test_all_faults_of_an_object_are_told_together_by_key() -> None:
    data = json.dumps({"x": GOOD, "y": [], "z": {"node": None}}).encode()
    assert faults_of(lambda: decode_dict(data, Step, "f")) == [
        'record "y": Expected `object`, got `array`.',
        'record "z", field node: Expected `str`, got `null`.',
    ]


DEEP = b"[" * 100_000 + b"]" * 100_000
MILLION = b"1" * 1_000_000

# what: the content of a file that should hold a list of steps, and what is said of it
HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the JSON ends too soon."),
    "spaces": (b"  \n ", "the JSON ends too soon."),
    "truncated": (b'[{"node": "a"}, {"no', "the JSON ends too soon."),
    "wrong shape": (b'{"steps": []}', "Expected `array`, got `object`."),
    "a number": (b"17", "Expected `array`, got `int`."),
    "NaN": (b'[\n{"node": "a", "length": NaN}]', "record 0 (line 2): NaN is not a number."),
    "minus infinity": (b'[{"node": "a", "length": -Infinity}]', "record 0 (line 1): Infinity is not a number."),
    "too large": (b'[{"node": "a", "length": 1e999}]', "record 0, field length: Number out of range."),
    "million digits": (b'[{"node": "a", "length": ' + MILLION + b"}]", "record 0, field length: Number out of range."),
    "million decimals": (
        b'[{"node": "a", "length": x' + MILLION + b"}]",
        'record 0 (line 1): not JSON at byte 25 ("x1',
    ),
    "deep": (DEEP, "is nested too deeply."),
    "deep within a record": (b'[{"node": "a", "more": ' + DEEP + b"}]", "is nested too deeply."),
    "trailing comma": (b'[{"node": "a"},]', 'line 1: not JSON at byte 15 ("]").'),
    "two documents": (b"[] []", 'line 1: not JSON at byte 4 ("]").'),
    "single quotes": (b"[{'node': 'a'}]", "record 0 (line 1): not JSON at byte 2 (\"'node': 'a'}]\")."),
    "not UTF-8": (b'[{"node": "\xff"}]', "record 0: is not UTF-8 text."),
    "byte order mark": (b"\xef\xbb\xbf[]", "line 1: begins with a byte order mark."),
    "zero bytes": (bytes(20), "line 1: not JSON at byte 0"),
}


@pytest.mark.parametrize(("content", "said"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_lists_are_refused_in_plain_words(tmp_path: Path, content: bytes, said: str) -> None:
    (fault,) = faults_of(lambda: read_list(written(tmp_path / "f.json", content), Step))
    assert fault.startswith(said)


@pytest.mark.parametrize("content", [content for content, _ in HOSTILE.values()], ids=HOSTILE.keys())
def test_hostile_bytes_are_refused_by_every_decoder(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(BadFile):
        decode(content, list[Step], "f")
    with pytest.raises(BadFile):
        decode_dict(content, Step, "f")
    if content.strip():  # no lines at all are no fault
        faults: list[Fault] = []
        list(iter_records(written(tmp_path / "f", content), Step, faults))
        assert faults


@pytest.mark.parametrize(
    ("content", "repeated"),
    [('{"a": {"node": "x"}, "a": {"node": "y"}}', "a"), ('{"a": {"node": "x", "node": "y"}}', "node")],
)
def test_a_repeated_key_is_a_fault_at_any_depth(content: str, repeated: str) -> None:
    assert faults_of(lambda: decode_dict(content.encode(), Step, "f")) == [f'record "{repeated}": is given twice.']


def test_looking_for_repeated_keys_survives_absurd_numbers_and_depth() -> None:
    refuse_repeated_keys(b'{"a": ' + MILLION + b"}", "f")
    assert faults_of(lambda: refuse_repeated_keys(DEEP, "f")) == ["is nested too deeply."]


def test_a_message_names_the_file_and_shows_a_shared_remedy_once() -> None:
    error = BadFile("f.json", [Fault("record 1", "is bad.", "Mend it."), Fault("record 2", "is bad.", "Mend it.")])
    assert str(error) == "f.json: record 1: is bad.\nf.json: record 2: is bad.\n  Mend it."


def test_of_very_many_faults_twenty_are_shown_and_the_rest_counted() -> None:
    data = json.dumps([{}] * 1000).encode()
    with pytest.raises(BadFile) as caught:
        decode_list(data, Step, "f.json")
    told = str(caught.value).splitlines()
    assert len(caught.value.faults) == 1000
    assert told[-1] == "f.json: and 980 more faults of this file."
    assert len(told) == 22  # with the remedy they share


def test_reading_stops_after_a_thousand_bad_records() -> None:
    bad = json.dumps([{}] * 5000).encode()
    with pytest.raises(BadFile, match="and at least 980 more faults of this file") as caught:
        decode_list(bad, Step, "f.json")
    assert not caught.value.complete


def test_reading_lines_stops_after_a_thousand_bad_ones(tmp_path: Path) -> None:
    (tmp_path / "f.jsonl").write_bytes(b"1\n" * 5000)
    faults = FaultList("f")
    read = iter_records(tmp_path / "f.jsonl", Step, faults)
    with pytest.raises(BadFile, match="and at least 980 more faults"):
        list(read)


@pytest.mark.parametrize("text", [b"[" + b"[]," * 2000 + b"[]]", b"[" + b'"a",' * 2000 + b'"a"]', b'[{"a":0}]' * 500])
def test_a_document_whose_values_would_fill_the_memory_is_refused_undecoded(
    monkeypatch: pytest.MonkeyPatch, text: bytes
) -> None:
    monkeypatch.setattr(decoding, "_NEVER_MUCH", 1000)
    monkeypatch.setattr(decoding, "MEMORY_LIMIT", 100_000)
    for read in (decode, decode_list, decode_dict):
        with pytest.raises(BadFile, match="contains so many values that they would take more than"):
            read(text, list, "f.json")  # type: ignore[operator]


def test_the_lines_of_a_file_share_one_budget(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(decoding, "_NEVER_MUCH", 1000)
    monkeypatch.setattr(decoding, "MEMORY_LIMIT", 100_000)
    (tmp_path / "f.jsonl").write_bytes(b"[[], [], []]\n" * 1000)
    with pytest.raises(BadFile, match="contains so many values"):
        list(iter_records(tmp_path / "f.jsonl", list, FaultList("f")))


def test_large_parts_and_small_ones_are_estimated_alike() -> None:
    text = b'[{"a": [1, 2]}, ["b"], {}]' * 1000
    assert decoding._estimate_memory(text) == 1000 * decoding._estimate_memory(text[:26])


def test_the_record_of_a_string_that_never_ends_is_found_at_once() -> None:
    # With one attempt for each quote, this would take hours.
    data = b'[{"node": "' + b'\\"' * 200_000 + b"\x01"
    assert faults_of(lambda: decode_list(data, Step, "f"))[0].startswith("record 0 (line 1): not JSON at byte 400011")
