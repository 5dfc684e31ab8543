"""The findings of skill studies in sentences and tables: a verdict for each skill, and a row for each agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itinera.formats.trials import FilterCounts
from itinera.records.tables import TextTable, count_noun, to_html
from itinera.skills.analysis import AnalysisConfig, Effect, SkillFinding
from itinera.skills.responses import SkillResponses
from itinera.skills.skill_table import COLUMNS, METRICS, SkillRow
from itinera.stats import Interval, MixedFit
from itinera.worlds import World

FIRST_ARM = {"intervention": "with the sentence", "control": "with the truncated instruction"}
# Behind the name of a skill; the first is what every skill has.
CONTRASTS = {
    ("intervention", "control"): "",
    ("intervention", "ahead"): " vs. continued",
    ("control", "ahead"): ", truncated vs. continued",
}
RESPONDS, WRONG_DIRECTION, NO_EFFECT = "responds", "wrong direction", "no effect"
TOO_FEW_TRIALS, TOO_FEW_SCENES = "too few trials", "too few scenes"
MIN_PAIRS, MIN_SCENES = 20, 3  # below, a difference that is not significant says nothing
SECOND_ARM = {"control": "without", "ahead": "with the instruction continued"}


@dataclass(frozen=True, eq=False)
class StudyAnalysis:
    """The findings of a skill study. `print` shows a table of effects with a verdict on each, and the skill table."""

    findings: Mapping[str, Sequence[SkillFinding]]  # by agent
    rows: Sequence[SkillRow]  # of the skill table
    filter_counts: Mapping[str, FilterCounts]  # of the study's design, by skill
    responses: Mapping[str, Mapping[str, SkillResponses]]  # by agent and skill
    worlds: Mapping[str, World]
    config: AnalysisConfig

    def __getitem__(self, agent: str) -> dict[str, SkillFinding]:
        """The findings about an agent, by skill."""
        if agent not in self.findings:
            raise KeyError(f"no agent {agent!r} in this study; there are {', '.join(self.findings)}")
        return {finding.skill.name: finding for finding in self.findings[agent]}

    def __repr__(self) -> str:
        skills = {finding.skill.name: None for findings in self.findings.values() for finding in findings}
        return f"StudyAnalysis({', '.join(self.findings)}: {', '.join(skills)})"

    def __str__(self) -> str:
        return f"{self.effects_table()}\n{self.to_table()}"

    def _repr_html_(self) -> str:
        return to_html(self.effects_table()) + to_html(self.to_table())

    def verdicts(self) -> Iterator[str]:
        """A sentence for each effect of each skill of each agent."""
        for agent, findings in self.findings.items():
            for finding in findings:
                yield from format_verdicts(agent, finding)

    def remarks(self) -> Iterator[str]:
        """Sentences on the candidate trials that were dropped and the trials that failed or are missing."""
        yield from format_filter_counts(self.filter_counts)
        for agent, findings in self.findings.items():
            for finding in findings:
                yield from format_missing_trials(agent, finding)

    def effects_table(self) -> TextTable:
        """A row per effect of each skill of each agent: means, difference with interval, p-value and verdict."""
        return effects_table(self.findings)

    def to_table(self) -> TextTable:
        """The skill table: a row per agent, percentages with intervals."""
        return skill_table(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """All findings as plain values for JSON."""
        return to_dict(self.findings, self.rows, self.filter_counts)

    def draw(self, folder: str | Path) -> list[Path]:
        """Draw every figure there are trials for into a folder; the files written. Needs itinera[figures]."""
        from itinera.reports.charts.skills import draw_all

        return draw_all(Path(folder), self.responses, self.worlds, self.config)


def format_verdicts(agent: str, finding: SkillFinding) -> Iterator[str]:
    """A sentence on each effect of a skill: its size, interval, p-value and meaning."""
    if not finding.effects:
        yield f"{agent}, {finding.skill.name}: {_no_effect(finding)}"
    for effect in finding.effects:
        score = _format_score(finding) if effect is finding.effects[0] else ""
        yield f"{agent}, {finding.skill.name}: {_format_effect(finding, effect)}{score}"


def _no_effect(finding: SkillFinding) -> str:
    counts = finding.counts
    return (
        f"nothing to compare; of {counts.total} trials {counts.completed} were completed, {counts.failed} failed and "
        f"{counts.missing} are missing."
    )


def _format_effect(finding: SkillFinding, effect: Effect) -> str:
    unit = finding.skill.unit
    one, other = (format_response(mean.mean, unit) for mean in effect.means)
    found = effect.interval
    interval = f"{100 * found.level:g} % {format_signed(found.low, unit)} to {format_signed(found.high, unit)}"
    sample = f"{effect.pairs} pairs in {count_noun(effect.scenes, 'scene')}"
    first, second = effect.arms
    means = f"{finding.skill.response_name} {one} {FIRST_ARM[first]}, {other} {SECOND_ARM[second]}"
    difference = f"{format_signed(found.mean, unit)} ({interval}, {_format_p(effect)}, {sample})"
    return f"{means}: {difference}; {interpret_effect(finding, effect)}."


def interpret_effect(finding: SkillFinding, effect: Effect) -> str:
    """The meaning of an effect: its direction, and whether it is significant."""
    found, p = effect.interval, effect.p_value
    if found.low == found.high == 0:
        return "no effect in any scene"
    if p is not None and p >= 1 - found.level:
        return "not significant"
    intended = (found.mean > 0) == finding.skill.higher_is_better
    direction = "in the intended direction" if intended else "opposite to the intended direction"
    if p is not None:
        return f"significant, {direction}"
    if found.low == found.high:
        return f"the same in every scene, {direction}"
    return "no test with one scene" if effect.scenes == 1 else "no test, because no model could be fitted"


def judge_effect(finding: SkillFinding, effect: Effect) -> str:
    """The verdict on an effect in two or three words.

    Few pairs or scenes without a significant difference are no evidence that there is none.
    """
    found, p = effect.interval, effect.p_value
    intended = RESPONDS if (found.mean > 0) == finding.skill.higher_is_better else WRONG_DIRECTION
    if found.low == found.high == 0:
        return NO_EFFECT
    if p is not None and p < 1 - found.level:
        return intended
    if effect.scenes < MIN_SCENES:
        return TOO_FEW_SCENES
    if p is None and found.low == found.high:  # the same in every scene
        return intended
    return NO_EFFECT if p is not None and effect.pairs >= MIN_PAIRS else TOO_FEW_TRIALS


def effects_table(findings: Mapping[str, Sequence[SkillFinding]]) -> TextTable:
    """A row per effect: the response with and without the sentence, the difference, its p-value and the verdict."""
    rows = []
    for agent, of_agent in findings.items():
        for finding in of_agent:
            name, unit = f"{agent}, {finding.skill.name}", finding.skill.unit
            if not finding.effects:
                rows.append((name, "", "", "", "", "0", TOO_FEW_TRIALS))
            for effect in finding.effects:
                first, second = (format_response(mean.mean, unit) for mean in effect.means)
                gap = effect.interval
                low, high = (format_signed(end, unit) for end in (gap.low, gap.high))
                difference = f"{format_signed(gap.mean, unit)} [{low}, {high}]"
                p = _format_p(effect).removeprefix("p = ").removeprefix("p ").replace("no p-value", "")
                verdict = judge_effect(finding, effect)
                rows.append(
                    (f"{name}{CONTRASTS[effect.arms]}", first, second, difference, p, str(effect.pairs), verdict)
                )
    title = "effects of the added sentences on the agents' responses: with minus without"
    return TextTable(("agent, skill", "with", "without", "difference", "p", "pairs", "verdict"), tuple(rows), title)


def _format_score(finding: SkillFinding) -> str:
    score = finding.score
    if score is None:
        return ""
    return f" Score {100 * score.mean:.1f} % ({100 * score.low:.1f} – {100 * score.high:.1f})."


def _format_p(effect: Effect) -> str:
    p = effect.p_value
    return "no p-value" if p is None else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def format_response(value: float, unit: str) -> str:
    """A response with its unit."""
    rounded = round(value, 2 if unit == "m" else 3) + 0.0  # so that zero is never negative
    return (f"{rounded:.2f} m" if unit == "m" else f"{rounded:.3f}").replace("-", "−")


def format_signed(value: float, unit: str) -> str:
    """A difference of responses with its sign and unit."""
    return ("+" if value > 0 else "") + format_response(value, unit)


def format_filter_counts(filter_counts: Mapping[str, FilterCounts]) -> Iterator[str]:
    """A sentence for each skill: how many candidates were kept, and why the others were dropped."""
    for name, counts in filter_counts.items():
        reasons = "; ".join(f"{count} {reason}" for reason, count in counts.dropped.items())
        kept = f"{name}: {counts.kept} of {counts.candidates} candidates kept"
        yield f"{kept}; dropped: {reasons}." if reasons else f"{kept}."


def format_missing_trials(agent: str, finding: SkillFinding) -> Iterator[str]:
    """A sentence on the trials of a skill that failed or are missing, if any."""
    counts = finding.counts
    if counts.failed or counts.missing:
        reasons = "; ".join(f"{number} {reason}" for reason, number in counts.failure_reasons.items())
        failed = f"{counts.failed} failed ({reasons})" if counts.failed else "0 failed"
        unpaired = finding.effects[0].unpaired if finding.effects else counts.by_arm.get("intervention", 0)
        yield (
            f"{agent}, {finding.skill.name}: of {counts.total} trials {counts.completed} completed, {failed}, "
            f"{counts.missing} missing; {unpaired} interventions are left out."
        )


def skill_table(rows: Sequence[SkillRow]) -> TextTable:
    """The skill table: a row per agent, percentages with intervals."""
    columns = [name for name in COLUMNS if any(name in row.scores for row in rows)]
    metrics = [name for name in METRICS if any(name in row.metrics for row in rows)]
    has_mean = any(row.mean is not None for row in rows)
    headings = (
        "agent",
        *(f"{name} %" for name in columns),
        *(["mean %"] if has_mean else []),
        *(f"{m} %" for m in metrics),
    )
    cells = [
        (
            row.agent,
            *(_format_percent(row.scores.get(name)) for name in columns),
            *([_format_percent(row.mean)] if has_mean else []),
            *(_format_percent(row.metrics.get(name)) for name in metrics),
        )
        for row in rows
    ]
    title = "skill scores, %: mean probability of the correct actions with the sentence"
    return TextTable(tuple(headings), tuple(cells), title)


def _format_percent(found: Interval | None) -> str:
    if found is None:
        return ""
    if found.low != found.low:
        return f"{100 * found.mean:.1f}"
    return f"{100 * found.mean:.1f} ({100 * found.low:.1f} – {100 * found.high:.1f})"


def to_dict(
    findings: Mapping[str, Sequence[SkillFinding]],
    rows: Sequence[SkillRow],
    filter_counts: Mapping[str, FilterCounts],
) -> dict[str, Any]:
    """All findings as plain values for JSON: fractions and metres, never percentages."""
    return {
        "designed": {
            name: {"candidates": counts.candidates, "kept": counts.kept, "dropped": counts.dropped}
            for name, counts in filter_counts.items()
        },
        "agents": {
            agent: {finding.skill.name: _finding_dict(agent, finding) for finding in of_agent}
            for agent, of_agent in findings.items()
        },
        "table": {
            row.agent: {
                **{name: _interval_dict(score) for name, score in row.scores.items()},
                "mean": _interval_dict(row.mean),
                **{name: _interval_dict(metric) for name, metric in row.metrics.items()},
            }
            for row in rows
        },
    }


def _finding_dict(agent: str, finding: SkillFinding) -> dict[str, Any]:
    counts = finding.counts
    return {
        "verdicts": list(format_verdicts(agent, finding)),
        "response": finding.skill.response_name,
        "unit": finding.skill.unit,
        "trials": {
            "total": counts.total,
            "completed": counts.completed,
            "failed": counts.failed,
            "missing": counts.missing,
            "reasons": dict(counts.failure_reasons),
        },
        "score": _interval_dict(finding.score),
        "effects": [{"verdict": judge_effect(finding, one)} | _effect_dict(one) for one in finding.effects],
    }


def _effect_dict(effect: Effect) -> dict[str, Any]:
    first, second = effect.arms
    ratio = effect.ratio
    return {
        "arms": list(effect.arms),
        "pairs": effect.pairs,
        "scenes": effect.scenes,
        "unpaired": effect.unpaired,
        first: _interval_dict(effect.means[0]),
        second: _interval_dict(effect.means[1]),
        "resampled": _interval_dict(effect.difference),
        "effect": _interval_dict(effect.interval),
        "p_value": effect.p_value,
        "models": {name: _fit_dict(fit) for name, fit in effect.fits.items()},
        "likelihood_ratio": None if ratio is None else {"statistic": ratio.statistic, "p_value": ratio.p_value},
        "fit_error": effect.fit_error,
    }


def _fit_dict(fit: MixedFit) -> dict[str, Any]:
    return {
        "formula": fit.formula,
        "intercept": fit.intercept.estimate,
        "estimate": fit.effect.estimate,
        "standard_error": fit.effect.standard_error,
        "df": fit.effect.df,
        "t": fit.effect.t,
        "model_p_value": fit.effect.p_value,
        "interval": _interval_dict(fit.interval),
        "p_value": fit.p_value,
        "effect_size": fit.effect_size,
        "components": [{"group": c.group, "term": c.term, "sd": c.sd} for c in fit.components],
        "log_likelihood": fit.log_likelihood,
        "converged": fit.converged,
        "singular": fit.singular,
    }


def _interval_dict(found: Interval | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"mean": found.mean, "low": found.low, "high": found.high, "level": found.level, "method": found.method}
