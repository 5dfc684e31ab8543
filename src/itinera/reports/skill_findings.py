"""The findings of skill studies in words and tables: a verdict for each skill, and agents side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from itinera.formats.trials import Counts
from itinera.reports.tables import Grid
from itinera.skills.analysis import Effect, Finding
from itinera.skills.skill_table import COLUMNS, METRICS, SkillRow
from itinera.stats import Interval, MixedFit

AGAINST = {"control": "without", "ahead": "with words that lead on"}
TOLD = {"intervention": "with the sentence", "control": "with the words cut here"}


def verdicts(agent: str, finding: Finding) -> Iterator[str]:
    """A sentence on the skill, and one on each further comparison: what the words do, how much, how sure."""
    if not finding.effects:
        yield f"{agent}, {finding.skill.name}: {_nothing(finding)}"
    for effect in finding.effects:
        score = _scored(finding) if effect is finding.effects[0] else ""
        yield f"{agent}, {finding.skill.name}: {_compared(finding, effect)}{score}"


def _nothing(finding: Finding) -> str:
    count = finding.count
    return (
        f"nothing can be compared; of {count.asked} trials {count.answered} were answered, {count.failed} failed and "
        f"{count.unanswered} have no answer."
    )


def _compared(finding: Finding, effect: Effect) -> str:
    unit = finding.skill.unit
    one, other = (number(mean.mean, unit) for mean in effect.means)
    found = effect.interval
    ends = f"{signed(found.low, unit)} to {signed(found.high, unit)}"
    sure = f"{100 * found.level:g} % {ends}, {_p(effect)}, {effect.pairs} pairs in {_scenes(effect.scenes)}"
    first, second = effect.arms
    what = f"{finding.skill.measures} {one} {TOLD[first]}, {other} {AGAINST[second]}"
    return f"{what}: {signed(found.mean, unit)} ({sure}); {meaning(finding, effect)}."


def _scenes(count: int) -> str:
    return "1 scene" if count == 1 else f"{count} scenes"


def meaning(finding: Finding, effect: Effect) -> str:
    """What to make of an effect."""
    found, p = effect.interval, effect.p_value
    if found.low == found.high == 0:
        return "the words change nothing"
    if p is not None and p >= 1 - found.level:
        return "an effect cannot be told from chance"
    wanted = (found.mean > 0) == finding.skill.higher_is_better
    does = "the words do what they should" if wanted else "the words do the opposite of what they should"
    if p is not None:
        return does
    if found.low == found.high:
        return f"{does}, in every scene alike"
    return "how surely, one scene cannot tell" if effect.scenes == 1 else "how surely, no model can tell"


def _scored(finding: Finding) -> str:
    score = finding.score
    if score is None:
        return ""
    return f" Score {100 * score.mean:.1f} % ({100 * score.low:.1f} – {100 * score.high:.1f})."


def _p(effect: Effect) -> str:
    p = effect.p_value
    return "no p-value" if p is None else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def number(value: float, unit: str) -> str:
    """A response in words."""
    shown = round(value, 2 if unit == "m" else 3) + 0.0  # so that nothing is never negative
    return (f"{shown:.2f} m" if unit == "m" else f"{shown:.3f}").replace("-", "−")


def signed(value: float, unit: str) -> str:
    """A difference in words."""
    return ("+" if value > 0 else "") + number(value, unit)


def filtered(tallies: Mapping[str, Counts]) -> Iterator[str]:
    """A sentence for each skill: how many candidates were kept, and why the others were dropped."""
    for name, counts in tallies.items():
        reasons = "; ".join(f"{count} {reason}" for reason, count in counts.dropped.items())
        told = f"{name}: {counts.kept} of {counts.candidates} candidates kept"
        yield f"{told}; dropped: {reasons}." if reasons else f"{told}."


def losses(agent: str, finding: Finding) -> Iterator[str]:
    """What of a skill's trials could not be used, if any."""
    count = finding.count
    if count.failed or count.unanswered:
        reasons = "; ".join(f"{number} {reason}" for reason, number in count.reasons.items())
        failed = f"{count.failed} failed ({reasons})" if count.failed else "0 failed"
        lost = finding.effects[0].lost if finding.effects else count.by_arm.get("intervention", 0)
        yield (
            f"{agent}, {finding.skill.name}: of {count.asked} trials {count.answered} answered, {failed}, "
            f"{count.unanswered} without an answer; {lost} interventions are left out."
        )


def table_grid(rows: Sequence[SkillRow]) -> Grid:
    """Agents side by side: percentages, each with its interval."""
    columns = [name for name in COLUMNS if any(name in row.scores for row in rows)]
    metrics = [name for name in METRICS if any(name in row.metrics for row in rows)]
    mean = any(row.mean is not None for row in rows)
    headings = (
        "agent",
        *(f"{name} %" for name in columns),
        *(["mean %"] if mean else []),
        *(f"{m} %" for m in metrics),
    )
    cells = [
        (
            row.agent,
            *(_percent(row.scores.get(name)) for name in columns),
            *([_percent(row.mean)] if mean else []),
            *(_percent(row.metrics.get(name)) for name in metrics),
        )
        for row in rows
    ]
    title = "skill scores, %: the mean probability of the right actions when told"
    return Grid(tuple(headings), tuple(cells), title)


def _percent(found: Interval | None) -> str:
    if found is None:
        return ""
    if found.low != found.low:
        return f"{100 * found.mean:.1f}"
    return f"{100 * found.mean:.1f} ({100 * found.low:.1f} – {100 * found.high:.1f})"


def as_plain(
    found: Mapping[str, Sequence[Finding]], rows: Sequence[SkillRow], tallies: Mapping[str, Counts]
) -> dict[str, Any]:
    """Everything found, as JSON holds it."""
    return {
        "designed": {
            name: {"candidates": counts.candidates, "kept": counts.kept, "dropped": counts.dropped}
            for name, counts in tallies.items()
        },
        "agents": {
            agent: {finding.skill.name: _plain_finding(agent, finding) for finding in findings}
            for agent, findings in found.items()
        },
        "table": {
            row.agent: {
                **{name: _plain(score) for name, score in row.scores.items()},
                "mean": _plain(row.mean),
                **{name: _plain(metric) for name, metric in row.metrics.items()},
            }
            for row in rows
        },
    }


def _plain_finding(agent: str, finding: Finding) -> dict[str, Any]:
    count = finding.count
    return {
        "verdicts": list(verdicts(agent, finding)),
        "measures": finding.skill.measures,
        "unit": finding.skill.unit,
        "trials": {
            "asked": count.asked,
            "answered": count.answered,
            "failed": count.failed,
            "unanswered": count.unanswered,
            "reasons": dict(count.reasons),
        },
        "score": _plain(finding.score),
        "effects": [_plain_effect(effect) for effect in finding.effects],
    }


def _plain_effect(effect: Effect) -> dict[str, Any]:
    first, second = effect.arms
    ratio = effect.ratio
    return {
        "arms": list(effect.arms),
        "pairs": effect.pairs,
        "scenes": effect.scenes,
        "lost": effect.lost,
        first: _plain(effect.means[0]),
        second: _plain(effect.means[1]),
        "resampled": _plain(effect.difference),
        "effect": _plain(effect.interval),
        "p_value": effect.p_value,
        "models": {name: _plain_fit(fit) for name, fit in effect.fits.items()},
        "likelihood_ratio": None if ratio is None else {"statistic": ratio.statistic, "p_value": ratio.p_value},
        "not_fitted": effect.unfitted,
    }


def _plain_fit(fit: MixedFit) -> dict[str, Any]:
    return {
        "formula": fit.formula,
        "intercept": fit.intercept.estimate,
        "estimate": fit.effect.estimate,
        "standard_error": fit.effect.standard_error,
        "df": fit.effect.df,
        "t": fit.effect.t,
        "model_p_value": fit.effect.p_value,
        "interval": _plain(fit.interval),
        "p_value": fit.p_value,
        "effect_size": fit.effect_size,
        "components": [{"group": c.group, "term": c.term, "sd": c.sd} for c in fit.components],
        "log_likelihood": fit.log_likelihood,
        "converged": fit.converged,
        "singular": fit.singular,
    }


def _plain(found: Interval | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"mean": found.mean, "low": found.low, "high": found.high, "level": found.level, "method": found.method}
