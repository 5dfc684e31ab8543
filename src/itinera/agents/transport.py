"""The channel to an agent in another process: requests of any size, replies of one line, both with a time limit.

Start with `open_process` and `open_socket`. The content of messages is defined in `remote.py`.
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

from itinera.agents.process_tree import OrphanReaper, kill_tree
from itinera.errors import BadArgument, ItineraError

LONGEST_REPLY = 1 << 20  # bytes; an action takes a few, probabilities of a hundred actions a few thousand
STDERR_LIMIT = 1 << 20  # bytes that may come with a reply
LONGEST_TAIL = 2000  # bytes of stderr that are kept, the last ones
LONGEST_LAST_LINE = 150  # characters
BLOCK = 1 << 16  # bytes
DRAIN_SECONDS = 0.5  # to read the stderr of a process that has ended
CONNECT_SECONDS = 10.0
ENDED, INPUT_CLOSED = "ended", "closed its input"

# Kills a process group when the process at the other end of its input is gone, however that happened.
_GUARD = "import os, sys; sys.stdin.read(); os.killpg(int(sys.argv[1]), 9)"


class AgentFailure(ItineraError):
    """An agent in another process failed or violated the protocol."""


class Channel:
    """File descriptors to write to and read from, perhaps one for stderr, and a function that closes them."""

    def __init__(self, output: int, input: int, stderr: int | None, disconnect: Callable[[], str]) -> None:
        """`disconnect` ends the other side and returns how it had ended by itself, if it had."""
        self._output, self._input, self._stderr, self._disconnect = output, input, stderr, disconnect
        self._tail = b""
        self._stderr_bytes = 0  # since the last request
        self._open = True
        for descriptor in {output, input, *([] if stderr is None else [stderr])}:
            os.set_blocking(descriptor, False)

    @property
    def is_open(self) -> bool:
        return self._open

    def request(self, message: bytes, *, seconds: float) -> bytes:
        """The one line that answers the message; after AgentFailure the channel is closed."""
        self._stderr_bytes = 0
        try:
            self._require_no_input()
            reply = self._exchange(memoryview(message), time.monotonic() + seconds)
            # Stderr output before the reply counts with it, however fast it is read.
            while self._stderr is not None and self._read_stderr(self._stderr):
                pass
        except _Disconnected as error:
            raise self._failed(str(error)) from None
        except TimeoutError:
            raise self._failed(f"did not answer within {seconds:g} s") from None
        except OverflowError:
            raise self._failed(f"answered with more than {LONGEST_REPLY} bytes instead of a line") from None
        except _TooMuchOutput:
            self._tail = b""  # where reading stopped is arbitrary
            raise self._failed(f"wrote more than {STDERR_LIMIT} bytes to stderr for one reply", drain=False) from None
        return reply

    def close(self) -> str:
        """Close the channel; returns how the other side had ended by itself, if it had."""
        if not self._open:
            return ""
        self._open = False
        return self._disconnect()

    def _require_no_input(self) -> None:
        """Output that was not requested would be taken for the next reply, and shift all others."""
        received = _read(self._input)
        if received is None:
            return
        if not received:
            raise _Disconnected(ENDED)
        raise self._failed(f"wrote without being asked: {received[:80].decode(errors='replace').strip()}")

    def _exchange(self, unsent: memoryview, until: float) -> bytes:
        received = bytearray()
        with selectors.DefaultSelector() as selector:
            self._register(selector, sending=bool(unsent))
            while not (received.endswith(b"\n") and not unsent):
                ready = selector.select(max(0.0, until - time.monotonic()))
                if not ready and time.monotonic() >= until:
                    raise TimeoutError
                for key, events in ready:
                    if events & selectors.EVENT_READ:
                        self._receive(selector, key.fd, received)
                    if events & selectors.EVENT_WRITE:
                        unsent = self._send(unsent)
                        if not unsent:
                            self._stop_sending(selector)
        return bytes(received)

    def _register(self, selector: selectors.BaseSelector, *, sending: bool) -> None:
        both = selectors.EVENT_READ | selectors.EVENT_WRITE
        if self._output == self._input:
            selector.register(self._input, both if sending else selectors.EVENT_READ)
        else:
            selector.register(self._input, selectors.EVENT_READ)
            if sending:
                selector.register(self._output, selectors.EVENT_WRITE)
        if self._stderr is not None:
            selector.register(self._stderr, selectors.EVENT_READ)

    def _stop_sending(self, selector: selectors.BaseSelector) -> None:
        if self._output == self._input:
            selector.modify(self._input, selectors.EVENT_READ)
        else:
            selector.unregister(self._output)

    def _send(self, unsent: memoryview) -> memoryview:
        try:
            return unsent[os.write(self._output, unsent[:BLOCK]) :]
        except BlockingIOError:
            return unsent
        except OSError:
            raise _Disconnected(ENDED if self._output == self._input else INPUT_CLOSED) from None

    def _receive(self, selector: selectors.BaseSelector, source: int, received: bytearray) -> None:
        if source == self._stderr:
            if self._read_stderr(source) is None:
                selector.unregister(source)
            return
        block = _read(source)
        if block == b"":
            raise _Disconnected(ENDED)
        received += block or b""
        if len(received) > LONGEST_REPLY:
            raise OverflowError

    def _read_stderr(self, source: int) -> int | None:
        """The number of bytes read; None at the end of the stream."""
        block = _read(source)
        if block is None:
            return 0
        self._tail = (self._tail + block)[-LONGEST_TAIL:]
        self._stderr_bytes += len(block)
        if self._stderr_bytes > STDERR_LIMIT:
            raise _TooMuchOutput
        return len(block) or None

    def _failed(self, what: str, *, drain: bool = True) -> AgentFailure:
        if drain:
            self._drain_stderr()
        how = self.close()
        tail = self._tail.decode(errors="replace").strip()
        reason = f"The agent {f'ended ({how})' if how and what in (ENDED, INPUT_CLOSED) else what}."
        if not tail:
            return AgentFailure(reason)
        # The last line says most, and reasons may be shown by their beginning only.
        last = tail.splitlines()[-1].strip()[-LONGEST_LAST_LINE:]
        return AgentFailure(f"{reason} Last line of its stderr: {last}\nThe end of its stderr:\n{tail}")

    def _drain_stderr(self) -> None:
        if self._stderr is None:
            return
        until = time.monotonic() + DRAIN_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(self._stderr, selectors.EVENT_READ)
            while selector.get_map() and selector.select(max(0.0, until - time.monotonic())):
                with suppress(_TooMuchOutput):
                    self._receive(selector, self._stderr, bytearray())
                if time.monotonic() >= until:  # some never stop printing
                    break


class _Disconnected(Exception):
    """The other side has ended or closed the channel."""


class _TooMuchOutput(Exception):
    """The other side printed more to stderr than it may."""


def _read(source: int) -> bytes | None:
    """The available bytes; empty at the end of the stream, None if there are none yet."""
    try:
        return os.read(source, BLOCK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def split_command(command: str) -> list[str]:
    """The words of an agent's command."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadArgument(f"The agent's command cannot be parsed: {error}. Found: {command}") from None
    if not words:
        raise BadArgument("The agent's command is empty.")
    return words


def open_process(command: str) -> Channel:
    """A channel to a program that is started now, by its standard input and output; no shell is involved."""
    words = split_command(command)
    reaper = OrphanReaper().__enter__()
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            process_group=0,  # so that it can be killed with every process it starts
        )
    except OSError as error:
        reaper.__exit__()
        raise BadArgument(f"The agent's command cannot be run: {words[0]}: {error.strerror}.") from None
    guard = _guard(process.pid)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    descriptors = process.stdin.fileno(), process.stdout.fileno(), process.stderr.fileno()
    return Channel(*descriptors, lambda: _end(process, guard, reaper))


def _guard(group: int) -> subprocess.Popen[bytes]:
    """A process that kills the group if this one ends first; in a group of its own, to outlive this one."""
    command = [sys.executable, "-I", "-S", "-c", _GUARD, str(group)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, process_group=0)


def _end(process: subprocess.Popen[bytes], guard: subprocess.Popen[bytes], reaper: OrphanReaper) -> str:
    """Kill the program with every process it started; returns how it had ended by itself."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.05)  # a program that has just closed its output may need a moment to end
    how = "" if process.returncode is None else describe_exit(process.returncode)
    guard.kill()  # before the group's id can be reused
    guard.communicate()
    if process.returncode is None:
        kill_tree(process.pid)
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout, process.stderr):
        assert pipe is not None
        with suppress(OSError):
            pipe.close()
    process.wait()
    reaper.__exit__()
    return how


def describe_exit(code: int) -> str:
    """How a process with this exit code ended."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def open_socket(address: str) -> Channel:
    """A channel to a program that listens at HOST:PORT on this machine."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    if not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise BadArgument(f"An agent's address is HOST:PORT, such as localhost:5000, not {address!r}.")
    if not _is_local(host):
        raise BadArgument(f"Agents are reached on this machine only: give localhost:{port}, not {host}.")
    try:
        connection = socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS)
    except OSError as error:
        raise BadArgument(f"No agent listens at {address}: {error.strerror or error}. Start the agent first.") from None
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def disconnect() -> str:
        connection.close()
        return ""

    return Channel(connection.fileno(), connection.fileno(), None, disconnect)


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
