"""The entry point of the `itinera` command (`python -m itinera`): errors become plain words and exit codes.

Next to nothing is imported before `main` is running, so that Ctrl-C is handled from its first line on. The verbs are in
`itinera.cli.main`.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# 0: success; 1: a problem of the input or of the machine; 2: a problem of the call; 130 and 143: interrupted.
INTERRUPTED = 130  # as shells and typer count it: 128 + SIGINT
UNEXPECTED = 70  # a fault of Itinera, with a report file; EX_SOFTWARE of sysexits.h
# Where a terminal has no UTF-8, these stand for the characters of our tables and sentences.
_ASCII = str.maketrans({"↑": "^", "↓": "v", "–": "-", "−": "-", "…": "...", "≥": ">=", "≤": "<=", "±": "+-",
                        "°": " deg", "×": "x", "·": "-", "•": "-"})  # fmt: skip


def main() -> None:
    """Run the command of `sys.argv`, and exit with its code."""
    with _interruptible() as signals:
        try:
            _prepare_streams()
            _prepare_kernel_cache()
            code = _run()
            sys.stdout.flush()
        except KeyboardInterrupt:
            code = _print_interrupted()
        except BrokenPipeError:  # the reader has left, as in `itinera convert --list | head -1`
            code = 1
        except SystemExit as ended:  # a verb that has printed what is kept
            code = ended.code if isinstance(ended.code, int) else 1
        except Exception as error:
            code = _print_error(error)
        if code and signals:  # what was complete before the signal was noticed has ended well
            code = 128 + signals[0]
        if code:
            _close_streams()
    sys.exit(code)


@contextmanager
def _interruptible() -> Iterator[list[int]]:
    """SIGTERM ends the command as Ctrl-C does: children are ended and temporary files removed. Yields the signals."""
    received: list[int] = []
    ended = False

    def interrupt(number: int, frame: object) -> None:
        if not ended:
            received.append(number)
            raise KeyboardInterrupt

    # A command that a shell started in the background ignores Ctrl-C, and keeps ignoring it.
    before = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM)
        if (handler := signal.getsignal(number)) != signal.SIG_IGN
    }
    try:
        for number in before:
            signal.signal(number, interrupt)
    except ValueError:  # only the main thread can handle signals
        before = {}
    try:
        yield received
    finally:
        ended = True
        for number, handler in before.items():
            signal.signal(number, handler)


def _run() -> int:
    from itinera.cli.main import app_for

    try:
        # Also where it was started as a module. A verb returns nothing; `typer.Exit` its code.
        returned = app_for(sys.argv[1:])(prog_name="itinera", standalone_mode=False)
    except Exception as error:
        if not _is_usage_error(error):
            raise
        from itinera.cli.output import print_usage_error

        return print_usage_error(error)
    if returned == INTERRUPTED:
        return _print_interrupted()
    return returned if isinstance(returned, int) else 0


def _print_interrupted() -> int:
    print("Interrupted.", file=sys.stderr)
    return INTERRUPTED


def _is_usage_error(error: Exception) -> bool:
    # By what it can do: depending on its version, typer brings its own copy of click.
    return hasattr(error, "format_message") and hasattr(error, "exit_code")


def _prepare_streams() -> None:
    """Streams that are open and can print every character."""
    import codecs

    codecs.register_error("itinera", _replace_unprintable)
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller: else the next file that is opened would take its number
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "w" if number else "r"))
        elif number and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="itinera")


def _replace_unprintable(error: UnicodeError) -> tuple[str, int]:
    """Characters that the encoding of a stream lacks, in ASCII; an error handler of `codecs`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_ASCII)
    return text.encode("ascii", "backslashreplace").decode(), error.end


def _prepare_kernel_cache() -> None:
    """A folder for compiled kernels if neither the package's folder nor that of the user can be written.

    numba refuses to load kernels without one. The folder is new and belongs to this process alone: its files are code,
    so a name that another user could guess would let that user run code here.
    """
    package = os.path.dirname(os.path.abspath(__file__))
    beside = os.path.join(package, "worlds", "__pycache__")
    if "NUMBA_CACHE_DIR" in os.environ or (os.path.isdir(beside) and os.access(beside, os.W_OK)):
        return
    import atexit
    import shutil
    import tempfile
    from contextlib import suppress

    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for folder in (beside, os.path.join(caches, "numba")):
        with suppress(OSError):
            os.makedirs(folder, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return
    folder = tempfile.mkdtemp(prefix="itinera-kernels-")
    owner = os.getpid()  # a forked process leaves the folder to its parent
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)
    os.environ["NUMBA_CACHE_DIR"] = folder


def _print_error(error: Exception) -> int:
    """Print an error in plain words; returns the exit code."""
    from contextlib import suppress

    from itinera.errors import ItineraError, escape_controls, shorten

    if isinstance(error, ItineraError):
        text, code = str(error), error.exit_code
    elif isinstance(error, MemoryError):
        text, code = "There is not enough memory. Use a smaller input, or a machine with more.", 1
    elif (problem := _describe_system_error(error)) is not None:
        text, code = problem, 1
    else:
        what = escape_controls(shorten(f"{type(error).__name__}: {error}", 500), one_line=True)
        text, code = f"unexpected error, {what} {_write_report(error)}", UNEXPECTED
    with suppress(OSError):  # where nobody can be told
        print(f"itinera: {escape_controls(text)}", file=sys.stderr, flush=True)
    return code


def _describe_system_error(error: Exception) -> str | None:
    """The sentence for an error that the file system raised, such as a full disk; None for other errors."""
    if isinstance(error, ValueError) and "embedded null" in str(error):
        return "A file name contains a NUL character. Check the ids and names in the input."
    if not isinstance(error, OSError) or error.strerror is None:
        return None
    try:
        os.getcwd()
    except OSError:
        return "The current folder does not exist any more. Change to another folder."
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, (str, bytes))]
    where = " and ".join(names) or "A file, or the output of this command"
    return f"{where}: cannot be read or written ({error.strerror}).\n  Check the permissions and the space left."


def _write_report(error: Exception) -> str:
    """Write what a developer needs to know to a new file; returns the sentence that names the file.

    No variables and nothing of the environment are written, which may contain secrets.
    """
    import platform
    import shlex
    import tempfile
    import traceback

    lines = [f"itinera {sys.modules['itinera'].__version__}, Python {platform.python_version()}, {platform.platform()}",
             f"command: {shlex.join(['itinera', *sys.argv[1:]])}", *traceback.format_exception(error)]  # fmt: skip
    try:
        number, name = tempfile.mkstemp(prefix="itinera-error-", suffix=".txt")
        with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write("\n".join(lines))
    except OSError as failed:
        return f"(its report could not be written: {failed.strerror}). Please report it."
    return f"(report: {name}). Please send the report to the developers."


def _close_streams() -> None:
    """Discard what cannot be printed any more, so that the interpreter does not complain about it when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), stream.fileno())


if __name__ == "__main__":
    main()
