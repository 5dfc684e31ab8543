"""The trial of a scorer: every forgery sent to it, and a verdict on each of its answers. Start with `run_attack`."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from itinera.attacks.forgeries import EXPERT, STILL, Forgery, Honest, make_forgeries
from itinera.attacks.scorer import Reply, Scorer
from itinera.errors import BadArgument
from itinera.records.metric_rows import METRIC_COLUMNS
from itinera.records.tables import TextTable

Verdict = Literal["refused", "no better", "accepted", "no number", "crashes", "hangs", "beats"]
FAILURES = ("no number", "crashes", "hangs", "beats")
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class AttackResult:
    """How the scorer answered one forgery."""

    forgery: str
    verdict: Verdict
    scores: Mapping[str, float]
    detail: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether the scorer should be mended."""
        return self.verdict in FAILURES


@dataclass(frozen=True)
class AttackReport:
    """The answers of a scorer to all forgeries. `print` shows the table."""

    controls: Mapping[str, Mapping[str, float]]  # scores of the honest entries
    results: tuple[AttackResult, ...]

    @property
    def passed(self) -> bool:
        """Whether no forgery beat its honest twin, crashed the scorer, let it hang or got a score that is no number."""
        return not any(result.failed for result in self.results)

    @property
    def summary(self) -> str:
        """The verdicts in one line."""
        counts = {verdict: sum(result.verdict == verdict for result in self.results) for verdict in _SENTENCES}
        told = [f"{count} {_SENTENCES[verdict]}" for verdict, count in counts.items() if count]
        return f"{len(self.results)} forgeries: {', '.join(told)}."

    def to_table(self) -> TextTable:
        """A row per forgery."""
        rows = [
            (result.forgery, result.verdict, result.detail or _list_scores(result.scores)) for result in self.results
        ]
        honest = "; ".join(f"{name}: {_list_scores(scores)}" for name, scores in self.controls.items())
        return TextTable(("forgery", "verdict", "detail"), tuple(rows), honest)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; NaN and infinity as text."""
        results = [{**asdict(result), "scores": _finite(result.scores)} for result in self.results]
        controls = {name: _finite(scores) for name, scores in self.controls.items()}
        return {"passed": self.passed, "controls": controls, "results": results}

    def __str__(self) -> str:
        return f"{self.to_table()}\n{self.summary}"


_SENTENCES: Mapping[Verdict, str] = {
    "refused": "refused",
    "no better": "scored as they deserve",
    "accepted": "malformed but accepted in silence",
    "no number": "scored without a number",
    "crashes": "crash the scorer",
    "hangs": "without an answer in time",
    "beats": "beat their honest twin",
}


def run_attack(scorer: Scorer, honest: Honest, *, progress: Callable[[int], None] | None = None) -> AttackReport:
    """The answers of a scorer to every forgery of these entries.

    Raises BadArgument if the scorer does not score the honest entries, or the expert no better than the still agent:
    then its answers say nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"entry{honest.still.format.suffix}"

        def ask(content: bytes) -> Reply:
            file.write_bytes(content)
            reply = scorer.answer(file)
            if progress is not None:
                progress(1)
            return reply

        controls = {name: _check_control(name, ask(content)) for name, content in honest.controls().items()}
        if not find_gains(controls[EXPERT], controls[STILL]):
            raise BadArgument(
                "The scorer gives the expert no better score than the still agent: "
                f"{_list_scores(controls[EXPERT])} against {_list_scores(controls[STILL])}. Check its tasks."
            )
        results = [_judge(forgery, ask(forgery.make()), controls) for forgery in make_forgeries(honest)]
    return AttackReport(controls, tuple(results))


def _check_control(name: str, reply: Reply) -> Mapping[str, float]:
    if reply.how != "scored":
        raise BadArgument(f"The scorer does not score the honest entry of {name}: {reply.how}, {reply.reason}")
    if not reply.scores:
        known = ", ".join(column.name for column in METRIC_COLUMNS.values() if column.better != "neither")
        raise BadArgument(
            f"The scorer's answer to the honest entry of {name} has no metric that is known here ({known}).\n"
            "  It must print JSON, or write it to {out}, and end with exit code 0."
        )
    return reply.scores


def _judge(forgery: Forgery, reply: Reply, controls: Mapping[str, Mapping[str, float]]) -> AttackResult:
    twin = controls[forgery.twin]
    verdict, detail = _verdict(forgery, reply, twin)
    return AttackResult(forgery.name, verdict, reply.scores, detail, round(reply.seconds, 3))


def _verdict(forgery: Forgery, reply: Reply, twin: Mapping[str, float]) -> tuple[Verdict, str]:
    if reply.how == "refused":
        return "refused", reply.reason
    if reply.how == "crashed":
        return "crashes", reply.reason
    if reply.how == "timed out":
        return "hangs", reply.reason
    if gains := find_gains(reply.scores, twin):
        told = (f"{name} {reply.scores[name]:g} against {twin[name]:g} of {forgery.twin}" for name in gains)
        return "beats", "; ".join(told)
    unknown = [name for name in twin if not math.isfinite(reply.scores.get(name, math.nan))]
    if any(math.isfinite(twin[name]) for name in unknown):
        return "no number", ", ".join(f"{name} {reply.scores.get(name, 'missing')}" for name in unknown)
    return ("accepted" if forgery.malformed else "no better"), ""


def find_gains(scores: Mapping[str, float], twin: Mapping[str, float]) -> list[str]:
    """The metrics in which scores are better than those of their twin.

    >>> find_gains({"SR": 0.5, "NE": 3.0}, {"SR": 0.0, "NE": 3.0})
    ['SR']
    """
    gains = []
    for name in scores.keys() & twin.keys():
        sign = -1.0 if METRIC_COLUMNS[name].better == "lower" else 1.0
        if sign * (scores[name] - twin[name]) > _TOLERANCE * max(1.0, abs(twin[name])):
            gains.append(name)
    return sorted(gains, key=list(METRIC_COLUMNS).index)


def _list_scores(scores: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in scores.items())


def _finite(scores: Mapping[str, float]) -> dict[str, float | str]:
    return {name: value if math.isfinite(value) else str(value) for name, value in scores.items()}
