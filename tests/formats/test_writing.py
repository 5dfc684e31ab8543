"""Writes that happen whole or not at all, on the disk, under plain names."""

from __future__ import annotations

import gzip
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from itinera.errors import BadArgument, BadFile
from itinera.formats.writing import atomic_write, check_file_name, write_members

TEXT = b"the quick brown fox\n" * 50


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"old")

    def write_half() -> None:
        with atomic_write(tmp_path / name) as stream:
            stream.write(b"half of the new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == b"old"


def test_until_a_write_is_done_the_old_file_is_whole(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"old")
    with atomic_write(tmp_path / "x") as stream:
        stream.write(b"new")
        stream.flush()
        assert (tmp_path / "x").read_bytes() == b"old"
    assert (tmp_path / "x").read_bytes() == b"new"


def test_written_files_have_the_usual_permissions(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "x") as stream:
        stream.write(b"new")
    (tmp_path / "usual").write_bytes(b"")
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("name", ["folder", "file/x"])
def test_what_cannot_be_written_is_told_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with (
        pytest.raises(BadFile, match=rf"{name}: cannot be written .*\n  Check the name"),
        atomic_write(tmp_path / name) as stream,
    ):
        stream.write(b"x")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]


def test_a_written_file_is_on_the_disk_before_it_has_its_name_and_its_name_is_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = []
    sync, replace = os.fsync, Path.replace

    def record_sync(handle: int) -> None:
        events.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else os.fstat(handle).st_size)
        sync(handle)

    def record_replace(draft: Path, path: Path) -> Path:
        events.append(path.name)
        return replace(draft, path)

    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(Path, "replace", record_replace)
    with atomic_write(tmp_path / "a" / "b" / "x") as stream:
        stream.write(b"new")
    assert events == ["folder", "folder", 3, "x", "folder"]  # a and b are new


def test_the_next_write_removes_the_draft_of_a_process_that_was_killed(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path; from itinera.formats.writing import atomic_write\n"
        "with atomic_write(Path(sys.argv[1])) as stream:\n"
        "    stream.write(b'half'); stream.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([sys.executable, "-c", program, str(tmp_path / "x")], env=environment, check=False)
    assert killed.returncode == -9
    assert [path.name for path in tmp_path.iterdir()] == [".x.part"]
    with atomic_write(tmp_path / "x") as stream:
        stream.write(b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("x", b"new")]


def test_two_writes_of_one_file_at_once_do_not_mix(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "x") as first:
        first.write(b"first")
        with atomic_write(tmp_path / "x") as second:
            second.write(b"second")
        assert (tmp_path / "x").read_bytes() == b"second"
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("x", b"first")]


def test_a_link_in_the_place_of_a_draft_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"mine")
    (tmp_path / ".x.part").symlink_to(tmp_path / "other")
    with atomic_write(tmp_path / "x") as stream:
        stream.write(b"new")
    assert ((tmp_path / "x").read_bytes(), (tmp_path / "other").read_bytes()) == (b"new", b"mine")


def test_equal_content_gives_equal_compressed_bytes(tmp_path: Path) -> None:
    for name in ("one.gz", "two.gz"):
        with atomic_write(tmp_path / name) as stream:
            stream.write(TEXT)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.gz").read_bytes()) == TEXT
    assert b"one" not in (tmp_path / "one.gz").read_bytes()


ODD_NAMES = ("", ".", "..", ".hidden", "../../x", "/etc/x", "a/b", "a\\b", "C:x", "a\0b", "a\nb", "a\x1b[2J",
             "\u202ea", "a\ud800", "CON",
             "nul.json", "Com1.csv", "lpt¹", "a.", "a ", "a?", "a" * 201, "é" * 101)  # fmt: skip


@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_that_lead_elsewhere_or_cannot_be_written_are_refused(name: str) -> None:
    with pytest.raises(BadArgument, match="cannot be the name of a file"):
        check_file_name(name)


@pytest.mark.parametrize("name", ["a", "17DRP5sb8fy_connectivity.json", "häuser 2.house", "console.json", "a" * 200])
def test_ordinary_names_are_kept(name: str) -> None:
    assert check_file_name(name) == name


@pytest.mark.parametrize("archive", ["folder", "all.zip", "all.tar", "all.tar.gz"])
def test_no_member_is_written_if_one_has_an_odd_name(tmp_path: Path, archive: str) -> None:
    with pytest.raises(BadArgument, match="cannot be the name of a file"):
        write_members(tmp_path / "out" / archive, {"a.json": b"", "../../x.json": b""})
    assert list(tmp_path.iterdir()) == []


def test_a_symbolic_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")
    with atomic_write(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "file").read_bytes() == b"new"


def test_devices_are_written_and_never_replaced() -> None:
    with atomic_write(Path("/dev/null")) as stream:
        stream.write(b"new")
    assert Path("/dev/null").is_char_device()


def test_a_pipe_is_written_if_somebody_reads_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(BadFile, match="cannot be written"), atomic_write(pipe):
        pass
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with atomic_write(pipe) as stream:
        stream.write(b"new")
    assert os.read(reader, 9) == b"new"
    os.close(reader)


def test_a_long_name_can_be_written_and_nul_cannot(tmp_path: Path) -> None:
    with atomic_write(tmp_path / ("x" * 250)) as stream:
        stream.write(b"new")
    assert [len(path.name) for path in tmp_path.iterdir()] == [250]
    with pytest.raises(BadFile, match="cannot contain a NUL character"), atomic_write(tmp_path / "a\0b"):
        pass


def test_a_new_file_is_on_disk_with_its_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.path.realpath(f"/proc/self/fd/{number}")))
    with atomic_write(tmp_path / "x") as stream:
        stream.write(b"new")
    assert Path(synced[0]).parent == tmp_path
    assert synced[1:] == [str(tmp_path)]
