"""`itinera conformance`: does somebody else's scorer agree with ours, and if not, whose rules does it follow?"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import options, output
from itinera.cli.inputs import one_of
from itinera.cli.options import suites
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.metrics.conformance import Finding, Scorer, Verdict


def conformance(
    scorer: Annotated[str, typer.Argument(help="A function as module:function; the docs describe its one argument.")],
    suite: Annotated[str, typer.Option(help="The suite it should agree with.", autocompletion=suites)] = "paper",
    json: options.Json = False,
) -> None:
    """Try a scorer on golden cases worked by hand, and tell which suites it agrees with.

    The function gets one attempt as a plain dict and returns a dict of metric names and values; metrics it leaves out
    are not asked for. Exit 0 if it agrees with --suite everywhere, else 1.

    Example: itinera conformance my_package.evaluation:score_one --suite hamt
    """
    from itinera.metrics.conformance import check, verdict
    from itinera.metrics.suites import SUITES

    one_of("--suite", suite, tuple(SUITES))
    function = _imported(scorer)
    findings = check(function, suite=suite)
    wrong = [finding for finding in findings if not finding.agrees]
    verdicts = verdict(function)
    if json:
        told = {v.suite: {"agreed": v.agreed, "asked": v.asked} for v in verdicts}
        output.print_json({"suite": suite, "agrees": not wrong, "suites": told, "differences": wrong})
    else:
        _print(scorer, suite, wrong, verdicts)
    if wrong or not findings:
        raise typer.Exit(1)


def _print(scorer: str, suite: str, wrong: list[Finding], verdicts: tuple[Verdict, ...]) -> None:
    from itinera.reports.tables import Grid

    if wrong:
        rows = tuple((f.case, f.episode, f.metric, _told(f.expected), _told(f.got)) for f in wrong)
        title = f"Where {scorer} differs from {suite}"
        output.print_grid(Grid(("case", "episode", "metric", "expected", "got"), rows, title), "terminal")
    agreed = tuple((v.suite, f"{v.agreed} of {v.asked}", "yes" if v.full else "") for v in verdicts)
    output.print_grid(Grid(("suite", "values agreed", "fully"), agreed), "terminal")
    full = [v.suite for v in verdicts if v.full]
    typer.echo(f"{scorer} agrees fully with: {', '.join(full) or 'no suite'}.")


def _told(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6g}"


def _imported(name: str) -> Scorer:
    module, _, function = name.partition(":")
    if not (module and function):
        raise BadArgument(f"{name!r} is not module:function.")
    sys.path.insert(0, "")  # a module in the folder one stands in, as `python -m` finds it
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise BadArgument(f"{name} cannot be imported: {error}.") from None
    if not callable(found):
        raise BadArgument(f"{name} is not a function.")
    scorer: Scorer = found
    return scorer
