"""The `itinera` command: its verbs, and one place where errors become plain words and exit codes."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import dropwhile
from typing import Annotated

import typer

from itinera.cli import (
    audit,
    build,
    check,
    compare,
    conformance,
    convert,
    data,
    describe,
    doctor,
    fastest,
    fastest_times,
    output,
    power,
    replay,
    report,
    reproduce,
    run,
    score,
    show,
    study,
    view,
)
from itinera.errors import ItineraError

app = typer.Typer(
    name="itinera",
    help="How well, how surely and why an agent follows language through a place.\n\n"
    "A first score: itinera score predictions.json --tasks R2R_val_unseen.json --worlds connectivity/",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

QUIET = ("--quiet", "-q")
INTERRUPTED = 130  # the exit code of typer for Ctrl-C


def _print_version(wanted: bool) -> None:
    if wanted:
        from itinera.records.provenance import itinera_version

        typer.echo(f"itinera {itinera_version()}")
        raise typer.Exit


@app.callback()
def _itinera(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print version and commit.", is_eager=True, callback=_print_version),
    ] = False,
    quiet: Annotated[bool, typer.Option(*QUIET, help="Results and errors only: no remarks, no progress.")] = False,
) -> None:
    # A result records the command that made it, which does not depend on how much was printed meanwhile.
    output.configure(tuple(dropwhile(QUIET.__contains__, sys.argv[1:])), quiet=quiet)


app.add_typer(build.app, name="build")
app.command("view")(view.view)
app.command("describe")(describe.describe)
app.command("run")(run.run)
app.command("replay")(replay.replay)
app.command("show")(show.show)
app.command("score")(score.score)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.add_typer(study.app, name="study")
app.command("convert")(convert.convert)
app.command("check")(check.check)
app.command("fastest")(fastest.fastest)
app.command("fastest-times")(fastest_times.fastest_times)
app.command("reproduce")(reproduce.reproduce)
app.command("audit")(audit.audit)
app.command("conformance")(conformance.conformance)
app.command("power")(power.power)
app.add_typer(data.app, name="data")
app.command("doctor")(doctor.doctor)


def main() -> None:
    """Run the command; exit 0: all is well, 1: the input is at fault, 2: the call is, 130 or 143: interrupted."""
    with _interruptible() as signals:
        try:
            app(prog_name="itinera")  # also where it was started as a module
        except ItineraError as error:
            print(f"itinera: {error}", file=sys.stderr)
            sys.exit(128 + signals[0] if signals else error.exit_code)
        except (SystemExit, KeyboardInterrupt) as error:
            code = error.code if isinstance(error, SystemExit) else INTERRUPTED
            if not signals or not code:  # what was complete before the signal was noticed has ended well
                raise
            if code == INTERRUPTED:  # else the verb has printed what is kept
                print("Interrupted.", file=sys.stderr)
            sys.exit(128 + signals[0])


@contextmanager
def _interruptible() -> Iterator[list[int]]:
    """SIGTERM ends the command as Ctrl-C does: children are ended and temporary files removed. Yields the signals."""
    received: list[int] = []
    ended = False

    def interrupt(number: int, frame: object) -> None:
        if not ended:
            received.append(number)
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # where signals cannot be handled
        yield received
        return
    # Whoever started the command in the background of a shell has decided that it does not hear Ctrl-C.
    before = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM)
        if (handler := signal.getsignal(number)) != signal.SIG_IGN
    }
    for number in before:
        signal.signal(number, interrupt)
    try:
        yield received
    finally:
        ended = True
        for number, handler in before.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    main()
