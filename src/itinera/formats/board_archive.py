"""Board archives: the pages and data of a leaderboard with its log, in one .zip that can be verified to the last byte.

There is exactly one archive with given files: members are stored without compression, in the order of their names, with
fixed dates. So a reader writes the archive again and compares all bytes, and no archive can unpack to more than it is.
Start with `encode_archive` and `check_archive`.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import msgspec

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats.decoding import UNDECODABLE
from itinera.formats.event_log import FIRST, Event, check_events, encode_events, group_by_entry
from itinera.formats.io import open_file

MANIFEST = "manifest.json"
EVENTS = "events.jsonl"
BOARD = "board.json"  # also in folders, one per phase
LARGEST = 1 << 28  # bytes
MOST_MEMBERS = 60_000  # what the end of a .zip can count
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}(/[a-z0-9][a-z0-9._-]{0,99}){0,4}")
_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_CENTRAL = struct.Struct("<4sHHHHHHIIIHHHHHII")
_END = struct.Struct("<4sHHHHIIH")
_DATE = (1 << 5) | 1  # 1980-01-01, the first that a .zip knows
_REMEDY = "The archive was changed after it was written: ask the host for the original."


class _Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    itinera: Literal["board"]
    format: Literal[1]
    title: str
    head: str  # digest of the last event
    files: dict[str, str]  # SHA-256 of every other file
    digest: str  # of this file with an empty digest

    @property
    def text(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self, order="deterministic"), indent=1) + b"\n"

    def seal(self) -> _Manifest:
        """The manifest with its digest."""
        return msgspec.structs.replace(self, digest=hashlib.sha256(_unsealed(self).text).hexdigest())


def _unsealed(manifest: _Manifest) -> _Manifest:
    return msgspec.structs.replace(manifest, digest="")


class _Entry(msgspec.Struct):
    """The part of an entry of `board.json` that the log states too."""

    id: str
    bundle: str
    fingerprint: str


class _Board(msgspec.Struct):
    entries: list[_Entry]


@dataclass(frozen=True)
class BoardArchive:
    """The content of a board archive without faults."""

    title: str
    head: str  # digest of the last event; everything before follows from it
    events: tuple[Event, ...]
    entries: frozenset[str]  # on the boards
    files: Mapping[str, bytes]

    @property
    def counts(self) -> dict[str, Any]:
        """Counts for a report."""
        logged = sum(event.kind == "entry" for event in self.events)
        secrets = sum(event.kind == "reveal" for event in self.events)
        days = sum(event.kind == "day" for event in self.events)
        return {
            "events": len(self.events),
            "entries in the log": logged,
            "entries on the board": len(self.entries),
            "days with a digest": days,
            "secrets revealed": secrets,
        }


def make_archive(title: str, files: Mapping[str, bytes], events: list[Event]) -> bytes:
    """The archive of a board: its files, the log, and a manifest with the digests of all."""
    reserved = {MANIFEST, EVENTS} & files.keys()
    if reserved:
        raise BadArgument(f"{sorted(reserved)[0]} is written by the archive itself; name the file otherwise.")
    content = {**files, EVENTS: encode_events(events)}
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(content.items())}
    manifest = _Manifest("board", 1, title, events[-1].digest if events else FIRST, digests, "").seal()
    return encode_archive({MANIFEST: manifest.text, **content})


def encode_archive(files: Mapping[str, bytes]) -> bytes:
    """The one .zip with these files; names are lower case, at most five deep."""
    _check_names(files)
    body, directory = bytearray(), bytearray()
    for name, data in sorted(files.items(), key=_order):
        encoded, crc, size = name.encode("ascii"), zlib.crc32(data), len(data)
        directory += _CENTRAL.pack(
            b"PK\x01\x02", 0x0314, 20, 0, 0, 0, _DATE, crc, size, size, len(encoded), 0, 0, 0, 0, 0o644 << 16, len(body)
        )
        directory += encoded
        body += _LOCAL.pack(b"PK\x03\x04", 20, 0, 0, 0, _DATE, crc, size, size, len(encoded), 0) + encoded + data
    end = _END.pack(b"PK\x05\x06", 0, 0, len(files), len(files), len(directory), len(body), 0)
    return bytes(body + directory + end)


def _order(item: tuple[str, bytes]) -> tuple[bool, str]:
    return item[0] != MANIFEST, item[0]


def _check_names(files: Mapping[str, bytes]) -> None:
    wrong = [name for name in files if not _NAME.fullmatch(name) or ".." in name]
    if wrong:
        raise BadArgument(f"{wrong[0][:100]!r} cannot be a file of a board: use a-z, 0-9, '.', '_', '-' and folders.")
    if len(files) > MOST_MEMBERS or sum(map(len, files.values())) > LARGEST:
        raise BadArgument(f"A board archive has at most {MOST_MEMBERS:,} files and {LARGEST >> 20} MiB.")
    folders = {str(parent) for name in files for parent in PurePosixPath(name).parents}
    if both := sorted(folders & files.keys()):
        raise BadArgument(f"{both[0]!r} would be a file and a folder of the board.")


def is_board_archive(path: Path) -> bool:
    """Whether a file is meant as a board archive, by its first bytes or its name."""
    if not path.is_file():
        return False
    with open_file(path) as stream:
        head = stream.read(256)
    return head[:2] == b"PK" and ((MANIFEST.encode() in head[:64] and b'"board"' in head) or path.name == "board.zip")


def read_archive(path: str | Path) -> dict[str, bytes]:
    """The files of a board archive; raises BadFile unless every byte is where the writer puts it."""
    source = str(path)
    with open_file(Path(path)) as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise BadFile(source, [Fault("", f"has more than {LARGEST >> 20} MiB.", "Check where it comes from.")])
    files, at = _parse(data, source)
    try:
        again = encode_archive(files)
    except BadArgument as error:
        raise BadFile(source, [Fault("", str(error))]) from None
    if again != data:
        _raise_first_fault(files, source)  # says more than a position does
        length = min(len(again), len(data))
        place = next((i for i in range(length) if again[i] != data[i]), length)
        inside = next((name for name, start in reversed(at.items()) if start <= place), "")
        problem = f"is not what the writer puts there{f' (member {inside})' if inside else ''}."
        raise BadFile(source, [Fault(f"byte {place}", problem, _REMEDY)])
    return files


def _parse(data: bytes, source: str) -> tuple[dict[str, bytes], dict[str, int]]:
    """The members in the order of the file, and where each begins."""
    files: dict[str, bytes] = {}
    starts: dict[str, int] = {}
    at = 0
    while data[at : at + 4] not in (b"PK\x01\x02", b"PK\x05\x06"):
        try:
            signature, _, _, method, *_, size, _, name_length, extra = _LOCAL.unpack_from(data, at)
        except struct.error:
            signature, method, size, name_length, extra = b"", 0, 0, 0, 0
        begin = at + _LOCAL.size + name_length
        name = data[begin - name_length : begin].decode("ascii", "replace")
        end = begin + size
        if signature != b"PK\x03\x04" or method or extra or end > len(data) or name in files:
            problem = "no file of a board archive begins here, or it is compressed, cut short or there twice."
            raise BadFile(source, [Fault(f"byte {at}", problem, _REMEDY)])
        starts[name], files[name] = at, data[begin:end]
        at = end
    return files, starts


def _raise_first_fault(files: Mapping[str, bytes], source: str) -> None:
    """Raise BadFile where the content itself shows what was changed."""
    if MANIFEST in files and EVENTS in files:
        _check_content(files, source)


def check_archive(path: str | Path, *, earlier: str | Path | None = None) -> BoardArchive:
    """The content of a board archive after verification of everything that can be verified without its host.

    Every byte, every digest, the chain of events with its daily digests and revealed secrets, and that each entry on a
    board is in the log with its bundle and its judgement. Raises BadFile for the first thing that is wrong.

    earlier: an archive of the same board that you kept; its whole log must be the beginning of this one's.
    """
    found = _check_content(read_archive(path), str(path))
    if earlier is not None:
        known = _check_content(read_archive(earlier), str(earlier)).events
        for mine, theirs in zip(known, (*found.events, *[None] * len(known)), strict=False):
            if theirs is None or mine.digest != theirs.digest:
                problem = f"is not that of {earlier}: an event was changed or left out since."
                where = f"{EVENTS}, line {mine.number + 1}"
                raise BadFile(str(path), [Fault(where, problem, "Ask the host why.")])
    return found


def _check_content(files: Mapping[str, bytes], source: str) -> BoardArchive:
    manifest = _read_manifest(files, source)
    events = check_events(files[EVENTS], f"{source}, {EVENTS}", head=manifest.head)
    faults = [
        Fault(name, "is not the file that the manifest states.", _REMEDY)
        for name, digest in manifest.files.items()
        if name not in files or hashlib.sha256(files[name]).hexdigest() != digest
    ]
    faults += [Fault(name, "is not in the manifest.", _REMEDY) for name in files.keys() - manifest.files.keys()]
    faults = [fault for fault in faults if fault.where != MANIFEST]
    if faults:
        raise BadFile(source, faults)
    entries = _check_boards(files, events, source)
    return BoardArchive(manifest.title, manifest.head, tuple(events), entries, files)


def _read_manifest(files: Mapping[str, bytes], source: str) -> _Manifest:
    problem = "is not in the archive."
    if MANIFEST in files and EVENTS in files:
        try:
            manifest = msgspec.json.decode(files[MANIFEST], type=_Manifest)
            if manifest.text == files[MANIFEST] and manifest == manifest.seal():
                return manifest
            problem = "does not have the digest that it states."
        except UNDECODABLE as error:
            problem = f"cannot be read ({error})."
    name = EVENTS if MANIFEST in files and EVENTS not in files else MANIFEST
    raise BadFile(source, [Fault(name, problem, _REMEDY)])


def _check_boards(files: Mapping[str, bytes], events: list[Event], source: str) -> frozenset[str]:
    """The entries of all boards; raises BadFile for those that the log does not have as they are shown."""
    by_entry = group_by_entry(events)
    shown: set[str] = set()
    faults = []
    for name in (name for name in files if name.rpartition("/")[2] == BOARD):
        try:
            board = msgspec.json.decode(files[name], type=_Board)
        except UNDECODABLE as error:
            raise BadFile(source, [Fault(name, f"is no board ({error}).", _REMEDY)]) from None
        for entry in board.entries:
            shown.add(entry.id)
            if problem := _contradiction(entry, by_entry.get(entry.id, [])):
                faults.append(Fault(f'{name}, entry "{entry.id}"', problem, "Ask the host why."))
    if faults:
        raise BadFile(source, faults)
    return frozenset(shown)


def _contradiction(entry: _Entry, events: list[Event]) -> str:
    """How the log contradicts an entry on a board, or nothing."""
    received = [event for event in events if event.kind == "entry"]
    if len(received) != 1:
        return "is not in the log." if not received else "is in the log more than once."
    if received[0].about.get("bundle") != entry.bundle:
        return "has another bundle in the log."
    judgements = [event.about.get("fingerprint") for event in events if event.kind == "judgement"]
    return "" if entry.fingerprint in judgements else "has no judgement with its fingerprint in the log."
