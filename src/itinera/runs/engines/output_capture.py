"""The output of a worker process, forwarded line by line and counted, so that no agent can print without end."""

from __future__ import annotations

import math
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection

from itinera.errors import escape_controls

BLOCK = 1 << 16  # bytes
SHOWN = 1 << 16  # bytes of a section that are printed; an agent may print more, which is counted


@dataclass(frozen=True, eq=False)
class OutputPipe:
    """In a worker: the pipe that receives everything it prints."""

    pipe: Connection
    marker: bytes

    def redirect(self, *, replace_streams: bool) -> None:
        """Send all output to the pipe; `replace_streams` where sys.stdout may be an object of a notebook."""
        for number in (1, 2):
            os.dup2(self.pipe.fileno(), number)
        if replace_streams:
            sys.stdout, sys.stderr = (
                open(number, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
                for number in (1, 2)
            )

    def mark(self) -> None:
        """End the present section of the output."""
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):  # of an agent that has closed or replaced it
                stream.flush()
        with suppress(OSError):
            os.write(self.pipe.fileno(), self.marker)


class CapturedOutput:
    """In the parent: everything that comes through a pipe, in sections that each end with a marker."""

    def __init__(self, pipe: Connection, marker: bytes) -> None:
        self.pipe, self._marker = pipe, marker
        self._received = b""  # and not yet printed
        self._count = 0  # bytes printed of the present section
        self._overflowed = False
        self.ended = False
        os.set_blocking(pipe.fileno(), False)

    def forward(self, limit: float = math.inf) -> bool:
        """Print the received lines of the present section; False once it has more than `limit` bytes."""
        while True:
            before, marker, _ = self._received.partition(self._marker)
            if self._count + len(before) > limit:
                self._overflowed = True
                return False
            if marker:
                return True
            lines, line_break, self._received = self._received.rpartition(b"\n")
            self._print(lines + line_break)
            block = self._read()
            if not block:
                return True
            self._received += block

    def end_section(self, limit: float = math.inf) -> bool:
        """Print the rest of a section whose marker was sent; False, and nothing, if it had more than `limit` bytes."""
        if not self.forward(limit):
            return False
        before, _, self._received = self._received.partition(self._marker)
        self._print(before)
        self._count = 0
        return True

    def close(self) -> None:
        """Print what is left, unless there was too much, and close the pipe."""
        while not self._overflowed and self.end_section() and self._received:
            pass
        self.pipe.close()

    def _read(self) -> bytes:
        try:
            block = os.read(self.pipe.fileno(), BLOCK)
        except BlockingIOError:
            return b""
        except OSError:
            block = b""
        self.ended = not block
        return block

    def _print(self, text: bytes) -> None:
        shown = text[: max(0, SHOWN - self._count)]
        cut = len(shown) < len(text) and self._count <= SHOWN
        self._count += len(text)
        if shown or cut:
            with suppress(OSError, ValueError):  # where stderr is closed
                # Through Python's stderr, which a progress bar may have replaced. What an agent prints moves no cursor.
                plain = shown.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
                sys.stderr.write(
                    escape_controls(plain) + ("\n… (the rest of this output is not shown)\n" if cut else "")
                )
