"""RxR's pose traces: the node of a speaker at each moment, and so the places of each word.

A trace is an .npz archive. Only its node and time arrays are read, never more than their headers promise and never
a pickled object.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from itinera.errors import BadFile, Fault
from itinera.formats.io import read_bytes
from itinera.formats.writing import atomic_write
from itinera.worlds import Array

LARGEST_TRACE = 256 << 20  # bytes; real ones have less than 10 MiB
LARGEST_ARRAY = 64 << 20  # bytes of one array once unpacked; an hour at 60 snapshots a second has 28 MiB
_WANTED = ("pano", "time", "audio_time")
_REMEDY = "Copy or download the trace again."


@dataclass(frozen=True, eq=False)
class PoseTrace:
    """Snapshots in order of time: the node of a person, and the time."""

    nodes: NDArray[np.str_]  # (n,)
    times: Array  # (n,) seconds, not decreasing; a guide's are those of the recording
    audio_times: Array | None = None  # (n,) seconds into the guide's recording; followers only


def read_trace(path: str | Path) -> PoseTrace:
    """The nodes and times of a pose trace."""
    return parse_trace(read_bytes(Path(path), limit=LARGEST_TRACE), str(path))


def parse_trace(data: bytes, source: str) -> PoseTrace:
    """The nodes and times in the bytes of an .npz file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            held = set(archive.namelist())
            arrays = {name: _array(archive, name) for name in _WANTED if f"{name}.npy" in held}
    except Exception as error:  # the parsers of zipfile and numpy raise many kinds of errors for a broken file
        raise BadFile(source, [Fault("", f"is not a complete .npz archive ({error}).", _REMEDY)]) from None
    faults = list(_faults(arrays))
    if faults:
        raise BadFile(source, faults)
    audio_times = arrays["audio_time"].astype(np.float64) if "audio_time" in arrays else None
    return PoseTrace(arrays["pano"], arrays["time"].astype(np.float64), audio_times)


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    # Read by hand rather than by numpy.load: it would reserve whatever size a hostile header names.
    with archive.open(f"{name}.npy") as member:
        content = member.read(LARGEST_ARRAY + 1)
    if len(content) > LARGEST_ARRAY:
        raise ValueError(f"{name} holds more than {LARGEST_ARRAY >> 20} MiB")
    stream = io.BytesIO(content)
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"{name} is of the unknown .npy version {version}")
    header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = header(stream)
    if dtype.hasobject:
        raise ValueError(f"{name} holds pickled objects, which are never read")
    if len(content) - stream.tell() != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"{name} is cut short")
    # Documented as columns, stored flat: either way one value follows the other.
    values = np.frombuffer(content, dtype, count=math.prod(shape) if dtype.itemsize else 0, offset=stream.tell())
    return np.array([_text(value) for value in values.tolist()], dtype=np.str_) if dtype.kind in "US" else values


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _faults(arrays: Mapping[str, NDArray[Any]]) -> Iterator[Fault]:
    missing = [name for name in ("pano", "time") if name not in arrays]
    if missing:
        yield from (Fault("", "is missing.", _REMEDY, name) for name in missing)
        return
    nodes = arrays["pano"]
    if nodes.dtype.kind != "U":
        yield Fault("", f"must hold text, not {nodes.dtype}.", _REMEDY, "pano")
    if len(nodes) == 0:
        yield Fault("", "is empty.", _REMEDY, "pano")
    for name, values in arrays.items():
        if name == "pano":
            continue
        if values.dtype.kind not in "fiu":
            yield Fault("", f"must hold seconds, not {values.dtype}.", _REMEDY, name)
        elif len(values) != len(nodes):
            yield Fault("", f"holds {len(values)} times for {len(nodes)} snapshots.", _REMEDY, name)
        elif name == "time" and not (np.isfinite(values).all() and (values[1:] >= values[:-1]).all()):
            yield Fault("", "must be finite and must not decrease.", _REMEDY, name)


def write_trace(path: str | Path, trace: PoseTrace) -> None:
    """Write a pose trace with its nodes and times; camera poses and masks are not kept."""
    arrays: dict[str, Any] = {"pano": trace.nodes, "time": trace.times}
    if trace.audio_times is not None:
        arrays["audio_time"] = trace.audio_times
    with atomic_write(Path(path)) as stream:
        np.savez_compressed(stream, **arrays)


def align_words(
    trace: PoseTrace, reference: Sequence[str], begins: Array, ends: Array
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and last index into `reference` of the speaker's nodes during each word, -1 where unknown.

    A word belongs to every node visited between its beginning and its end; reaching the next node at the exact time
    it ends does not count. Words before the first snapshot belong to the first node, words after the last to
    the last. Unknown are words without both times, and those said off the path.
    """
    since, index = _stays(trace, reference)
    first = np.full(len(begins), -1, dtype=np.int64)
    last = first.copy()
    known = np.flatnonzero(np.isfinite(begins) & np.isfinite(ends))
    entered = np.maximum(np.searchsorted(since, begins[known], side="right") - 1, 0)
    left = np.maximum(np.searchsorted(since, ends[known], side="left") - 1, entered)
    for word, a, b in zip(known.tolist(), entered.tolist(), left.tolist(), strict=True):
        visited = [i for i in index[a : b + 1] if i >= 0]
        if visited:
            first[word], last[word] = min(visited), max(visited)
    return first, last


def _stays(trace: PoseTrace, reference: Sequence[str]) -> tuple[Array, list[int]]:
    """When each stay at a node began, and the index of that node in the reference, -1 off the path."""
    options: dict[str, list[int]] = {}
    for i, node in enumerate(reference):
        options.setdefault(node, []).append(i)
    starts = np.concatenate([[0], np.flatnonzero(trace.nodes[1:] != trace.nodes[:-1]) + 1])
    at, index = 0, []
    for node in trace.nodes[starts].tolist():
        if node in options:
            # A path may cross itself: of a node's visits take the nearest along the path, the later if equally near.
            at = min(options[node], key=lambda i: (abs(i - at), -i))
        index.append(at if node in options else -1)
    return trace.times[starts], index
