"""`start_isolated`: an agent in a process of its own that can read neither the tasks nor the memory of the run.

The process is prepared by `sandbox.py`. An agent given as module:Class is served there by `host.py`, which speaks the
protocol of `remote.py`; a command speaks it itself. Every request has a time limit, also the first, in which the agent
is made.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from itinera.agents.agent import Agent
from itinera.agents.loading import OptionValue
from itinera.agents.process_tree import kill_tree
from itinera.agents.remote import (
    REPLY_SECONDS,
    ProbabilisticRemoteAgent,
    RemoteAgent,
    Session,
    connect_agent,
    encode_generator,
)
from itinera.agents.sandbox import NOBODY, Sandbox, becomes_nobody, is_readable_by_others, landlock_version
from itinera.agents.transport import Channel, describe_exit, split_command
from itinera.errors import BadArgument
from itinera.records.provenance import PACKAGE

END_SECONDS = 5.0  # for the sandbox to clean up
_RUN = "import sys; sys.path[:0] = sys.argv[1:]; from itinera.agents.{module} import main; main()"


def start_isolated(
    agent: str,
    *,
    is_command: bool = False,
    options: Mapping[str, OptionValue] | None = None,
    files: Sequence[Path] = (),
    hidden: Sequence[Path] = (),
    seconds: float | None = None,
    columns: Sequence[str] = (),
) -> Agent:
    """The agent of MODULE:CLASS, or that a command starts, isolated from the run.

    It can read the code in the current folder, installed software and `files`, and nothing that is `hidden`.
    """
    sandbox = make_sandbox(agent, is_command=is_command, files=files, hidden=hidden)
    first = sandbox.encode()
    if not is_command:
        from itinera.agents.host import HostConfig, encode_config

        own_path = [os.path.abspath(name) for name in sys.path if name]
        first += encode_config(HostConfig(agent, dict(options or {}), own_path))
    limit = REPLY_SECONDS if seconds is None else seconds
    kinds = (RemoteAgent, ProbabilisticRemoteAgent) if is_command else (IsolatedAgent, ProbabilisticIsolatedAgent)
    return connect_agent(lambda: _open(first), limit, columns, kinds=kinds)


def make_sandbox(agent: str, *, is_command: bool, files: Sequence[Path], hidden: Sequence[Path]) -> Sandbox:
    """The sandbox of an agent; raises BadArgument if this system cannot hide the tasks from it."""
    host = [sys.executable, "-I", "-c", _RUN.format(module="host"), str(PACKAGE.parent)]
    installed = [os.path.realpath(folder) for folder in (sys.prefix, sys.base_prefix)]
    code = [os.getcwd(), *(os.path.abspath(name) for name in sys.path if name)]
    package = [] if is_command else [agent.partition(":")[0].partition(".")[0]]
    readable = [str(PACKAGE), *(str(path.resolve()) for path in files)]
    readable += [folder for name in package if os.path.isdir(folder := os.path.join(os.getcwd(), name))]
    sandbox = Sandbox(
        command=split_command(agent) if is_command else host,
        code=[folder for folder in dict.fromkeys(code) if not folder.startswith(tuple(installed))],
        readable=readable,
        hidden=[str(path.resolve()) for path in hidden],
    )
    if not landlock_version() and becomes_nobody(sandbox):
        exposed = [path for path in sandbox.hidden if is_readable_by_others(path)]
        if exposed:
            raise BadArgument(
                f"Every user of this machine can read {exposed[0]}, so --isolate cannot hide it from the agent. "
                f"Remove that permission: chmod o-rwx {shlex.quote(exposed[0])}"
            )
    return sandbox


def describe_isolation(sandbox: Sandbox) -> str:
    """How far an agent is isolated on this system."""
    user = "as the user nobody" if becomes_nobody(sandbox) else "as the same user, without privileges"
    if landlock_version():
        return f"The agent runs isolated: {user}, and can read its code and declared files, not the tasks (Landlock)."
    if becomes_nobody(sandbox):
        return f"The agent runs isolated: {user} (id {NOBODY}), who cannot read the tasks."
    return (
        "The agent runs in a process of its own, but as the same user, and this system has no Landlock: the agent can "
        "read the tasks file if it finds it. Run as root, or on Linux 5.13 or newer."
    )


def _open(first: bytes) -> Channel:
    """A channel to the agent; `first` is what the sandbox and the host read before any request."""
    command = [sys.executable, "-I", "-c", _RUN.format(module="sandbox"), str(PACKAGE.parent)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, process_group=0
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with suppress(OSError):  # of a process that has ended, which the first request notices
        process.stdin.write(first)
    descriptors = process.stdin.fileno(), process.stdout.fileno(), process.stderr.fileno()
    return Channel(*descriptors, lambda: _end(process))


def _end(process: subprocess.Popen[bytes]) -> str:
    """End the sandbox with everything in it; returns how the agent had ended by itself."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.05)  # an agent that has just closed its output may need a moment to end
    how = "" if process.returncode is None else describe_exit(process.returncode)
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        kill_tree(process.pid)
    for pipe in (process.stdin, process.stdout, process.stderr):
        assert pipe is not None
        with suppress(OSError):
            pipe.close()
    process.wait()
    return how


class IsolatedAgent(RemoteAgent):
    """An agent served by `host.py`: it gets the very random generator, so it acts as it would in this process."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.files: Mapping[str, str] = session.files  # the digests of the agent's files, by name

    def reset(self, rng: np.random.Generator) -> None:
        self._state = encode_generator(rng)
        self._reset()

    def _reset(self) -> None:
        if not self._session.is_open:
            self._session.open()
        self._session.request("reset", state=self._state)


class ProbabilisticIsolatedAgent(IsolatedAgent, ProbabilisticRemoteAgent):
    """An isolated agent that also reports action probabilities."""
