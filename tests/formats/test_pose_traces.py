"""Pose traces: what is read, what is refused, and where words belong."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadFile
from itinera.formats.pose_traces import PoseTrace, align_words, parse_trace, read_trace, write_trace


def trace(*stays: tuple[str, float]) -> PoseTrace:
    return PoseTrace(np.array([node for node, _ in stays]), np.array([time for _, time in stays]))


def places(found: PoseTrace, reference: str, *words: tuple[float, float]) -> list[tuple[int, int]]:
    begins, ends = (np.array(times) for times in zip(*words, strict=True))
    first, last = align_words(found, tuple(reference), begins, ends)
    return list(zip(first.tolist(), last.tolist(), strict=True))


def npz(**arrays: object) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def test_a_trace_written_and_read_is_the_same(tmp_path: Path) -> None:
    written = PoseTrace(np.array(["a", "a", "bb"]), np.array([0.0, 0.5, 1.25]), np.array([0.0, 0.0, 1.0]))
    write_trace(tmp_path / "t.npz", written)
    read = read_trace(tmp_path / "t.npz")
    assert read.nodes.tolist() == ["a", "a", "bb"]
    assert read.times.tolist() == [0.0, 0.5, 1.25]
    assert read.audio_times is not None
    assert read.audio_times.tolist() == [0.0, 0.0, 1.0]


def test_columns_as_documented_and_flat_arrays_as_released_are_the_same_trace() -> None:
    column = parse_trace(npz(pano=np.array([["a"], ["b"]]), time=np.array([[0], [1]], dtype=np.float32)), "t")
    flat = parse_trace(npz(pano=np.array(["a", "b"]), time=np.array([0.0, 1.0])), "t")
    assert column.nodes.tolist() == flat.nodes.tolist() == ["a", "b"]
    assert column.times.tolist() == flat.times.tolist() == [0.0, 1.0]
    assert flat.audio_times is None


def test_names_stored_as_bytes_are_text() -> None:
    assert parse_trace(npz(pano=np.array([b"a"]), time=np.zeros(1)), "t").nodes.tolist() == ["a"]


def test_other_arrays_are_not_even_looked_at() -> None:
    stream = io.BytesIO(npz(pano=np.array(["a"]), time=np.zeros(1)))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("image_mask.npy", b"not an array")
    assert parse_trace(stream.getvalue(), "t").nodes.tolist() == ["a"]


def promising_too_much() -> bytes:
    """An array whose header names 10^15 values and whose body has none."""
    body = io.BytesIO()
    np.lib.format.write_array_header_1_0(body, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    stream = io.BytesIO(npz(pano=np.array(["a"])))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("time.npy", body.getvalue())
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is not a complete .npz archive"),
        (b"PK\x03\x04 and nothing more", "is not a complete .npz archive"),
        (npz(pano=np.array(["a", "b"]), time=np.arange(2.0))[:-40], "is not a complete .npz archive"),
        (npz(time=np.zeros(1)), "pano: is missing"),
        (npz(pano=np.array(["a"])), "time: is missing"),
        (npz(pano=np.array([{"a": 1}], dtype=object), time=np.zeros(1)), "pickled objects, which are never read"),
        (npz(pano=np.array([1]), time=np.zeros(1)), "pano: must hold text, not int64"),
        (npz(pano=np.array([], dtype="U3"), time=np.zeros(0)), "pano: is empty"),
        (npz(pano=np.array(["a"]), time=np.array(["now"])), "time: must hold seconds"),
        (npz(pano=np.array(["a", "b"]), time=np.zeros(3)), "time: holds 3 times for 2 snapshots"),
        (npz(pano=np.array(["a", "b"]), time=np.array([1.0, 0.0])), "time: must be finite and must not decrease"),
        (npz(pano=np.array(["a", "b"]), time=np.array([0.0, np.nan])), "time: must be finite and must not decrease"),
        (npz(pano=np.array(["a"]), time=np.zeros(1), audio_time=np.zeros(2)), "audio_time: holds 2 times for 1"),
        (promising_too_much(), "time is cut short"),
    ],
)
def test_a_damaged_trace_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(BadFile, match=r"^t: ") as error:
        parse_trace(data, "t")
    assert said in str(error.value)


def test_a_word_belongs_to_the_nodes_stood_at_while_it_was_said() -> None:
    walked = trace(("a", 0.0), ("a", 1.0), ("b", 2.0), ("c", 4.0))
    words = [(0.5, 1.5), (1.5, 2.5), (2.5, 3.0), (1.0, 5.0)]
    assert places(walked, "abc", *words) == [(0, 0), (0, 1), (1, 1), (0, 2)]


def test_arriving_the_moment_a_word_ends_does_not_count_but_starting_to_speak_on_arrival_does() -> None:
    walked = trace(("a", 0.0), ("b", 2.0))
    assert places(walked, "ab", (1.0, 2.0), (2.0, 2.0), (2.0, 3.0)) == [(0, 0), (1, 1), (1, 1)]


def test_words_outside_the_trace_belong_to_its_ends() -> None:
    walked = trace(("a", 1.0), ("b", 2.0))
    assert places(walked, "ab", (0.0, 0.5), (8.0, 9.0)) == [(0, 0), (1, 1)]


def test_words_without_both_times_have_no_place() -> None:
    nan = float("nan")
    assert places(trace(("a", 0.0)), "a", (nan, 1.0), (0.0, nan), (nan, nan)) == [(-1, -1)] * 3


def test_words_said_off_the_path_have_no_place_but_the_rest_of_a_word_does() -> None:
    walked = trace(("a", 0.0), ("x", 1.0), ("b", 2.0))
    assert places(walked, "ab", (1.2, 1.8), (0.5, 1.5)) == [(-1, -1), (0, 0)]


def test_of_a_node_passed_twice_the_visit_nearest_along_the_path_is_meant() -> None:
    # The path crosses itself at a; the speaker steps back to the first a, then walks on to the second.
    walked = trace(("a", 0.0), ("b", 1.0), ("a", 2.0), ("b", 3.0), ("c", 4.0), ("a", 5.0), ("d", 6.0))
    words = [(t + 0.2, t + 0.8) for t in range(7)]
    assert [first for first, _ in places(walked, "abcad", *words)] == [0, 1, 0, 1, 2, 3, 4]


@given(st.lists(st.tuples(st.sampled_from("abcx"), st.integers(1, 5)), min_size=1, max_size=8), st.data())
def test_places_agree_with_looking_at_every_moment(stays: list[tuple[str, int]], data: st.DataObject) -> None:
    times = np.cumsum([gap for _, gap in stays]).tolist()
    walked = trace(*[(node, float(time)) for (node, _), time in zip(stays, times, strict=True)])
    begin = data.draw(st.integers(0, 30))
    end = begin + data.draw(st.integers(1, 10))
    # The slow twin: where the speaker stood at every quarter second of the word, its end excluded.
    stood = set()
    for moment in np.arange(begin, end, 0.25):
        before = [node for node, time in zip(walked.nodes.tolist(), times, strict=True) if time <= moment]
        stood.add(before[-1] if before else walked.nodes.tolist()[0])
    known = sorted("abc".index(node) for node in stood if node in "abc")
    expected = (known[0], known[-1]) if known else (-1, -1)
    assert places(walked, "abc", (float(begin), float(end))) == [expected]
