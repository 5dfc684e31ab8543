"""`itinera audit`: which scorer's rules give the numbers that were published?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import inputs as given
from itinera.cli import options, output
from itinera.errors import BadArgument, BadFile

if TYPE_CHECKING:
    from itinera.reports.tables import Grid


@dataclass(frozen=True)
class Published:
    """A number as printed, and how far from it a value may lie and still be printed so."""

    metric: str
    printed: str
    value: float  # fractions for rates
    slack: float


@dataclass(frozen=True)
class Finding:
    """What one suite makes of the predictions."""

    suite: str
    repeats: str
    means: dict[str, float]
    refused: str = ""  # why the suite's own rules do not let the predictions pass

    def agrees(self, published: Published) -> bool | None:
        if published.metric not in self.means:
            return None
        return abs(self.means[published.metric] - published.value) <= published.slack


def audit(
    predictions: options.PredictionsFile,
    tasks: options.Tasks,
    published: Annotated[
        list[str], typer.Option(metavar="METRIC=NUMBER …", help="Numbers as printed: SR=0.55, SR=55 or nDTW=66.1.")
    ],
    more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    worlds: options.Worlds = None,
    tours: options.Tours = None,
    reference: options.Dense = None,
    protocol: options.ProtocolName = None,
    format: options.Format = None,
    json: options.Json = False,
) -> None:
    """Score predictions by every suite and tell which of them give the published numbers.

    A number agrees if rounding to its printed digits gives it. Rates may be fractions or percentages.

    Example: itinera audit preds.json --tasks R4R_val_unseen.json --worlds connectivity/ --published SPL=0.27 SR=31.5
    """
    wanted = [_parsed(text) for entry in (*published, *(more or ())) for text in entry.replace(",", " ").split()]
    read = given.gather(predictions, tasks, worlds, format=format, tours=tours, reference=reference, protocol=protocol)
    findings = _findings(read)
    known = {name for finding in findings for name in finding.means}
    for number in wanted:
        if number.metric not in known:
            raise BadArgument(f"No suite has a metric {number.metric}; there are {', '.join(sorted(known))}.")
    matches = [f for f in findings if not f.refused and all(f.agrees(number) for number in wanted)]
    if json:
        output.print_json(_plain(wanted, findings, matches))
        return
    output.print_grid(_grid(wanted, findings), "terminal")
    typer.echo(_verdict(matches))


def _parsed(text: str) -> Published:
    metric, equals, printed = text.partition("=")
    try:
        value = float(printed.rstrip("%"))
    except ValueError:
        equals = ""
        value = 0.0
    if not equals or not metric:
        raise BadArgument(f"--published {text!r} is not METRIC=NUMBER, such as SR=0.55.")
    digits = len(printed.rstrip("%").partition(".")[2])
    slack = 0.5 * 10.0**-digits
    # A rate cannot exceed 1, so 55 or 55.2 must be a percentage.
    if metric not in ("PL", "NE", "ONE", "DTW", "steps") and (value > 1 or printed.endswith("%")):
        value, slack = value / 100, slack / 100
    return Published(metric, printed, value, slack * (1 + 1e-9))


def _findings(read: given.Inputs) -> list[Finding]:
    from dataclasses import replace

    from itinera.metrics.matching import Rules, pair, repeated_share
    from itinera.metrics.score import score
    from itinera.metrics.suites import SUITES
    from itinera.reports.summary import summarise

    lenient = pair(read.predictions, read.split, read.worlds, rules=Rules(jumps="measure", starts="measure"))
    findings = []
    for repeats in ("keep", "drop") if repeated_share(lenient) > 0 else ("keep",):
        for name, suite in SUITES.items():
            try:
                table = score(
                    replace(read.predictions, protocol=read.protocol),
                    read.split,
                    read.worlds,
                    suite(read.protocol),
                    repeats=repeats,
                )
            except BadFile as error:
                findings.append(Finding(name, repeats, {}, f"refuses {len(error.faults)} trajectories"))
                continue
            means = {metric: i.mean for metric, i in summarise(table).intervals.items()}
            findings.append(Finding(name, repeats, means))
    return findings


def _grid(wanted: list[Published], findings: list[Finding]) -> Grid:
    from itinera.reports.tables import Grid

    rows = []
    for finding in findings:
        cells = []
        for number in wanted:
            found = finding.means.get(number.metric)
            cells.append("–" if found is None else f"{found:.4f} {'✓' if finding.agrees(number) else '✗'}")
        name = finding.suite if finding.repeats == "keep" else f"{finding.suite}, repeats dropped"
        rows.append((name, *cells, finding.refused))
    headings = ("suite", *(f"{number.metric} = {number.printed}" for number in wanted), "")
    if not any(finding.refused for finding in findings):
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    return Grid(headings, tuple(rows))


def _verdict(matches: list[Finding]) -> str:
    if not matches:
        return "No suite gives these numbers: other predictions, another split, or rules not known here."
    names = [f.suite if f.repeats == "keep" else f"{f.suite} (repeats dropped)" for f in matches]
    return f"The published numbers are those of: {', '.join(names)}."


def _plain(wanted: list[Published], findings: list[Finding], matches: list[Finding]) -> dict[str, object]:
    return {
        "published": {number.metric: number.value for number in wanted},
        "matches": [{"suite": f.suite, "repeats": f.repeats} for f in matches],
        "suites": [
            {
                "suite": f.suite,
                "repeats": f.repeats,
                "refused": f.refused or None,
                "metrics": f.means,
                "agrees": {number.metric: f.agrees(number) for number in wanted},
            }
            for f in findings
        ],
    }
