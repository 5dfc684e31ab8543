"""The messages between a run and its worker processes: MessagePack with a type for each, never pickles.

An agent lives in its worker and may write anything to its pipes. So the parent never blocks on them, takes no message
that is longer than it should be, and decodes nothing but the types below.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Final

import msgspec

LONGEST_MESSAGE: Final = 1 << 26  # bytes; the longest trajectories with action probabilities take a few million
BLOCK = 1 << 16  # bytes
_LENGTH = struct.Struct("<I")


class Ready(msgspec.Struct, tag=True, frozen=True):
    """The worker has made its context."""

    files: dict[str, str]  # the digests of the agent's files, by name


class Start(msgspec.Struct, tag=True, frozen=True):
    """The world of a job is loaded: from now on time is the agent's."""


class ActingEnd(msgspec.Struct, tag=True, frozen=True):
    """The acting phase of an item has ended: the record is final, and the worker waits for an answer."""

    index: int
    record: bytes


class Item(msgspec.Struct, tag=True, frozen=True):
    """The record of one item of a job."""

    index: int
    record: bytes


class Done(msgspec.Struct, tag=True, frozen=True):
    """The job is done."""


class Broken(msgspec.Struct, tag=True, frozen=True):
    """The worker cannot work."""

    reason: str
    exit_code: int
    stops_run: bool = False  # whether it says that no episode can go well any more, see `StopRun`


Message = Ready | Start | ActingEnd | Item | Done | Broken
_decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)
_encoder = msgspec.msgpack.Encoder()


class BadMessage(Exception):
    """Bytes that are no message, or a message that is not expected now."""


class ParentPipe:
    """The parent's end of the pipe to a worker: it never blocks."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._received, self._unsent = bytearray(), bytearray()
        os.set_blocking(connection.fileno(), False)

    def fileno(self) -> int:
        return self._connection.fileno()

    @property
    def is_sending(self) -> bool:
        """Whether something is left to send."""
        return bool(self._unsent)

    def send(self, content: bytes) -> None:
        """Send content as soon as the worker takes it."""
        self._unsent += _LENGTH.pack(len(content)) + content
        self.flush()

    def flush(self) -> None:
        """Send as much as the worker takes now."""
        try:
            while self._unsent:
                del self._unsent[: os.write(self.fileno(), self._unsent[:BLOCK])]
        except BlockingIOError:
            return
        except OSError:  # of a worker that has died, which is noticed when it is next attended to
            self._unsent.clear()

    def receive(self) -> Iterator[Message]:
        """The messages that have arrived; raises BadMessage, and EOFError at the end."""
        while True:
            while (content := self._take()) is not None:
                try:
                    yield _decoder.decode(content)
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    raise BadMessage(str(error)) from None
            try:
                block = os.read(self.fileno(), BLOCK)
            except BlockingIOError:
                return
            except OSError:
                block = b""
            if not block:
                raise EOFError
            self._received += block

    def _take(self) -> bytes | None:
        """The next whole message."""
        if len(self._received) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._received)
        if length > LONGEST_MESSAGE:
            raise BadMessage(f"a message of {length} bytes")
        end = _LENGTH.size + length
        if len(self._received) < end:
            return None
        content = bytes(self._received[_LENGTH.size : end])
        del self._received[:end]
        return content

    def close(self) -> None:
        self._connection.close()


class WorkerPipe:
    """The worker's end of the pipe."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def send(self, message: Message) -> None:
        content = _encoder.encode(message)
        if len(content) > LONGEST_MESSAGE:
            raise BadMessage(f"The record of the episode has {len(content)} bytes; at most {LONGEST_MESSAGE} are kept.")
        unsent = memoryview(_LENGTH.pack(len(content)) + content)
        while unsent:
            unsent = unsent[os.write(self._connection.fileno(), unsent) :]

    def receive(self) -> bytes | None:
        """The next content from the parent; None at the end."""
        head = self._read(_LENGTH.size)
        return None if head is None else self._read(_LENGTH.unpack(head)[0])

    def _read(self, size: int) -> bytes | None:
        received = bytearray()
        while len(received) < size:
            block = os.read(self._connection.fileno(), size - len(received))
            if not block:
                return None
            received += block
        return bytes(received)
