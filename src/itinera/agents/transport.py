"""The line to another process: what is sent goes out whole, a reply is one line, and neither takes forever.

Start with `call_program` and `call_address`. A line knows nothing of what is said on it; `remote.py` does.
"""

from __future__ import annotations

import ipaddress
import os
import selectors
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from itinera.errors import BadArgument, ItineraError

LONGEST_REPLY = 1 << 20  # bytes; an action is a few, weights of a hundred actions a few thousand
LOUDEST = 1 << 20  # bytes of complaints that may come with a reply
LONGEST_TAIL = 2000  # bytes of its complaints that are kept, the last ones
LONGEST_LAST_LINE = 150  # characters
AT_ONCE = 1 << 16
LAST_WORDS = 0.5  # seconds to hear what a process that is gone had to say
CONNECTING = 10.0  # seconds
ENDED, DEAF = "ended", "closed its input"

# Ends a group of processes when whoever holds the other end of its input is gone, however that happened.
_GUARD = "import os, sys; sys.stdin.read(); os.killpg(int(sys.argv[1]), 9)"


class AgentFailed(ItineraError):
    """An agent in another process did not do what it should have done."""


class Line:
    """Something to write to, something to read from, and a way to hang up."""

    def __init__(self, to: int, back: int, complaints: int | None, hang_up: Callable[[], str]) -> None:
        """`hang_up` ends whatever is at the other end and says how it had ended by itself, if it had."""
        self._to, self._back, self._complaints, self._hang_up = to, back, complaints, hang_up
        self._tail = b""
        self._complained = 0  # bytes since the last question
        self._open = True
        for end in {to, back, *([] if complaints is None else [complaints])}:
            os.set_blocking(end, False)

    @property
    def is_open(self) -> bool:
        return self._open

    def ask(self, message: bytes, *, seconds: float) -> bytes:
        """The one line that answers the message, or AgentFailed, after which the line is closed."""
        self._complained = 0
        try:
            self._expect_silence()
            reply = self._exchange(memoryview(message), time.monotonic() + seconds)
            # What was complained of before the reply counts with it, however fast we read.
            while self._complaints is not None and self._hear_complaints(self._complaints):
                pass
        except _Gone as gone:
            raise self._failed(str(gone)) from None
        except TimeoutError:
            raise self._failed(f"did not answer within {seconds:g} s") from None
        except OverflowError:
            raise self._failed(f"answered with more than {LONGEST_REPLY} bytes where a line was expected") from None
        except _TooLoud:
            self._tail = b""  # where in the flood we stopped listening is chance
            raise self._failed(f"wrote more than {LOUDEST} bytes to stderr for one answer", listen=False) from None
        return reply

    def close(self) -> str:
        """Hang up; how the other end had ended by itself, if it had."""
        if not self._open:
            return ""
        self._open = False
        return self._hang_up()

    def _expect_silence(self) -> None:
        """What was said unasked would be taken for the next answer, and every answer for another's."""
        said = _read(self._back)
        if said is None:
            return
        if not said:
            raise _Gone(ENDED)
        raise self._failed(f"spoke without being asked: {said[:80].decode(errors='replace').strip()}")

    def _exchange(self, unsent: memoryview, until: float) -> bytes:
        heard = bytearray()
        with selectors.DefaultSelector() as selector:
            self._listen(selector, sending=bool(unsent))
            while not (heard.endswith(b"\n") and not unsent):
                ready = selector.select(max(0.0, until - time.monotonic()))
                if not ready and time.monotonic() >= until:
                    raise TimeoutError
                for key, events in ready:
                    if events & selectors.EVENT_READ:
                        self._hear(selector, key.fd, heard)
                    if events & selectors.EVENT_WRITE:
                        unsent = self._send(unsent)
                        if not unsent:
                            self._stop_sending(selector)
        return bytes(heard)

    def _listen(self, selector: selectors.BaseSelector, *, sending: bool) -> None:
        both = selectors.EVENT_READ | selectors.EVENT_WRITE
        if self._to == self._back:
            selector.register(self._back, both if sending else selectors.EVENT_READ)
        else:
            selector.register(self._back, selectors.EVENT_READ)
            if sending:
                selector.register(self._to, selectors.EVENT_WRITE)
        if self._complaints is not None:
            selector.register(self._complaints, selectors.EVENT_READ)

    def _stop_sending(self, selector: selectors.BaseSelector) -> None:
        if self._to == self._back:
            selector.modify(self._back, selectors.EVENT_READ)
        else:
            selector.unregister(self._to)

    def _send(self, unsent: memoryview) -> memoryview:
        try:
            return unsent[os.write(self._to, unsent[:AT_ONCE]) :]
        except BlockingIOError:
            return unsent
        except OSError:
            raise _Gone(ENDED if self._to == self._back else DEAF) from None

    def _hear(self, selector: selectors.BaseSelector, source: int, heard: bytearray) -> None:
        if source == self._complaints:
            if self._hear_complaints(source) is None:
                selector.unregister(source)
            return
        said = _read(source)
        if said == b"":
            raise _Gone(ENDED)
        heard += said or b""
        if len(heard) > LONGEST_REPLY:
            raise OverflowError

    def _hear_complaints(self, source: int) -> int | None:
        """How many bytes there were; None if there will be no more."""
        said = _read(source)
        if said is None:
            return 0
        self._tail = (self._tail + said)[-LONGEST_TAIL:]
        self._complained += len(said)
        if self._complained > LOUDEST:
            raise _TooLoud
        return len(said) or None

    def _failed(self, what: str, *, listen: bool = True) -> AgentFailed:
        if listen:
            self._last_words()
        how = self.close()
        said = self._tail.decode(errors="replace").strip()
        reason = f"The agent {f'ended ({how})' if how and what in (ENDED, DEAF) else what}."
        if not said:
            return AgentFailed(reason)
        # The last line tells most, and those who show reasons may show their beginning only.
        last = said.splitlines()[-1].strip()[-LONGEST_LAST_LINE:]
        return AgentFailed(f"{reason} Its last words on stderr: {last}\nThe end of what it said there:\n{said}")

    def _last_words(self) -> None:
        if self._complaints is None:
            return
        until = time.monotonic() + LAST_WORDS
        with selectors.DefaultSelector() as selector:
            selector.register(self._complaints, selectors.EVENT_READ)
            while selector.get_map() and selector.select(max(0.0, until - time.monotonic())):
                with suppress(_TooLoud):
                    self._hear(selector, self._complaints, bytearray())
                if time.monotonic() >= until:  # there is no end to what some have to say
                    break


class _Gone(Exception):
    """Nobody is at the other end."""


class _TooLoud(Exception):
    """There is no end to its complaints."""


def _read(source: int) -> bytes | None:
    """What there is to read, nothing at the end of it all, None if there is nothing yet."""
    try:
        return os.read(source, AT_ONCE)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def call_program(command: str) -> Line:
    """A line to a program that is started now, over its standard input and output; no shell reads the command."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadArgument(f"The agent's command cannot be read: {error}. Found: {command}") from None
    if not words:
        raise BadArgument("The agent's command is empty.")
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            process_group=0,  # so that it can be ended with all it starts
        )
    except OSError as error:
        raise BadArgument(f"The agent's command cannot be run: {words[0]}: {error.strerror}.") from None
    guard = _guard(process.pid)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return Line(process.stdin.fileno(), process.stdout.fileno(), process.stderr.fileno(), lambda: _end(process, guard))


def _guard(group: int) -> subprocess.Popen[bytes]:
    """Someone who ends the group if we are gone before it is; in a group of its own, so as not to go with us."""
    command = [sys.executable, "-I", "-S", "-c", _GUARD, str(group)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, process_group=0)


def _end(process: subprocess.Popen[bytes], guard: subprocess.Popen[bytes]) -> str:
    """End the program with all it started; how it had ended by itself."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.05)  # one that has just closed its output may need a moment to end
    how = "" if process.returncode is None else _told(process.returncode)
    guard.kill()  # before the group's number can be somebody else's
    guard.communicate()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout, process.stderr):
        assert pipe is not None
        with suppress(OSError):
            pipe.close()
    process.wait()
    return how


def _told(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def call_address(address: str) -> Line:
    """A line to a program that listens at HOST:PORT on this machine."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    if not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise BadArgument(f"An agent's address is HOST:PORT, such as localhost:5000, not {address!r}.")
    if not _is_here(host):
        raise BadArgument(f"An agent is called on this machine only, at localhost:{port}, not at {host}.")
    try:
        line = socket.create_connection((host, int(port)), timeout=CONNECTING)
    except OSError as error:
        raise BadArgument(f"Nobody answers at {address}: {error.strerror or error}. Start the agent first.") from None
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def hang_up() -> str:
        line.close()
        return ""

    return Line(line.fileno(), line.fileno(), None, hang_up)


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
