"""Large submissions scanned in place must read as the typed decoder reads them, or not at all."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.formats import fast_scan, r2r
from itinera.formats.fast_scan import scan
from text_worlds import STREET, graph

PLAIN = [
    {"instr_id": "1_0", "trajectory": [["a", 0.5, 0.0], ["b", -1e-3, 0], ["c", 2, 1.5e2]]},
    {"trajectory": [["a"], ["f", 1.25]], "instr_id": "2_0"},
]


def told(data: bytes) -> list[tuple[str, list[str]]] | None:
    found = scan(data)
    return None if found is None else [(name, list(nodes)) for name, nodes in zip(*found, strict=True)]


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_ids_and_nodes_are_found_however_the_list_is_laid_out(indent):
    data = json.dumps(PLAIN, indent=indent).encode()
    assert told(data) == [("1_0", ["a", "b", "c"]), ("2_0", ["a", "f"])]
    assert told(b" \r\n\t" + data + b"\n") == told(data)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b"[{}]",
        b'[{"instr_id": "1"}]',
        b'[{"instr_id": 1, "trajectory": [["a"]]}]',  # a number for an id is the decoder's
        b'[{"instr_id": "1", "trajectory": []}]',
        b'[{"instr_id": "1", "trajectory": [[]]}]',
        b'[{"instr_id": "1", "trajectory": [["a", 1, 2, 3]]}]',
        b'[{"instr_id": "1", "trajectory": [["a", "b"]]}]',
        b'[{"instr_id": "1", "trajectory": [["a", NaN]]}]',
        b'[{"instr_id": "1", "trajectory": [["a", 01]]}]',
        b'[{"instr_id": "1", "trajectory": [["a", 1.]]}]',
        b'[{"instr_id": "1", "trajectory": [["a", 1e]]}]',
        b'[{"instr_id": "1", "trajectory": [["a", 1e999]]}]',
        b'[{"instr_id": "1", "trajectory": [["a", ' + b"9" * 400 + b"]]}]",
        b'[{"instr_id": "1", "trajectory": [["a",]]}]',
        b'[{"instr_id": "1", "trajectory": [["a"],]}]',
        b'[{"instr_id": "1", "trajectory": [["a"]],}]',
        b'[{"instr_id": "1", "trajectory": [["a"]]},]',
        b'[{"instr_id": "1", "trajectory": [["a"]]}',
        b'[{"instr_id": "1", "trajectory": [["a"]]}] x',
        b'[{"instr_id": "1", "instr_id": "2", "trajectory": [["a"]]}]',
        b'[{"instr_id": "1", "trajectory": [["a"]], "trajectory": [["b"]]}]',
        b'[{"instr_id": "1", "trajectory": [["a"]], "predObjId": 3}]',
        b'[{"instr_id": "\\u0031", "trajectory": [["a"]]}]',
        b'[{"instr_id": "1", "trajectory": [["a\nb"]]}]',
        '[{"instr_id": "1", "trajectory": [["ä"]]}]'.encode(),
        b'[{"instr_id": "1", "trajectory": [["a\xff"]]}]',
    ],
)
def test_anything_but_the_plain_form_is_left_to_the_decoder(content):
    assert scan(content) is None


@given(st.binary(max_size=60), st.integers(0, 400), st.integers(0, 20))
def test_whatever_the_scan_accepts_the_decoder_reads_alike(noise, at, cut):
    data = json.dumps(PLAIN).encode()
    data = data[:at] + noise + data[at + cut :]
    found = told(data)
    if found is not None:
        records = json.loads(data)
        assert found == [(r["instr_id"], [step[0] for step in r["trajectory"]]) for r in records]


def test_a_graph_numbers_the_nodes_of_any_rows():
    street = graph(STREET)
    found = scan(json.dumps(PLAIN).encode())
    assert found is not None
    numbers = found[1].node_indices(street, np.array([1, 0, 1]))
    assert numbers is not None
    assert [street.nodes[i] for i in numbers] == ["a", "f", "a", "b", "c", "a", "f"]


@given(st.lists(st.text("abcdefghij", min_size=1, max_size=40), min_size=1, max_size=60, unique=True), st.data())
def test_names_of_any_length_are_told_apart(names, data):
    from itinera.worlds import NavGraph

    known = NavGraph(tuple(names), np.zeros((len(names), 3)), np.empty((0, 2), dtype=np.int64))
    walked = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=10))
    found = scan(json.dumps([{"instr_id": "1", "trajectory": [[node] for node in walked]}]).encode())
    assert found is not None
    numbers = found[1].node_indices(known, np.array([0]))
    assert numbers is not None
    assert [names[i] for i in numbers] == walked
    strange = scan(json.dumps([{"instr_id": "1", "trajectory": [["no such node"]]}]).encode())
    assert strange is not None
    assert strange[1].node_indices(known, np.array([0])) is None


def test_more_names_than_any_benchmark_has_are_left_to_the_decoder(monkeypatch):
    data = json.dumps(PLAIN).encode()  # nodes a, b, c and f
    monkeypatch.setattr(fast_scan, "MOST_NAMES", 4)
    assert told(data) is not None
    monkeypatch.setattr(fast_scan, "MOST_NAMES", 2)
    assert told(data) is None


def test_a_name_is_kept_once():
    found = scan(json.dumps(PLAIN).encode())
    assert found is not None
    assert found[1].names == ["a", "b", "c", "f"]
    assert found[1].nodes.tolist() == [0, 1, 2, 0, 3]


def test_a_large_file_reads_as_a_small_one(tmp_path, monkeypatch):
    path = tmp_path / "submission.json"
    path.write_text(json.dumps(PLAIN))
    small = r2r.read_predictions(path)
    monkeypatch.setattr(r2r, "LARGE", 0)
    large = r2r.read_predictions(path)
    assert isinstance(large.batch.places, fast_scan.ScannedNodes)
    assert list(large.batch.episode_ids) == list(small.batch.episode_ids)
    assert [list(row) for row in large.batch.places] == [list(row) for row in small.batch.places]
    for a, b in zip(large.trajectories, small.trajectories, strict=True):
        assert (a.episode_id, a.places) == (b.episode_id, b.places)
        np.testing.assert_array_equal(a.headings, b.headings)
        np.testing.assert_array_equal(a.elevations, b.elevations)
