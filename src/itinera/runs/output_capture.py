"""What is printed in another process, passed on line by line and counted: nobody may print without end."""

from __future__ import annotations

import math
import os
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

AT_ONCE = 1 << 16  # bytes


class Printed:
    """All that comes through a pipe, in stretches that each end with a mark."""

    def __init__(self, pipe: Connection, mark: bytes) -> None:
        self.pipe, self._mark = pipe, mark
        self._heard = b""  # and not yet passed on
        self._count = 0  # bytes passed on of the present stretch
        self._flooded = False
        self.ended = False
        os.set_blocking(pipe.fileno(), False)

    def pass_on(self, most: float = math.inf) -> bool:
        """Print the lines of the present stretch that have come; False once it has more than `most` bytes."""
        while True:
            before, mark, _ = self._heard.partition(self._mark)
            if self._count + len(before) > most:
                self._flooded = True
                return False
            if mark:
                return True
            lines, line_break, self._heard = self._heard.rpartition(b"\n")
            self._print(lines + line_break)
            read = self._read()
            if not read:
                return True
            self._heard += read

    def end_stretch(self, most: float = math.inf) -> bool:
        """Print the rest of a stretch, whose mark has come; False, and nothing, if it had more than `most` bytes."""
        if not self.pass_on(most):
            return False
        before, _, self._heard = self._heard.partition(self._mark)
        self._print(before)
        self._count = 0
        return True

    def close(self) -> None:
        """Print what is left of one who has ended, but of no flood, and hear no more."""
        while not self._flooded and self.end_stretch() and self._heard:
            pass
        self.pipe.close()

    def _read(self) -> bytes:
        try:
            read = os.read(self.pipe.fileno(), AT_ONCE)
        except BlockingIOError:
            return b""
        except OSError:
            read = b""
        self.ended = not read
        return read

    def _print(self, text: bytes) -> None:
        self._count += len(text)
        if text:
            with suppress(OSError, ValueError):  # where nobody listens
                # Through Python's stderr, which whoever draws a progress bar there has taken over.
                sys.stderr.write(text.decode(errors="replace"))
