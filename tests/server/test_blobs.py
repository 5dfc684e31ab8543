"""Uploaded files: resumable, idempotent, and never under a name that is not their digest."""

from __future__ import annotations

import hashlib
import os
import time

import pytest

from itinera.server.blobs import MAX_UNFINISHED, STALE_SECONDS, BlobFolder
from itinera.server.refusals import Conflict, NotFound, RefusedRequest, TooLarge

CONTENT = bytes(range(256)) * 40
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def blobs(tmp_path):
    return BlobFolder(tmp_path)


def upload(blobs, content, digest=DIGEST, *, offset=0, total=10240, owner="team1"):
    with blobs.append(digest, owner, offset=offset, total=total) as target:
        target.write(content)


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_an_upload_that_broke_off_continues_where_it_stands(blobs, tmp_path):
    def break_off():
        with blobs.append(DIGEST, "team1", offset=0, total=len(CONTENT)) as target:
            target.write(CONTENT[:1000])
            raise ConnectionError

    with pytest.raises(ConnectionError):
        break_off()
    assert blobs.size(DIGEST) is None
    assert blobs.count_received(DIGEST, "team1") == 1000
    assert blobs.count_received(DIGEST, "team2") == 0
    with pytest.raises(Conflict, match="stands at byte 1000, not 0"):
        upload(blobs, CONTENT)
    upload(blobs, CONTENT[1000:], offset=1000)
    assert blobs.complete(DIGEST, "team1") == len(CONTENT)
    assert files(tmp_path) == [f"blobs/{DIGEST[:2]}/{DIGEST}"]
    with blobs.open(DIGEST) as stream:
        assert stream.read() == CONTENT


def test_uploading_twice_is_uploading_once(blobs, tmp_path):
    for owner in ("team1", "team1", "team2"):
        upload(blobs, CONTENT, owner=owner)
        assert blobs.complete(DIGEST, owner) == len(CONTENT)
    assert len(files(tmp_path)) == 1
    assert blobs.complete(DIGEST, "team3") == len(CONTENT)  # which a faster connection has completed


def test_other_bytes_do_not_get_the_name_and_can_be_sent_again(blobs, tmp_path):
    upload(blobs, b"x" + CONTENT[1:])
    with pytest.raises(Conflict, match="upload the file again"):
        blobs.complete(DIGEST, "team1")
    assert files(tmp_path) == []
    upload(blobs, CONTENT)
    assert blobs.complete(DIGEST, "team1") == len(CONTENT)


def test_more_bytes_than_declared_are_refused(blobs):
    with pytest.raises(TooLarge, match="declared 100 bytes"):
        upload(blobs, CONTENT, total=100)


def test_two_connections_cannot_write_one_upload(blobs):
    with blobs.append(DIGEST, "team1", offset=0, total=10), pytest.raises(Conflict, match="Another connection"):
        upload(blobs, b"x")


@pytest.mark.parametrize("name", ["", "..", "../../etc/passwd", DIGEST.upper(), DIGEST[:-1], DIGEST + "\n", "/" * 64])
def test_a_name_that_is_no_digest_reaches_no_file(blobs, name):
    for use in (
        blobs.size,
        blobs.open,
        lambda name: blobs.count_received(name, "team1"),
        lambda name: upload(blobs, b"", name),
    ):
        with pytest.raises(RefusedRequest, match="64 hexadecimal digits"):
            use(name)


def test_a_missing_blob_is_not_found(blobs):
    with pytest.raises(NotFound):
        blobs.open(DIGEST)


def test_unfinished_uploads_are_limited_and_removed_after_a_day(blobs):
    names = [hashlib.sha256(bytes([n])).hexdigest() for n in range(MAX_UNFINISHED + 1)]
    for name in names[:-1]:
        upload(blobs, b"x", name)
    with pytest.raises(RefusedRequest, match="unfinished uploads"):
        upload(blobs, b"x", names[-1])
    upload(blobs, b"x", names[0], offset=1)  # one of them may go on
    upload(blobs, b"x", names[-1], owner="team2")
    part = next(path for path in (blobs._unfinished).iterdir() if names[0] in path.name)
    os.utime(part, (0, time.time() - STALE_SECONDS - 60))
    assert blobs.remove_stale() == 1
    assert blobs.count_received(names[0], "team1") == 0
    assert blobs.count_received(names[1], "team1") == 1


def test_a_full_disk_is_an_error_of_this_upload_only(blobs, monkeypatch, tmp_path):
    def full(stream):
        raise OSError(28, "No space left on device")

    upload(blobs, CONTENT)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        blobs.complete(DIGEST, "team1")
    assert blobs.size(DIGEST) is None
    monkeypatch.undo()
    assert blobs.complete(DIGEST, "team1") == len(CONTENT)
