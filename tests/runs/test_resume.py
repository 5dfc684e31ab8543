"""The resumable writer: nothing whole is lost, nothing broken is kept."""

from __future__ import annotations

import gzip
import logging
import os
import subprocess
import sys
from io import FileIO

import pytest

from itinera.errors import BadArgument, BadFile
from itinera.formats.native import Header, header_line
from itinera.formats.native_predictions import decode_rollout, encode_rollout, read_predictions
from itinera.formats.provenance import check_sidecar
from itinera.records import Provenance, Rollout, Trajectory
from itinera.runs import resume
from itinera.runs.resume import ResumableWriter, exclusive_lock, plan_fingerprint
from itinera.tasks.protocol import R2R

ROLLOUTS = [Rollout(f"t{k}", (Trajectory(f"e{k}", ("a", "b")),)) for k in range(5)]
PROVENANCE = Provenance("1", inputs={}, digests={})
KIND = "predictions"


def record(number):
    return encode_rollout(ROLLOUTS[number]) + b"\n"


def finish(path, *orders):
    """The bytes of a file written in several sessions, each of which adds the rollouts of these numbers."""
    for order in orders:
        with ResumableWriter(path, "plan") as work:
            for number in order:
                work.add(number, record(number))
    with ResumableWriter(path, "plan") as work:
        work.finish(head=header_line(Header(itinera=KIND, protocol=R2R, provenance=PROVENANCE, plan=work.plan)))
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    return path.read_bytes()


@pytest.fixture
def fresh(tmp_path_factory):
    return lambda name: tmp_path_factory.mktemp("work") / name


def test_the_file_is_the_same_in_any_order_and_any_number_of_sessions(fresh):
    first, second = fresh("a.jsonl"), fresh("a.jsonl")
    assert finish(second, [3, 1], [4], [], [0, 2]) == finish(first, range(5))
    read = read_predictions(first)
    assert [rollout.tour_id for rollout in read.rollouts] == [rollout.tour_id for rollout in ROLLOUTS]
    assert (read.protocol, read.provenance) == (R2R, PROVENANCE)


@pytest.mark.parametrize("tail", [b"", b"\0" * 40, b"\xff\xfe not a record"], ids=["cut", "zeros", "garbage"])
def test_work_that_broke_off_anywhere_keeps_every_whole_record(fresh, tail):
    path = fresh("out.jsonl")
    ends = []
    with ResumableWriter(path, "plan") as work:
        for number in range(3):
            work.add(number, record(number))
            ends.append(work.path.stat().st_size)
    whole = work.path.read_bytes()
    for cut in range(whole.index(b"\n") + 1, len(whole) + 1):
        work.path.write_bytes(whole[:cut] + tail)
        with ResumableWriter(path, "plan") as again:
            assert list(again) == list(range(sum(end <= cut for end in ends)))
            for number in range(len(again), 3):
                again.add(number, record(number))
            assert [decode_rollout(again[number]).tour_id for number in range(3)] == ["t0", "t1", "t2"]
        assert work.path.read_bytes() == whole


def test_a_header_that_broke_off_starts_anew(fresh):
    path = fresh("out.jsonl")
    with ResumableWriter(path, "another") as work:
        head = work.path.read_bytes()
    whole = finish(fresh("out.jsonl"), range(5))
    for cut in range(len(head) + 1):
        path.with_name("out.jsonl.partial").write_bytes(head[:cut])
        assert finish(path, range(5)) == whole
        path.unlink()


def test_damage_in_the_middle_drops_what_follows(fresh):
    path = fresh("out.jsonl")
    with ResumableWriter(path, "plan") as work:
        for number in range(3):
            work.add(number, record(number))
    content = bytearray(work.path.read_bytes())
    content[content.index(b'"e1"') + 1] ^= 1
    work.path.write_bytes(content)
    with ResumableWriter(path, "plan") as again:
        assert list(again) == [0]


def test_a_record_in_blocks_is_kept_whole_or_not_at_all(fresh, monkeypatch):
    monkeypatch.setattr(resume, "BLOCK", 4)
    path, counted = fresh("out.json"), [0]

    def blocks():
        for block in (b"abc", b"de", b"fgh"):
            counted[0] += 1
            yield block

    def broken():
        yield b"half a rec"
        raise KeyboardInterrupt

    with ResumableWriter(path, "plan") as work:
        work.add(0, blocks(), note=counted)
        with pytest.raises(KeyboardInterrupt):
            work.add(1, broken())
    assert not path.exists()
    with ResumableWriter(path, "plan") as again:
        assert (list(again), again.notes, again[0]) == ([0], {0: [3]}, b"abcdefgh")
        again.add(1, [b"second"])
        again.finish(head=b"[", tail=b"]")
    assert path.read_bytes() == b"[abcdefghsecond]"


def test_a_record_in_blocks_that_was_cut_is_dropped(fresh, monkeypatch):
    monkeypatch.setattr(resume, "BLOCK", 4)
    path = fresh("out.json")
    with ResumableWriter(path, "plan") as work:
        work.add(0, b"first")
        kept = work.path.stat().st_size
        work.add(1, [b"abcd", b"efgh"])
    whole = work.path.read_bytes()
    for cut in range(kept, len(whole)):
        work.path.write_bytes(whole[:cut])
        with ResumableWriter(path, "plan") as again:
            assert list(again) == [0]
            assert again.path.stat().st_size == kept


def test_keys_may_be_text(fresh):
    path = fresh("times.jsonl")
    with ResumableWriter(path, "plan") as work:
        work.add("b", b"2", note={"low": 1.5})
        work.add("a", b"1")
    with ResumableWriter(path, "plan") as again:
        assert ("a" in again, "c" in again, again.notes) == (True, False, {"b": {"low": 1.5}})
        again.finish()
    assert path.read_bytes() == b"12"


def test_a_name_in_gz_is_compressed(fresh):
    path = fresh("out.json.gz")
    with ResumableWriter(path, "plan") as work:
        work.add(0, [b"a"])
        work.finish()
    assert gzip.decompress(path.read_bytes()) == b"a"


def test_unfinished_work_of_another_plan_is_refused_unless_overwritten(fresh):
    path = fresh("out.jsonl")
    with ResumableWriter(path, "plan") as work:
        work.add(0, record(0))
    with pytest.raises(BadArgument, match=r"belongs to another run.*--overwrite"):
        ResumableWriter(path, "another")
    with ResumableWriter(path, "another", overwrite=True) as anew:
        assert len(anew) == 0
    assert not work.path.exists()  # nothing was done
    for other in (b"something else\n", b"x\ny\n", b"xyz", b"0 {}\n", b"\x20\0\0\0\0\0\0\0{}" + b" " * 200):
        work.path.write_bytes(other)
        with pytest.raises(BadArgument, match="belongs to another run"):
            ResumableWriter(path, "plan")
        assert work.path.read_bytes() == other


def test_the_same_plan_finds_its_result_finished_and_another_is_refused(fresh, caplog):
    path = fresh("out.jsonl")
    finish(path, range(5))
    with caplog.at_level(logging.INFO, "itinera"), ResumableWriter(path, "plan") as work:
        assert work.finished
    assert "complete already" in caplog.text
    with pytest.raises(BadArgument, match=r"exists already and comes from another run.*--overwrite"):
        ResumableWriter(path, "another")
    with ResumableWriter(path, "another", overwrite=True) as anew:
        assert not anew.finished
    path.write_text("a note of mine")
    with pytest.raises(BadArgument, match="exists already"):
        ResumableWriter(path, "plan")


def test_the_plan_of_a_foreign_format_stands_in_its_provenance_file(fresh):
    path = fresh("R4R.json")
    with ResumableWriter(path, "plan") as work:
        work.add(0, b"[]")
        work.finish(provenance=PROVENANCE)
    assert check_sidecar(path) == PROVENANCE
    with ResumableWriter(path, "plan") as again:
        assert again.finished
    with pytest.raises(BadArgument, match="exists already"):
        ResumableWriter(path, "another")


def test_two_processes_cannot_write_one_file(fresh):
    path = fresh("out.jsonl")
    with ResumableWriter(path, "plan"), pytest.raises(BadArgument, match="being written by another process"):
        ResumableWriter(path, "plan", overwrite=True)


def test_a_folder_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadFile, match="cannot be written"):
        ResumableWriter(tmp_path / "file" / "out.jsonl", "plan")


def test_discarded_work_leaves_nothing(fresh):
    path = fresh("out.jsonl")
    with ResumableWriter(path, "plan") as work:
        work.add("key", b"value")
        work.discard()
    assert not list(path.parent.iterdir())


def test_records_of_another_plan_do_not_fit(fresh):
    """As after a power cut that left blocks of an older file behind the header."""
    path, other = fresh("out.jsonl"), fresh("out.jsonl")
    for file, plan in ((path, "one"), (other, "two")):
        with ResumableWriter(file, plan) as work:
            for number in range(3):
                work.add(number, record(number))
    head, _, _ = path.with_name("out.jsonl.partial").read_bytes().partition(b"\n")
    _, _, records = other.with_name("out.jsonl.partial").read_bytes().partition(b"\n")
    path.with_name("out.jsonl.partial").write_bytes(head + b"\n" + records)
    with ResumableWriter(path, "one") as again:
        assert len(again) == 0


def test_discarded_bytes_are_counted(fresh, caplog):
    path = fresh("out.jsonl")
    with ResumableWriter(path, "plan") as work:
        work.add(0, record(0))
    size = work.path.stat().st_size
    work.path.write_bytes(work.path.read_bytes() + b"\0" * 40)
    with caplog.at_level(logging.WARNING, "itinera"), ResumableWriter(path, "plan"):
        pass
    said = f"the last 40 of {size + 40} bytes are incomplete or damaged and are discarded; 1 record before that"
    assert said in caplog.text


@pytest.mark.parametrize("left", [b"", b"0123"], ids=["empty", "cut"])
def test_work_that_was_never_begun_does_not_replace_the_result_of_another_plan(fresh, left):
    path = fresh("out.jsonl")
    whole = finish(path, range(5))
    path.with_name("out.jsonl.partial").write_bytes(left)
    with pytest.raises(BadArgument, match="exists already and comes from another run"):
        ResumableWriter(path, "another")
    path.with_name("out.jsonl.partial").write_bytes(left)
    with ResumableWriter(path, "plan") as work:
        assert work.finished
    assert [(file.name, file.read_bytes()) for file in path.parent.iterdir()] == [(path.name, whole)]


def test_an_update_neither_refuses_a_result_nor_takes_it_for_finished(fresh):
    path = fresh("out.jsonl")
    finish(path, range(5))
    for plan in ("plan", "another"):
        with ResumableWriter(path, plan, update=True) as work:
            assert not work.finished


def test_closed_work_is_on_the_disk(fresh, monkeypatch):
    path, synced = fresh("out.jsonl"), []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_size))
    with ResumableWriter(path, "plan") as work:
        work.add(0, record(0))
    assert synced[-1] == work.path.stat().st_size


def test_a_killed_process_leaves_no_lock(fresh):
    path = fresh("out.jsonl")
    program = (
        "import os, signal, sys; from itinera.runs.resume import ResumableWriter\n"
        "work = ResumableWriter(sys.argv[1], 'plan'); work.add(0, b'record'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program, str(path)], env=environment, check=False)
    with ResumableWriter(path, "plan") as work:
        assert work[0] == b"record"


def test_a_lock_keeps_others_out_and_leaves_nothing(tmp_path):
    path = tmp_path / "x"
    refused = pytest.raises(BadArgument, match="being written by another process")
    with exclusive_lock(path), refused, exclusive_lock(path):
        pass
    assert not list(tmp_path.iterdir())


def test_an_interruption_while_work_is_removed_is_no_error(fresh):
    class Interrupted(FileIO):
        def close(self):
            is_first, _ = not self.closed, super().close()
            if is_first:
                raise KeyboardInterrupt

    def write():
        with ResumableWriter(path, "plan") as work:
            work.add(0, record(0))
            work._stream.close()
            work._stream = Interrupted(work.path, "a+b")
            work.finish()

    path = fresh("out.jsonl")
    with pytest.raises(KeyboardInterrupt):
        write()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_plan_is_equal_if_its_parts_are():
    assert plan_fingerprint("0.1", 7) == plan_fingerprint("0.1", 7) != plan_fingerprint("0.1", 8)
