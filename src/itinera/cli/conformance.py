"""`itinera conformance`: does another scorer agree with a suite, and if not, which suite does it follow?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import options, output

if TYPE_CHECKING:
    from itinera.metrics.conformance import ConformanceReport


def conformance(
    scorer: Annotated[str, typer.Argument(help="A function as module:function; the docs describe its argument.")],
    suite: Annotated[
        str, typer.Option(help="The suite it should agree with.", autocompletion=options.suites)
    ] = "paper",
    json: options.Json = False,
) -> None:
    """Test a scorer on golden cases worked by hand, and report which suites it agrees with.

    The function receives one attempt as a plain dict and returns a dict of metric names and values; metrics it leaves
    out are not compared. Exits with 0 if it agrees with --suite everywhere, else with 1.

    Example: itinera conformance my_package.evaluation:score_one --suite hamt
    """
    from itinera import api

    sys.path.insert(0, "")  # so that a module of the current folder is found, as by `python -m`
    report = api.conformance(scorer, suite=suite)
    if json:
        suites = {a.suite: {"agreed": a.agreed, "total": a.total} for a in report.agreements}
        differences = report.differences
        output.print_json({"suite": suite, "agrees": not differences, "suites": suites, "differences": differences})
    else:
        _print(scorer, report)
    if not report.agrees:
        raise typer.Exit(1)


def _print(scorer: str, report: ConformanceReport) -> None:
    from itinera.records.tables import TextTable

    if report.differences:
        rows = tuple((d.case, d.episode, d.metric, _format(d.expected), _format(d.got)) for d in report.differences)
        title = f"Where {scorer} differs from {report.suite}"
        output.print_table(TextTable(("case", "episode", "metric", "expected", "got"), rows, title), "terminal")
    agreed = tuple((a.suite, f"{a.agreed} of {a.total}", "yes" if a.full else "") for a in report.agreements)
    output.print_table(TextTable(("suite", "values agreed", "fully"), agreed), "terminal")
    full = [a.suite for a in report.agreements if a.full]
    output.print_line(f"{scorer} agrees fully with: {', '.join(full) or 'no suite'}.")


def _format(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6g}"
