"""Board archives: one byte changed anywhere is found, and hostile archives are refused."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import itinera
from itinera.errors import BadArgument, BadFile
from itinera.formats.board_archive import check_archive, encode_archive, make_archive, read_archive
from itinera.formats.event_log import Event, daily_digest, next_event

NAMED = r"(manifest\.json|index\.html|board\.json|events\.jsonl): |byte \d+|' cannot be a file"
NOON = datetime(2026, 11, 19, 12, 0, tzinfo=UTC)
SECRET = bytes(range(32))


def a_log() -> list[Event]:
    content: list[tuple[str, dict]] = [
        ("season", {"name": "May", "commitment": hashlib.sha256(SECRET).hexdigest()}),
        ("entry", {"entry": "e1", "bundle": "b" * 64}),
        ("judgement", {"entry": "e1", "fingerprint": "f1"}),
    ]
    log: list[Event] = []
    for kind, about in content:
        log.append(next_event(log[-1] if log else None, kind, about, at=NOON, by="host"))
    later = NOON + timedelta(days=1)
    log.append(next_event(log[-1], "day", daily_digest("2026-11-19", log), at=later, by="host"))
    log.append(next_event(log[-1], "reveal", {"name": "May", "secret": SECRET.hex()}, at=later, by="host"))
    return log


def a_board(**changes: str) -> bytes:
    entry = {"id": "e1", "bundle": "b" * 64, "fingerprint": "f1", "team": "Blue"} | changes
    return json.dumps({"title": "May", "entries": [entry]}).encode()


def an_archive(board: bytes | None = None, log: list[Event] | None = None) -> bytes:
    files = {"test/board.json": board or a_board(), "index.html": b"<!doctype html>\n"}
    return make_archive("May 2026", files, log or a_log())


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "board.zip"
    path.write_bytes(an_archive())
    return path


def test_an_archive_is_a_zip_that_others_read(archive: Path):
    with zipfile.ZipFile(archive) as other:
        assert other.testzip() is None
        assert other.namelist() == ["manifest.json", "events.jsonl", "index.html", "test/board.json"]
        assert other.read("index.html") == b"<!doctype html>\n"
    assert read_archive(archive)["test/board.json"] == a_board()


def test_a_right_archive_is_reported_with_the_end_of_its_log(archive: Path):
    report = itinera.check(archive)
    assert (report.format, report.kind) == ("board", "board")
    assert report.counts == {
        "events": 5, "entries in the log": 1, "entries on the board": 1, "days with a digest": 1, "secrets revealed": 1,
    }  # fmt: skip
    assert a_log()[-1].digest in str(report)
    assert str(report).endswith("1 day with a digest, 1 secret revealed. No faults.")


def test_every_byte_counts(archive: Path):
    """Each byte is changed in turn. Within the log, the line is named, elsewhere the file or the byte."""
    original = archive.read_bytes()
    log = original.index(b'{"number":0')
    size = len(read_archive(archive)["events.jsonl"])
    changed = bytearray(original)
    for at in range(len(original)):
        changed[at] ^= 1 << (at % 8)
        archive.write_bytes(changed)
        changed[at] = original[at]
        with pytest.raises(BadFile) as raised:
            check_archive(archive)
        message = str(raised.value)
        if log <= at < log + size:
            line = original[log:at].count(b"\n") + 1
            assert f"events.jsonl: line {line}: " in message, at
        else:
            assert re.search(NAMED, message), message


def test_every_shorter_archive_is_refused(archive: Path):
    original = archive.read_bytes()
    for length in range(0, len(original), 7):
        archive.write_bytes(original[:length])
        with pytest.raises(BadFile):
            check_archive(archive)
    archive.write_bytes(original + b"\0")
    with pytest.raises(BadFile, match=f"byte {len(original)}: is not what the writer puts there"):
        check_archive(archive)


@pytest.mark.parametrize(
    ("board", "problem"),
    [
        (a_board(bundle="c" * 64), "has another bundle in the log"),
        (a_board(fingerprint="f2"), "has no judgement with its fingerprint in the log"),
        (a_board(id="e2"), "is not in the log"),
        (b"[]", "test/board.json: is no board"),
        (b"[" * 200_000, "test/board.json: is no board"),
    ],
)
def test_a_board_that_shows_something_else_than_the_log_is_refused(archive: Path, board: bytes, problem: str):
    archive.write_bytes(an_archive(board))
    with pytest.raises(BadFile, match=problem):
        check_archive(archive)


def test_an_entry_that_is_logged_twice_is_refused(archive: Path):
    log = a_log()
    twice = next_event(log[-1], "entry", {"entry": "e1", "bundle": "b" * 64}, at=log[-1].at, by="host")
    archive.write_bytes(an_archive(log=[*log, twice]))
    with pytest.raises(BadFile, match="is in the log more than once"):
        check_archive(archive)


def test_a_later_archive_must_continue_an_earlier_one(archive: Path, tmp_path: Path):
    log = a_log()
    later, forged, shorter = (tmp_path / f"{name}.zip" for name in ("later", "forged", "shorter"))
    more = next_event(log[-1], "entry", {"entry": "e2", "bundle": "d" * 64}, at=log[-1].at, by="host")
    later.write_bytes(an_archive(log=[*log, more]))
    assert len(check_archive(later, earlier=archive).events) == 6
    # A host who rewrites the whole log can make a consistent archive, but not one that continues what others kept.
    rewritten = [next_event(None, "season", {"name": "May", "commitment": "0" * 64}, at=NOON, by="host")]
    for event in log[1:3]:
        rewritten.append(next_event(rewritten[-1], event.kind, event.about, at=event.at, by="host"))
    forged.write_bytes(an_archive(log=rewritten))
    assert check_archive(forged)
    with pytest.raises(BadFile, match=r"events.jsonl, line 1: is not that of .*board.zip"):
        itinera.check(forged, earlier=archive)
    shorter.write_bytes(an_archive(log=log[:3]))
    with pytest.raises(BadFile, match=r"events.jsonl, line 4: is not that of"):
        check_archive(shorter, earlier=archive)


def test_only_board_archives_have_an_earlier_one(archive: Path, tmp_path: Path):
    (tmp_path / "tasks.json").write_text("[]")
    with pytest.raises(BadArgument, match="Only board archives can be compared"):
        itinera.check(tmp_path / "tasks.json", earlier=archive)


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "a/../b", "A.html", "a\\b", "", "x" * 200, ".x", "a//b", "con:"]
)
def test_names_that_lead_elsewhere_are_neither_written_nor_read(archive: Path, name: str):
    with pytest.raises(BadArgument, match="cannot be a file of a board"):
        encode_archive({name: b""})
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as other:
        other.writestr("manifest.json", '{"itinera":"board"}')
        other.writestr(name or "x?", b"")
    archive.write_bytes(stream.getvalue())
    with pytest.raises(BadFile):
        check_archive(archive)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_that_grow_are_refused(archive: Path, method: int):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as other:
        other.writestr("manifest.json", bytes(1 << 24))
    archive.write_bytes(stream.getvalue())
    with pytest.raises(BadFile, match="byte 0: no file of a board archive begins here, or it is compressed"):
        check_archive(archive)


def test_doubles_and_files_that_are_folders_are_refused(archive: Path):
    original = archive.read_bytes()
    first = original[: original.index(b"PK\x03\x04", 4)]
    archive.write_bytes(first + original)
    with pytest.raises(BadFile, match="or it is compressed, cut short or there twice"):
        check_archive(archive)
    with pytest.raises(BadArgument, match="'a' would be a file and a folder"):
        encode_archive({"a": b"", "a/b": b""})
    with pytest.raises(BadArgument, match=r"manifest\.json is written by the archive itself"):
        make_archive("x", {"manifest.json": b""}, a_log())


def test_archives_are_the_same_bytes_every_time():
    assert an_archive() == an_archive()
    assert hashlib.sha256(encode_archive({"a": b"x", "manifest.json": b"{}"})).hexdigest()[:16] == "fae5353b6639b850"
