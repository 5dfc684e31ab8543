"""The process between a run and an isolated agent: it takes the agent's privileges away, and ends all it leaves behind.

`main` reads one line of JSON from its standard input (`Sandbox`), starts the command in it, and waits. The command
inherits the three standard streams and nothing else. On Linux with Landlock it can read installed software, the code in
the current folder and the files it was given, and can write to a temporary folder of its own; signals and debugging
across the border are refused. If this process is root, the command becomes the user nobody where that user can read
the code, and loses all capabilities in any case. Only the standard library is needed here.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import struct
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass

from itinera.agents.process_tree import adopt_orphans, kill_descendants

SYSTEM_FOLDERS = (
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/etc",
    "/opt/cuda",
    "/opt/rocm",
    "/nix/store",
    "/sys",
)
PROC_FILES = ("cpuinfo", "meminfo", "stat", "filesystems", "version", "sys", "self")
DEVICES = ("null", "zero", "full", "random", "urandom", "dri", "kfd")  # and NVIDIA's
CODE = (".py", ".pyc", ".so", ".pyd")
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "PYTHONHASHSEED")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
NOBODY = 65534

# Of Linux: prctl and capset, and Landlock's system calls, which have the same numbers on all architectures.
SET_DEATH_SIGNAL, SET_DUMPABLE, SET_SECUREBITS, SET_NO_NEW_PRIVILEGES = 1, 4, 28, 38
NO_ROOT_PRIVILEGES = 0b101111  # root's user id means nothing from now on, and that is locked
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
READ = 0b1101  # execute, read files, list folders
ALL_FOR_FILES = 0b1100000000000111  # execute, write, read, truncate, control devices
LIST = 0b1000


@dataclass(frozen=True)
class Sandbox:
    """What an isolated agent is started with."""

    command: list[str]
    code: list[str]  # folders whose modules it may import, installed software apart
    readable: list[str]  # files and folders it may read whole
    hidden: list[str]  # and those it may not, wherever they lie

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


def landlock_version() -> int:
    """The version of Landlock that this system has; 0 for none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(ctypes.CDLL(None, use_errno=True).syscall(CREATE_RULESET, None, 0, 1)))


def installed_folders() -> list[str]:
    """The folders of installed software."""
    import site
    import sysconfig

    paths = sysconfig.get_paths()
    own = [sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable))]
    own += [paths[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib")] + site.getsitepackages()
    return [folder for folder in dict.fromkeys([*SYSTEM_FOLDERS, *own]) if os.path.isdir(folder)]


def is_readable_by_others(path: str) -> bool:
    """Whether every user of this machine can read a file or folder."""
    whole = os.path.realpath(path)
    try:
        if not os.stat(whole).st_mode & (0o5 if os.path.isdir(whole) else 0o4):
            return False
        while whole != (whole := os.path.dirname(whole)):
            if not os.stat(whole).st_mode & 0o1:
                return False
    except OSError:
        return False
    return True


def becomes_nobody(sandbox: Sandbox) -> bool:
    """Whether the command can run as the user nobody: this is root, and nobody can read the code."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return False
    needed = [os.path.realpath(sys.executable), os.path.dirname(os.__file__), os.path.dirname(__file__), os.getcwd()]
    return all(map(is_readable_by_others, [*needed, *sandbox.readable]))


def main() -> None:
    """Start the command that the first line of the standard input describes, wait for it, and clean up."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)  # what follows belongs to the command
        if not byte:
            sys.exit(1)
        line += byte
    sandbox = Sandbox(**json.loads(line))
    adopt_orphans()
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
        ctypes.CDLL(None).prctl(SET_DUMPABLE, 0, 0, 0, 0)
    folder = tempfile.mkdtemp(prefix="itinera-agent-")
    nobody = becomes_nobody(sandbox)
    if nobody:
        os.chown(folder, NOBODY, NOBODY)

    def end(*_: object) -> None:
        kill_descendants(os.getpid())
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    signal.signal(signal.SIGTERM, end)
    rules = list(_make_rules(sandbox, folder))
    child = os.fork()
    if child == 0:
        _become(sandbox, rules, folder, nobody=nobody)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(null, number)  # else the run would not notice that the agent has closed them
    _, status = os.waitpid(child, 0)
    kill_descendants(os.getpid())
    shutil.rmtree(folder, ignore_errors=True)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _become(sandbox: Sandbox, rules: Sequence[tuple[str, int]], folder: str, *, nobody: bool) -> None:
    """Turn this process into the command; never returns."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setpgid(0, 0)
        os.closerange(3, 1 << 16)
        _take_privileges(rules, nobody=nobody)
        os.execvpe(sandbox.command[0], sandbox.command, make_environment(folder))
    except BaseException as error:
        os.write(2, f"The agent's command cannot be run: {sandbox.command[0]}: {error}\n".encode())
    finally:
        os._exit(127)


def make_environment(folder: str) -> dict[str, str]:
    """The environment of an isolated agent, which names no file of the run."""
    found = {name: os.environ[name] for name in (*KEPT_VARIABLES, *THREAD_VARIABLES) if name in os.environ}
    own = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "MPLCONFIGDIR"), folder)
    return {**found, **own, "PYTHONDONTWRITEBYTECODE": "1"}


def _make_rules(sandbox: Sandbox, folder: str) -> Iterator[tuple[str, int]]:
    """Paths with the access that is allowed beneath them."""
    hidden = [os.path.realpath(path) for path in sandbox.hidden]
    for path in [*installed_folders(), *sandbox.readable]:
        yield from ((found, READ) for found in _visible(os.path.realpath(path), hidden))
    for code in sandbox.code:
        if os.path.isdir(code):
            yield code, LIST
            for found in _find_code(code):
                yield from ((visible, READ) for visible in _visible(os.path.realpath(found), hidden))
    yield from ((f"/proc/{name}", READ) for name in PROC_FILES)
    nvidia = [name for name in os.listdir("/dev") if name.startswith("nvidia")] if os.path.isdir("/dev") else []
    yield from ((f"/dev/{name}", ~0) for name in (*DEVICES, *nvidia))
    yield folder, ~0


def _visible(path: str, hidden: Sequence[str]) -> Iterator[str]:
    """A path, or what lies beneath it apart from what is hidden."""
    if any(path == one or path.startswith(one + os.sep) for one in hidden):
        return
    if not any(one.startswith(path.rstrip(os.sep) + os.sep) for one in hidden):
        yield path
        return
    with suppress(OSError):
        for entry in os.scandir(path):
            yield from _visible(os.path.realpath(entry.path), hidden)


def _find_code(folder: str) -> Iterator[str]:
    """The modules and packages of a folder."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            is_package = entry.is_dir() and os.path.exists(os.path.join(entry.path, "__init__.py"))
            if is_package or entry.name.endswith(CODE):
                yield entry.path


def _take_privileges(rules: Sequence[tuple[str, int]], *, nobody: bool) -> None:
    is_linux = sys.platform.startswith("linux")
    is_root = os.geteuid() == 0
    library = ctypes.CDLL(None, use_errno=True)
    if is_linux and is_root and not nobody:
        library.prctl(SET_SECUREBITS, NO_ROOT_PRIVILEGES, 0, 0, 0)
        header, none = ctypes.create_string_buffer(struct.pack("<Ii", 0x20080522, 0)), ctypes.create_string_buffer(24)
        if library.capset(header, none):
            raise OSError(ctypes.get_errno(), "capabilities cannot be dropped")
    if nobody:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    if is_linux:
        library.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        _restrict_files(library, rules)


def _restrict_files(library: ctypes.CDLL, rules: Sequence[tuple[str, int]]) -> None:
    """Allow what the rules say and nothing else (Landlock)."""
    version = landlock_version()
    if not version:
        return
    rights = (1 << (13, 14, 15, 15, 16)[min(version, 5) - 1]) - 1
    scopes = 0b11 if version >= 6 else 0  # abstract sockets and signals stay inside
    attributes = struct.pack("<QQQ", rights, 0, scopes)[: 24 if version >= 6 else 8]
    ruleset = library.syscall(CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "Landlock refused the rules")
    for path, access in rules:
        with suppress(OSError):
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
            allowed = access & rights if os.path.isdir(path) else access & rights & ALL_FOR_FILES
            library.syscall(ADD_RULE, ruleset, 1, struct.pack("<Qi", allowed, handle), 0)
            os.close(handle)
    if library.syscall(RESTRICT_SELF, ruleset, 0):
        raise OSError(ctypes.get_errno(), "Landlock refused to restrict the agent")
    os.close(ruleset)
