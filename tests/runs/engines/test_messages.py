"""Messages between a run and its workers: typed, bounded, never blocking."""

from __future__ import annotations

import os
import pickle
import struct
from multiprocessing import Pipe

import pytest

from itinera.runs.engines.messages import LONGEST_MESSAGE, BadMessage, Item, ParentPipe, Ready, WorkerPipe


@pytest.fixture
def pipes():
    ours, theirs = Pipe()
    yield ParentPipe(ours), WorkerPipe(theirs), theirs
    ours.close()
    theirs.close()


def test_messages_arrive_as_they_were_sent(pipes):
    parent, worker, _ = pipes
    for message in (Ready({"agent.py": "1"}), Item(3, b"x" * 1000)):
        worker.send(message)
        assert list(parent.receive()) == [message]
    parent.send(b"job")
    assert worker.receive() == b"job"


def test_a_message_in_pieces_is_waited_for_without_blocking(pipes):
    parent, _, raw = pipes
    os.write(raw.fileno(), struct.pack("<I", 100) + b"abc")
    assert list(parent.receive()) == []


@pytest.mark.parametrize(
    "content",
    [
        struct.pack("<I", LONGEST_MESSAGE + 1),
        struct.pack("<I", 3) + b"abc",
        struct.pack("<I", 1) + b"\xc1",
        b"\xff" * 100,
        (lambda data: struct.pack("<I", len(data)) + data)(pickle.dumps(print)),
    ],
)
def test_anything_else_is_refused(pipes, content):
    parent, _, raw = pipes
    os.write(raw.fileno(), content)
    with pytest.raises(BadMessage):
        list(parent.receive())


def test_a_worker_that_takes_nothing_does_not_block_the_parent(pipes):
    parent, worker, _ = pipes
    parent.send(b"x" * (8 << 20))
    assert parent.is_sending
    received = 0
    while parent.is_sending:
        received += len(os.read(worker._connection.fileno(), 1 << 20))
        parent.flush()
    assert received > 0


def test_the_end_of_a_worker_is_noticed(pipes):
    parent, _, raw = pipes
    raw.close()
    with pytest.raises(EOFError):
        list(parent.receive())
    parent.send(b"nobody is there")
    assert not parent.is_sending
