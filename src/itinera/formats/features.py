"""Features of the 36 views around viewpoints in the two forms the field shares: TSV with base64, and HDF5.

`read_features` opens either. A file may have gigabytes: features are read on access, and a bounded part is cached in
memory.
"""

from __future__ import annotations

import binascii
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault, MissingExtra
from itinera.formats.io import FaultList, open_file
from itinera.formats.writing import atomic_write
from itinera.rendering.panorama import VIEW_FOV, VIEW_HEIGHT, VIEW_WIDTH, VIEWS

if TYPE_CHECKING:
    from types import ModuleType

Views = NDArray[np.float32]  # (36, size)

KEPT = 160 << 20  # bytes of features kept in memory; a large world of ResNet's 2,048 numbers has 100 MiB
WIDEST = 1 << 14  # features of a view; the widest public files have 2,048
MOST = 1 << 20  # viewpoints of a file; the public ones have 10,567
LONGEST = 16 * WIDEST * VIEWS  # bytes of a line
HEAD = 1 << 10  # bytes of a line within which its features begin

HDF5 = b"\x89HDF\r\n\x1a\n"
PACKED = {b"\x1f\x8b": "gzip", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"BZh": "bzip2"}
COLUMNS = ("scanId", "viewpointId", "image_w", "image_h", "vfov", "features")


class _Rows(Protocol):
    """Access to the features of a file."""

    width: int  # features of a view

    def read(self, world_id: str, node: str) -> NDArray[Any]:
        """(36, width) the features of a viewpoint, of any dtype."""
        ...


class Features:
    """The features of a file, a source of views. Those of the last viewpoints are cached."""

    def __init__(self, source: str, rows: _Rows, size: int) -> None:
        self.source, self.size = source, size
        self._rows = rows
        self._kept = lru_cache(max(1, KEPT // (4 * VIEWS * size)))(self._read)

    def at(self, world_id: str, node: str) -> Views:
        """(36, size) the features of a viewpoint, read-only."""
        return self._kept(world_id, node)

    def _read(self, world_id: str, node: str) -> Views:
        found = self._rows.read(world_id, node)[:, : self.size].astype(np.float32)
        if not np.isfinite(found).all():
            _refuse(self.source, _named(world_id, node), "contains NaN or infinity.", "Extract the features again.")
        found.flags.writeable = False
        return found


def read_features(path: str | Path, *, size: int | None = None) -> Features:
    """The features of a .tsv or HDF5 file, whatever its name.

    `size` takes the first features of wider rows: files of ViT features often append the logits of 1,000 classes.
    """
    path = Path(path)
    rows = _HdfRows(path) if _is_hdf5(path) else _TsvRows(path)
    if size is not None and not 0 < size <= rows.width:
        raise BadArgument(f"{path} has {rows.width} numbers for each view; {size} of them cannot be taken.")
    return Features(str(path), rows, rows.width if size is None else size)


def _is_hdf5(path: Path) -> bool:
    with open_file(path) as stream:
        head = stream.read(len(HDF5))
    for magic, name in PACKED.items():
        if head.startswith(magic):
            remedy = "Unpack it first: a packed file cannot be read here and there."
            _refuse(str(path), "", f"is packed with {name}.", remedy)
    return head == HDF5


def _refuse(source: str, where: str, problem: str, remedy: str = "") -> NoReturn:
    raise BadFile(source, [Fault(where, problem, remedy)]) from None


def _named(world_id: str, node: str) -> str:
    return f"viewpoint {node} of {world_id}"


def _unknown(source: str, world_id: str, node: str) -> NoReturn:
    _refuse(source, _named(world_id, node), "is not in the file.", "Give the features of the worlds of the run.")


class _TsvRows:
    """A TSV file with a line for each viewpoint; only the offsets of the lines are kept."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = _find_lines(path)
        (first, second), _ = next(iter(self._lines.items()))
        self.width = self.read(first, second).shape[1]

    def read(self, world_id: str, node: str) -> NDArray[Any]:
        if (world_id, node) not in self._lines:
            _unknown(str(self._path), world_id, node)
        offset, length, number = self._lines[world_id, node]
        with open_file(self._path) as stream:
            stream.seek(offset)
            text = stream.read(length)
        try:
            numbers = np.frombuffer(binascii.a2b_base64(text, strict_mode=True), "<f4").reshape(VIEWS, -1)
            if numbers.size:
                return numbers
        except ValueError:  # which binascii.Error is
            pass
        problem = f"is not base64 of {VIEWS} rows of 4-byte numbers."
        remedy = "Every viewpoint has the float32 features of its 36 views."
        raise BadFile(str(self._path), [Fault(f"line {number}", problem, remedy, "features")])


Lines = dict[tuple[str, str], tuple[int, int, int]]  # by scan and viewpoint: offset and bytes of the base64, the line


def _find_lines(path: Path) -> Lines:
    lines: Lines = {}
    faults = FaultList(str(path))
    wanted = 0
    for number, offset, line in _numbered(path, faults):
        # Of the features only the length is used: extracting them would take most of the time.
        *head, _ = line[:HEAD].split(b"\t", len(COLUMNS) - 1)
        begins = sum(map(len, head)) + len(head)
        length = len(line) - begins - (2 if line.endswith(b"\r\n") else line.endswith(b"\n"))
        wanted = wanted or length
        fault = _fault(head, length, wanted, lines)
        if fault is None:
            lines[head[0].decode(), head[1].decode()] = (offset + begins, length, number)
        else:
            faults.append(Fault(f"line {number}", *fault))
    if not faults and not lines:
        faults.append(Fault("", "contains no features.", "Give a .tsv file of features, or HDF5."))
    faults.raise_any()
    return lines


def _numbered(path: Path, faults: FaultList) -> Iterator[tuple[int, int, bytes]]:
    """The lines with content, each after its number and its offset in the file."""
    offset = 0
    with open_file(path, buffering=1 << 20) as stream:
        for number, line in enumerate(iter(lambda: stream.readline(LONGEST), b""), start=1):
            if number > MOST or (len(line) == LONGEST and not line.endswith(b"\n")):
                remedy = "Check where the file comes from."
                faults.append(Fault(f"line {number}", "is too long, or one line too many.", remedy))
                return
            header = line.startswith(f"{COLUMNS[0]}\t".encode())  # rare, but harmless
            if not header and not (len(line) <= len(b"\r\n") and not line.strip()):
                yield number, offset, line
            offset += len(line)


def _fault(head: list[bytes], length: int, wanted: int, lines: Lines) -> tuple[str, str] | None:
    """The problem of a line and its remedy, None if there is none."""
    if len(head) != len(COLUMNS) - 1:
        return f"has {len(head) + 1} columns.", f"They are {', '.join(COLUMNS)}, with tabs between."
    if not all(field.isascii() and field for field in head[:2]):
        return "names no scan or viewpoint.", "The first two columns do, in plain letters."
    if length != wanted:
        return f"has {length} letters of base64, others {wanted}.", "All viewpoints have as many numbers."
    if (head[0].decode(), head[1].decode()) in lines:
        return f"is a second one of viewpoint {head[1].decode()}.", "Give each viewpoint once."
    return None


def import_h5py() -> ModuleType:
    """The module h5py; raises MissingExtra if it is not installed."""
    try:
        return import_module("h5py")
    except ImportError:
        raise MissingExtra("HDF5 files", "h5py", "features") from None


class _HdfRows:
    """A data set for each viewpoint, named "<scan>_<viewpoint>"."""

    def __init__(self, path: Path) -> None:
        self._source, self._h5py = str(path), import_h5py()
        with self._reading():
            self._file = self._h5py.File(path, "r")
            first = next(iter(self._file), None)
        if first is None:
            _refuse(self._source, "", "contains no features.", "It has a data set for each viewpoint.")
        self.width = int(self._array(first).shape[1])

    def read(self, world_id: str, node: str) -> NDArray[Any]:
        name = f"{world_id}_{node}"
        with self._reading():
            known = name in self._file
        if not known:
            _unknown(self._source, world_id, node)
        array = self._array(name)
        if array.shape[1] != self.width:
            problem = f"has {array.shape[1]} numbers for each view, others {self.width}."
            _refuse(self._source, f'data set "{name}"', problem, "All viewpoints have as many numbers.")
        with self._reading(f'data set "{name}"'):
            found: NDArray[Any] = array[()]
        return found

    def _array(self, name: str) -> Any:
        where = f'data set "{name}"'
        with self._reading(where):
            # Links lead out of the file, as do external and virtual data sets; a file of features has none.
            plain = isinstance(self._file.get(name, getlink=True), self._h5py.HardLink)
            array = self._file[name] if plain else None
            if not isinstance(array, self._h5py.Dataset) or array.external or array.is_virtual:
                _refuse(self._source, where, "is not stored in the file itself.", "Copy the features into one file.")
            fits = array.ndim == 2 and array.shape[0] == VIEWS and 0 < array.shape[1] <= WIDEST
            if not fits or array.dtype.kind != "f":
                problem = f"holds {array.dtype} of shape {array.shape}."
                _refuse(self._source, where, problem, f"Expected are fractions of shape ({VIEWS}, d).")
        return array

    @contextmanager
    def _reading(self, where: str = "") -> Iterator[None]:
        try:
            yield
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            _refuse(self._source, where, f"is damaged or no HDF5 file ({error}).", "Copy the file again.")


def write_features(path: str | Path, features: Iterable[tuple[str, str, NDArray[Any]]]) -> None:
    """Scans, viewpoints and their (36, size) features as a .tsv, .h5 or .hdf5 file, to be read one after another."""
    path = Path(path)
    if path.suffix == ".tsv":
        with atomic_write(path) as stream:
            for world_id, node, views in features:
                text = binascii.b2a_base64(_checked(views).tobytes(), newline=False)
                head = (world_id, node, VIEW_WIDTH, VIEW_HEIGHT, round(np.degrees(VIEW_FOV)))
                stream.write("\t".join(map(str, head)).encode() + b"\t" + text + b"\n")
    elif path.suffix in (".h5", ".hdf5"):
        h5py = import_h5py()
        # HDF5 writes back and forth, which a stream that becomes the file at its end does not let it.
        with tempfile.TemporaryFile() as draft:
            with h5py.File(draft, "w") as file:
                for world_id, node, views in features:
                    file.create_dataset(f"{world_id}_{node}", data=_checked(views))
            draft.seek(0)
            with atomic_write(path) as stream:
                shutil.copyfileobj(draft, stream)
    else:
        raise BadArgument(f"A file of features is named .tsv, .h5 or .hdf5, not {path.name}.")


def _checked(views: NDArray[Any]) -> NDArray[Any]:
    if views.ndim != 2 or len(views) != VIEWS:
        raise BadArgument(f"Features of a viewpoint have shape ({VIEWS}, size); got {views.shape}.")
    return np.ascontiguousarray(views, "<f4")
