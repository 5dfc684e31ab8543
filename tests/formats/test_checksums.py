"""Digests that were noted, beside the files they were noted of."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from itinera.errors import BadFile
from itinera.formats.checksums import read_digests
from itinera.records.provenance import digest


def test_sums_are_read_as_sha256sum_writes_them(tmp_path: Path) -> None:
    (tmp_path / "a b.json").write_text("[]")
    told = sha256(b"[]").hexdigest()
    sums = tmp_path / "SHA256SUMS"
    sums.write_text(f"{told}  a b.json\n\n{told.upper()} *a b.json\n{told}  gone.json\n")
    here, gone = read_digests(sums)
    assert here.is_right()
    assert gone.file == tmp_path / "gone.json"
    (tmp_path / "a b.json").write_text("[1]")
    assert not here.is_right()


def test_a_season_notes_its_files(tmp_path: Path) -> None:
    (tmp_path / "rooms.csv").write_text("scan,viewpoint,label\n")
    season = tmp_path / "season.json"
    season.write_text(json.dumps({"itinera": "season", "files": {"rooms.csv": digest(tmp_path / "rooms.csv")}}))
    (noted,) = read_digests(season)
    assert noted.is_right()
    (tmp_path / "rooms.csv").write_text("")
    assert not noted.is_right()


@pytest.mark.parametrize("text", ["{", "[]", '{"itinera": "predictions", "files": {}}', '{"files": {}}', ""])
def test_a_season_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "season.json").write_text(text)
    with pytest.raises(BadFile):
        read_digests(tmp_path / "season.json")


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/../../b"])
def test_names_that_lead_out_of_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  {name}\n")
    with pytest.raises(BadFile, match="lies outside the folder"):
        read_digests(tmp_path / "SHA256SUMS")


def test_every_line_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 63}  a\n{'0' * 64}  b\nb\n")
    with pytest.raises(BadFile) as refused:
        read_digests(tmp_path / "SHA256SUMS")
    assert [fault.where for fault in refused.value.faults] == ["line 1", "line 3"]


def test_names_with_nul_are_refused(tmp_path: Path) -> None:
    (tmp_path / "season.json").write_text(json.dumps({"itinera": "season", "files": {"a\0b": "ab"}}))
    with pytest.raises(BadFile, match="lies outside the folder"):
        read_digests(tmp_path / "season.json")


def test_a_pipe_has_not_the_digest_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "SHA256SUMS").write_text(f"{'ab' * 32}  pipe\n")
    assert not read_digests(tmp_path / "SHA256SUMS")[0].is_right()
