"""The verbs of the `itinera` command, and the options they all share. `itinera.__main__` runs it."""

from __future__ import annotations

import sys
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
    judge,
    output,
    power,
    replay,
    report,
    reproduce,
    run,
    score,
    show,
    study,
    train,
    view,
)

app = typer.Typer(
    name="itinera",
    help="Itinera evaluates vision-and-language navigation agents: every published metric, with confidence intervals, "
    "on a laptop.\n\n"
    "A first score: itinera score predictions.json --tasks R2R_val_unseen.json --worlds connectivity/",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

QUIET = ("--quiet", "-q")


def _print_version(wanted: bool) -> None:
    if wanted:
        from itinera.records.provenance import itinera_version

        output.print_line(f"itinera {itinera_version()}")
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
app.command("train")(train.train)
app.command("run")(run.run)
app.command("replay")(replay.replay)
app.command("show")(show.show)
app.command("score")(score.score)
app.command("judge")(judge.judge)
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
