"""Bytes that are read: compressed, archived, cut short, hostile."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import socket
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats import io as own_io
from itinera.formats.io import BELIEVED, FaultList, check_outputs, members, open_stream, read_bytes
from itinera.formats.writing import write_members

TEXT = b"the quick brown fox\n" * 50


@pytest.mark.parametrize("packed", [bytes, gzip.compress, lzma.compress])
def test_content_is_unpacked_whatever_the_name(tmp_path: Path, packed: Callable[[bytes], bytes]) -> None:
    (tmp_path / "plain.txt").write_bytes(packed(TEXT))
    assert read_bytes(tmp_path / "plain.txt") == TEXT
    with open_stream(tmp_path / "plain.txt") as stream:
        assert list(iter(stream.readline, b"")) == TEXT.splitlines(keepends=True)


@pytest.mark.parametrize("packed", [gzip.compress, lzma.compress])
@pytest.mark.parametrize("kept", [12, 40, -1])
def test_a_compressed_file_cut_short_is_told(tmp_path: Path, packed: Callable[[bytes], bytes], kept: int) -> None:
    (tmp_path / "cut").write_bytes(packed(os.urandom(100) + TEXT)[:kept])
    with pytest.raises(BadFile, match=r"cut: the compressed data is cut short or damaged .*\n  Copy or download"):
        read_bytes(tmp_path / "cut")


def test_one_damaged_byte_is_told(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(os.urandom(1000)))
    packed[500] ^= 0xFF
    (tmp_path / "x").write_bytes(packed)
    with pytest.raises(BadFile, match="cut short or damaged"):
        read_bytes(tmp_path / "x")


def test_what_is_not_there_or_not_a_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="nowhere: there is no such file"):
        read_bytes(tmp_path / "nowhere")
    with pytest.raises(BadFile, match="is a folder where a file is expected"):
        read_bytes(tmp_path)


def test_a_limit_holds_for_plain_files_too(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(3 << 20))
    assert len(read_bytes(tmp_path / "x", limit=3 << 20)) == 3 << 20
    with pytest.raises(BadFile, match="holds more than 2 MiB"):
        read_bytes(tmp_path / "x", limit=2 << 20)


def gz_bomb(path: Path, unpacked: int) -> Path:
    path.write_bytes(gzip.compress(bytes(1 << 20)) * (unpacked >> 20))  # what follows a whole gz continues it
    return path


def zip_bomb(path: Path, unpacked: int) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.json", bytes(unpacked))
    return path


def sparse_tar(path: Path, unpacked: int) -> Path:
    """An archive of one member that is all hole, as GNU tar --sparse writes it."""
    head = tarfile.TarInfo("x.json")
    head.type, head.size = tarfile.GNUTYPE_SPARSE, 0
    block = bytearray(head.tobuf(tarfile.GNU_FORMAT))
    block[483:495] = f"{unpacked:011o}\0".encode()  # the size with its holes
    block[148:156] = b" " * 8
    block[148:156] = f"{sum(block):06o}\0 ".encode()
    path.write_bytes(bytes(block) + bytes(1024))
    return path


BOMBS: dict[str, tuple[Callable[[Path, int], Path], str, str]] = {
    "gz": (gz_bomb, "read_bytes(path)", "holds more than 16 MiB once unpacked"),
    "gz by lines": (gz_bomb, "with open_stream(path) as stream: list(iter(stream.readline, b''))", "MiB once unpacked"),
    "zip": (zip_bomb, "members(path, '.json')['x.json'].read()", "MiB once unpacked"),
    "sparse tar": (sparse_tar, "members(path, '.json')['x.json'].read()", "is sparse"),
}
READING = """
import sys
from pathlib import Path
from itinera.errors import BadFile
from itinera.formats.io import members, open_stream, read_bytes
path = Path(sys.argv[1])
try:
    {}
except BadFile as error:
    print(error)
# The peak of this process alone: getrusage would count what its parent held when it was born.
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


@pytest.mark.parametrize(("make", "read", "said"), BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_is_stopped_before_it_fills_the_memory(
    tmp_path: Path, make: Callable[[Path, int], Path], read: str, said: str
) -> None:
    unpacked = 256 << 20
    path = make(tmp_path / "bomb", unpacked)
    assert path.stat().st_size < unpacked // 500
    done = subprocess.run(
        [sys.executable, "-c", READING.format(read), str(path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
    )
    problem, remedy, peak = done.stdout.splitlines()
    assert said in problem
    assert "Check where the" in remedy
    assert int(peak) << 10 < unpacked * 0.75  # an interpreter, and as much as is believed


def test_content_that_shrinks_as_real_files_do_is_no_bomb(tmp_path: Path) -> None:
    text = b"".join(b'{"instr_id": "%d_0", "trajectory": []}\n' % i for i in range(500_000))
    assert len(text) > BELIEVED
    (tmp_path / "x.gz").write_bytes(gzip.compress(text, 1))
    assert read_bytes(tmp_path / "x.gz") == text


CONTENT = {"a_x.json": b"1", "b_x.json": b"22", "readme.txt": b"no"}


@pytest.mark.parametrize("name", ["folder", "f.zip", "f.tar", "f.tar.gz", "f.tar.xz"])
def test_folders_and_archives_give_back_what_was_put_in(tmp_path: Path, name: str) -> None:
    write_members(tmp_path / name, CONTENT)
    found = members(tmp_path / name, "_x.json")
    assert {member: found[member].read() for member in found} == {"a_x.json": b"1", "b_x.json": b"22"}


@pytest.mark.parametrize("name", ["f.zip", "f.tar", "f.tar.gz", "f.tar.xz"])
def test_archives_of_equal_content_are_equal(tmp_path: Path, name: str) -> None:
    for folder in ("one", "two"):
        write_members(tmp_path / folder / name, CONTENT)
    assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize("name", ["f.zip", "f.tar.gz", "f.tar.xz"])
def test_an_archive_cut_short_is_told(tmp_path: Path, name: str) -> None:
    write_members(tmp_path / name, {"a_x.json": os.urandom(5000)})
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadFile, match=r"cut short or damaged|neither a folder nor a whole"):
        members(tmp_path / name, "_x.json")


def test_a_damaged_member_of_a_zip_is_named(tmp_path: Path) -> None:
    write_members(tmp_path / "f.zip", {"a_x.json": os.urandom(5000)})
    data = bytearray((tmp_path / "f.zip").read_bytes())
    data[2000] ^= 0xFF
    (tmp_path / "f.zip").write_bytes(data)
    found = members(tmp_path / "f.zip", "_x.json")
    with pytest.raises(BadFile, match=r"f\.zip: a_x\.json: is damaged"):
        found["a_x.json"].read()


def test_a_locked_member_of_a_zip_is_named(tmp_path: Path) -> None:
    write_members(tmp_path / "f.zip", {"a_x.json": b"1"})
    data = (tmp_path / "f.zip").read_bytes()
    central = data.index(b"PK\x01\x02")
    locked = bytearray(data)
    locked[6] |= 1  # "encrypted", in the member's own header and in the directory's
    locked[central + 8] |= 1
    (tmp_path / "f.zip").write_bytes(locked)
    with pytest.raises(BadFile, match=r"a_x\.json: is damaged .*encrypted"):
        members(tmp_path / "f.zip", "_x.json")["a_x.json"].read()


def test_members_that_point_outside_stay_inside(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, kind in (("../../up_x.json", tarfile.REGTYPE), ("link_x.json", tarfile.SYMTYPE)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry, io.BytesIO())
    (tmp_path / "f.tar").write_bytes(stream.getvalue())
    assert list(members(tmp_path / "f.tar", "_x.json")) == ["up_x.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["f.tar"]


def test_rubbish_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "f.zip").write_bytes(b"rubbish" * 200)
    with pytest.raises(BadFile, match="neither a folder nor a whole"):
        members(tmp_path / "f.zip", ".json")


@pytest.mark.parametrize("read", [read_bytes, lambda path: members(path, ".json")], ids=["file", "archive"])
def test_pipes_sockets_and_devices_are_refused_without_waiting(tmp_path: Path, read: Callable[[Path], object]) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for path in (tmp_path / "pipe", tmp_path / "socket", Path("/dev/zero"), Path("/dev/null")):
            with pytest.raises(BadFile, match="is a pipe, socket or device, which may never end"):
                read(path)


@pytest.mark.parametrize("read", [read_bytes, lambda path: members(path, ".json")], ids=["file", "archive"])
@pytest.mark.parametrize(
    ("name", "said"),
    [("a\0b", "cannot be the name of a file"), ("a\ud800", "cannot be the name"), ("a" * 5000, "File name too long")],
)
def test_paths_that_no_file_can_have_are_refused(
    tmp_path: Path, read: Callable[[Path], object], name: str, said: str
) -> None:
    with pytest.raises(BadFile, match=said):
        read(tmp_path / name)


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_io, "LONGEST_LINE", 100)
    (tmp_path / "f").write_bytes(b"a" * 99 + b"\n" + b"b" * 101)
    with open_stream(tmp_path / "f") as stream:
        assert len(stream.readline()) == 100
        with pytest.raises(BadFile, match="has a line of more than"):
            stream.readline()


@pytest.mark.parametrize("name", ["all.zip", "all.tar"])
def test_an_archive_of_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(own_io, "MOST_MEMBERS", 2)
    write_members(tmp_path / name, {f"{i}.json": b"" for i in range(3)})
    with pytest.raises(BadFile, match="contains more than 2 files"):
        members(tmp_path / name, ".json")


def test_the_members_of_a_tar_together_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_members(tmp_path / "all.tar", {f"{i}.json": bytes(60) for i in range(2)})
    monkeypatch.setattr(own_io, "LARGEST", 100)
    with pytest.raises(BadFile, match=r"1\.json: holds more than"):
        members(tmp_path / "all.tar", ".json", limit=1 << 20)


def test_links_and_devices_in_a_tar_are_not_followed(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "all.tar", "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            entry = tarfile.TarInfo(f"{kind.decode()}.json")
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
    assert members(tmp_path / "all.tar", ".json") == {}


def test_outputs_are_neither_inputs_nor_written_twice(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"")
    os.link(tmp_path / "x", tmp_path / "hard")
    (tmp_path / "soft").symlink_to(tmp_path / "x")
    for name in ("x", "hard", "soft", "../" + tmp_path.name + "/x"):
        with pytest.raises(BadArgument, match="would be overwritten"):
            check_outputs([tmp_path / name], [None, object(), tmp_path / "x"])
        with pytest.raises(BadArgument, match="would be written twice"):
            check_outputs([tmp_path / name, str(tmp_path / "x")])
    with pytest.raises(BadArgument, match="would be written twice"):
        check_outputs([tmp_path / "new", tmp_path / "new"])
    check_outputs([tmp_path / "new", None, "/dev/null", "/dev/null"], [tmp_path / "x", "/dev/null"])


def test_a_list_of_faults_stops_at_its_limit_and_says_that_there_are_more() -> None:
    seen: list[int] = []

    def faults() -> Iterator[Fault]:
        for i in range(10**9):  # as many as the lines of a hostile file
            seen.append(i)
            yield Fault(f"line {i}", "is odd.")

    with pytest.raises(BadFile) as error:
        FaultList("f", faults())
    assert len(error.value.faults) == FaultList.max_length == len(seen) - 1
    assert str(error.value).splitlines()[-1] == "f: and at least 980 more faults of this file."


def test_a_list_of_few_faults_is_raised_when_asked() -> None:
    faults = FaultList("f", [Fault("line 1", "is odd.")])
    faults += [Fault("line 2", "is odd.")]
    with pytest.raises(BadFile, match=r"^f: line 1: is odd\.\nf: line 2: is odd\.$"):
        faults.raise_any()
    FaultList("f").raise_any()
