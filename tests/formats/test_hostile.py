"""No file, however hostile, gives anything but a plain refusal: readers of all formats against random and mutated ones.

Run over the catalogue, so that a new format is tried as soon as it has an example.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from examples import ARCHIVED, EXAMPLES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from itinera.errors import BadFile
from itinera.formats.catalog import ARCHIVES, FORMATS, Format, detect

tried = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

# Values that a field is unlikely to expect: absurd sizes, wrong types, the almost right.
odd = st.sampled_from([None, True, 0, -1, 10**30, 2**63, 1e308, -1e-320, "", "x", "1_0", "nan", "é\0", [], {}, [[]],
                       [None], {"a": 1}, [[0, 0, 0]], ["a", "b"], [0.5]])  # fmt: skip
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | odd
values = st.recursive(plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))


def read(known: Format, path: Path) -> None:
    """Read all there is, also what is put off until asked for."""
    refusal = None
    try:
        content = known.read(path)
        if known.kind == "predictions":
            list(content.trajectories)
            assert len(content.batch.places) == len(content.batch.episode_ids)
        elif known in ARCHIVES:
            list(content.values())
    except BadFile as error:
        refusal = error
    if refusal is not None:
        assert refusal.faults
        assert path.name in str(refusal)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value within a JSON document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, held in inner for place in places(held, (*at, key)))]


@st.composite
def mutated(draw: st.DrawFn, document: Any) -> Any:
    """The document with one or two of its values replaced by odd ones or left out."""
    for _ in range(draw(st.integers(1, 2))):
        *way, last = draw(st.sampled_from(places(document)[1:] or [("",)]))
        if last == "" or not isinstance(document, dict | list):
            return draw(odd)
        document = json.loads(json.dumps(document))
        holder = document
        for key in way:
            holder = holder[key]
        if draw(st.booleans()):
            holder[last] = draw(odd)
        else:
            del holder[last]
    return document


@st.composite
def scrambled(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes with a few cut out, doubled or overwritten."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        end = draw(st.integers(at, min(len(data), at + 20)))
        put = draw(st.binary(max_size=4) | st.sampled_from([b"NaN", b"1e999", b"[[", b'"', b"\n", b"9" * 5000, data]))
        data = data[:at] + put + data[end:]
    return data


def documents(data: bytes) -> list[Any] | None:
    """The lines of an example as JSON; None if it is CSV."""
    try:
        return [json.loads(line) for line in data.splitlines()]
    except json.JSONDecodeError:
        return None


by_name = pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)


@by_name
@given(content=st.binary(max_size=200) | values.map(lambda value: json.dumps(value).encode()))
@tried
def test_random_files_are_refused_by_every_reader(tmp_path: Path, known: Format, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    read(known, tmp_path / "file")


@by_name
@given(data=st.data())
@tried
def test_scrambled_files_are_read_or_refused(tmp_path: Path, known: Format, data: st.DataObject) -> None:
    (tmp_path / "file").write_bytes(data.draw(scrambled(EXAMPLES[known.name])))
    read(known, tmp_path / "file")


@pytest.mark.parametrize("known", [k for k in FORMATS if documents(EXAMPLES[k.name])], ids=lambda known: known.name)
@given(data=st.data())
@tried
def test_files_with_odd_values_are_read_or_refused(tmp_path: Path, known: Format, data: st.DataObject) -> None:
    lines = documents(EXAMPLES[known.name])
    assert lines is not None
    at = data.draw(st.integers(0, len(lines) - 1))
    lines[at] = data.draw(mutated(lines[at]))
    (tmp_path / "file").write_text("".join(json.dumps(line) + "\n" for line in lines))
    read(known, tmp_path / "file")


@pytest.mark.parametrize("known", ARCHIVES, ids=lambda known: known.name)
@given(data=st.data())
@tried
def test_archives_with_odd_values_are_read_or_refused(tmp_path: Path, known: Format, data: st.DataObject) -> None:
    name, content = ARCHIVED[known.name]
    folder = tmp_path / Path(name).stem
    folder.mkdir(exist_ok=True)
    if documents(content) is None:
        (folder / name).write_bytes(data.draw(scrambled(content)))
    else:
        (folder / name).write_text(json.dumps(data.draw(mutated(json.loads(content)))))
    read(known, folder)


@given(content=st.binary(max_size=200) | values.map(lambda value: json.dumps(value).encode()))
@tried
def test_whatever_is_in_a_file_it_is_recognised_or_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    try:
        known = detect(tmp_path / "file")
    except BadFile:
        return
    read(known, tmp_path / "file")
