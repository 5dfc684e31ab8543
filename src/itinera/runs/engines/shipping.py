"""What an engine ships to other machines: a function with all it carries, as bytes, and copies of the files it reads.

Both ends are the same user's programs, and the way between them is private (a cluster with a token, a folder of mode
700), so these are pickles; nothing an agent sends is ever unpickled (`worker_pool.py`). Names of shipped files are
replaced, wherever they occur in what is pickled, by those of the copies.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import pickle
import platform
import shutil
import stat
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

from itinera.errors import BadArgument, ItineraError
from itinera.records.provenance import itinera_version
from itinera.runs.engines.outcomes import Catching

DIGEST_SIZE = 16


@dataclass(frozen=True)
class Parcel:
    """A pickled function and what a process needs around it."""

    pickled: bytes
    version: str  # of Itinera and Python: other versions may give other results
    names: tuple[str, ...]  # of the files that are shipped
    folder: str  # the current one of the sender, if the receiver sees its files
    paths: tuple[str, ...]  # where the sender imports modules from, if the receiver sees them

    @property
    def digest(self) -> str:
        """Its fingerprint."""
        return hashlib.blake2b(self.pickled, digest_size=DIGEST_SIZE).hexdigest()

    def open(self, copies: Sequence[Path] = ()) -> Catching[Any, Any]:
        """The function, in another process; `copies` are the files by their names here."""
        if self.version != describe_version():
            raise ItineraError(
                f"A worker runs {describe_version()}, but this program {self.version}. Install the same on every "
                "machine: results of different versions are never mixed."
            )
        if self.folder:
            os.chdir(self.folder)
            sys.path[:] = [*self.paths, *(path for path in sys.path if path not in self.paths)]
        found: Catching[Any, Any] = _Unpickler(io.BytesIO(self.pickled), copies).load()
        return found


def make_parcel(function: Callable[[Any], Any], files: Sequence[Path], *, shares_files: bool) -> Parcel:
    """A function for other processes; with `shares_files` they see the files of this machine, and none is shipped."""
    names = () if shares_files else tuple(dict.fromkeys(map(str, files)))
    stream = io.BytesIO()
    try:
        _Pickler(stream, names).dump(Catching(function))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise BadArgument(
            f"Other machines cannot get this work: {error}. Give agents by name or as module:Class, and tasks and "
            "worlds as paths."
        ) from None
    here = (os.getcwd(), tuple(os.path.abspath(path) for path in sys.path)) if shares_files else ("", ())
    return Parcel(stream.getvalue(), describe_version(), names, *here)


def describe_version() -> str:
    """The versions that results may depend on."""
    import numpy

    return f"itinera {itinera_version()} with Python {platform.python_version()} and NumPy {numpy.__version__}"


def _read_only(mapping: dict[Any, Any]) -> Any:
    return MappingProxyType(mapping)


class _PlainPickler(pickle.Pickler):
    """Writes read-only mappings, too, which records have."""

    def reducer_override(self, thing: Any) -> Any:
        return (_read_only, (dict(thing),)) if isinstance(thing, MappingProxyType) else NotImplemented


class _Pickler(_PlainPickler):
    """Writes names of shipped files as references."""

    def __init__(self, stream: io.BytesIO, names: Sequence[str]) -> None:
        super().__init__(stream, protocol=pickle.HIGHEST_PROTOCOL)
        self._numbers = {name: number for number, name in enumerate(names)}

    def persistent_id(self, thing: Any) -> tuple[int, bool] | None:
        if isinstance(thing, (str, PurePath)) and str(thing) in self._numbers:
            return self._numbers[str(thing)], isinstance(thing, str)  # not the name, which would be replaced again
        return None


class _Unpickler(pickle.Unpickler):
    """Reads references to shipped files as the names of their copies."""

    def __init__(self, stream: io.BytesIO, copies: Sequence[Path]) -> None:
        super().__init__(stream)
        self._copies = copies

    def persistent_load(self, reference: tuple[int, bool]) -> str | Path:
        number, is_text = reference
        return str(self._copies[number]) if is_text else self._copies[number]


def pickle_plain(thing: Any) -> bytes:
    """A chunk or a result as bytes."""
    stream = io.BytesIO()
    _PlainPickler(stream, protocol=pickle.HIGHEST_PROTOCOL).dump(thing)
    return stream.getvalue()


def unpickle_plain(content: bytes) -> Any:
    """The chunk or result."""
    return pickle.loads(content)


def pack(path: Path) -> bytes:
    """A file or folder as an archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.add(path, arcname=path.name)
    return stream.getvalue()


def unpack(content: bytes, folder: Path) -> Path:
    """Write an archive of `pack` into a folder; the path of the copy."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")
        return folder / archive.getnames()[0].partition("/")[0]


def keep_copy(folder: Path, name: str, fetch: Callable[[], bytes]) -> Path:
    """The copy of a shipped file in a node's folder; the first process that needs it fetches it."""
    require_private(folder)
    target = folder / name
    with _locked(folder / f"{name}.lock"):
        if not target.exists():
            draft = Path(tempfile.mkdtemp(dir=folder))
            unpack(fetch(), draft)
            draft.rename(target)
    (copy,) = target.iterdir()
    return copy


def node_folder(token: str) -> Path:
    """The folder of a node for the files of one engine."""
    return Path(tempfile.gettempdir()) / f"itinera-{os.getuid()}-{token}"


def remove_folder(folder: Path) -> None:
    """Remove the copies of a node."""
    shutil.rmtree(folder, ignore_errors=True)


def require_private(folder: Path) -> None:
    """Make a folder that only this user can use; raises BadArgument if it is anybody else's too."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise BadArgument(f"{folder} can be written by others, who could run their programs as you. Use another one.")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with open(path, "w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
