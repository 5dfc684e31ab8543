"""A benchmark in sentences: which agent is better, by how much, how certain, and where the best one fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from itinera.formats.report_json import StudyResults
from itinera.records import Column
from itinera.records.summary import summarize_runs
from itinera.records.tables import count_episodes, count_noun, format_difference, format_number
from itinera.reports.benchmark import BenchmarkResults
from itinera.reports.breakdown import (
    Breakdown,
    classify_failures,
    compute_tour_gain,
    find_unsolved,
    group_by_length,
    group_by_scene,
    group_by_tour_position,
)
from itinera.reports.comparison import MetricComparison, describe_runs
from itinera.reports.markup import display_name
from itinera.stats import Interval

PHRASES = {
    "SR": "success rate",
    "SPL": "success weighted by path length",
    "SCT": "success weighted by completion time",
    "nDTW": "nDTW (path fidelity)",
    "t-nDTW": "t-nDTW (fidelity over whole tours)",
    "NE": "navigation error",
}
FEW_SCENES = 6  # with fewer, no p-value can be below 0.05
LISTED_KINDS = 3  # kinds of failure named in the sentence


@dataclass(frozen=True)
class Answer:
    """A question of the summary, and the answer of the results."""

    question: str
    sentences: tuple[str, ...]


def answer_questions(benchmark: BenchmarkResults) -> tuple[Answer, ...]:
    """The summary of a benchmark: questions with their answers, without those that do not apply."""
    answers = (
        Answer("Which agent is better?" if len(benchmark.names) > 1 else "How good is it?", tuple(_rank(benchmark))),
        Answer("By how much?", tuple(_measure_lead(benchmark))),
        Answer("How certain is that?", tuple(_state_certainty(benchmark))),
        Answer("Where does it fail?", tuple(_locate_failures(benchmark))),
        Answer("Does memory help?", tuple(summarize_memory(benchmark))),
    )
    return tuple(answer for answer in answers if answer.sentences)


def format_value(column: Column, x: float) -> str:
    """A value with its unit."""
    unit = {"": " %", "m": " m", "s": " s"}.get(column.unit, f" {column.unit}")
    return f"{format_number(column, x)}{unit}"


def format_interval(column: Column, found: Interval) -> str:
    """A mean with its unit and its interval."""
    low, high = format_number(column, found.low), format_number(column, found.high)
    return f"{format_value(column, found.mean)} ({low} – {high})"


def format_p_value(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def metric_phrase(column: Column) -> str:
    """The metric in words, or its name."""
    return PHRASES.get(column.name, column.name)


def join_words(parts: Sequence[str], last: str = "and") -> str:
    """a, b and c."""
    return f" {last} ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def _rank(benchmark: BenchmarkResults) -> list[str]:
    column = benchmark.primary_metric
    order = benchmark.ranking(column)
    best = order[0]
    found = benchmark.summaries[best].intervals.get(column.name)
    if found is None:
        return [f"{column.name} is undefined in every episode, so it cannot rank the agents."]
    episodes = count_episodes(benchmark.episodes, benchmark.tables[0].part)
    sample = f"{episodes} in {count_noun(len(benchmark.scene_ids), 'scene')}"
    measured = f"{metric_phrase(column)} {format_interval(column, found)}"
    if len(benchmark.names) == 1:
        return [f"{benchmark.names[0]}: {measured} on {sample}.", *_compare_second_metric(benchmark)]
    tied = [benchmark.names[i] for i in order if _is_tied(benchmark, column.name, i, best)]
    if len(tied) == 1:
        others = benchmark.names[order[1]] if len(order) == 2 else f"each of the other {len(order) - 1} agents"
        first = f"{benchmark.names[best]} is better than {others}: {measured} on {sample}."
    else:
        first = f"{join_words(tied)} lead and do not differ significantly on {sample}: {measured} for "
        first += f"{benchmark.names[best]}."
    return [first, *_compare_second_metric(benchmark)]


def _compare_second_metric(benchmark: BenchmarkResults) -> list[str]:
    column = benchmark.secondary_metric
    if column is None:
        return []
    order = benchmark.ranking(column)
    best, leader = order[0], benchmark.ranking(benchmark.primary_metric)[0]
    found = benchmark.summaries[best].intervals.get(column.name)
    if found is None:
        return []
    if len(order) == 1:
        return [f"Its {metric_phrase(column)} is {format_interval(column, found)}."]
    if best == leader:
        return [f"It is also first by {metric_phrase(column)}: {format_interval(column, found)}."]
    tied = _is_tied(benchmark, column.name, leader, best)
    difference = ", though the two do not differ significantly" if tied else ""
    first = f"By {metric_phrase(column)}, {benchmark.names[best]} is first: {format_interval(column, found)}"
    return [f"{first}{difference}."]


def _is_tied(benchmark: BenchmarkResults, metric: str, one: int, other: int) -> bool:
    """Whether two agents share a letter."""
    found = find_comparison(benchmark, metric)
    if found is None or one == other:
        return one == other
    return bool(set(found.letters[one]) & set(found.letters[other]))


def find_comparison(benchmark: BenchmarkResults, metric: str) -> MetricComparison | None:
    """The comparison of a metric; None if there is none."""
    metrics = () if benchmark.comparison is None else benchmark.comparison.metrics
    return next((m for m in metrics if m.column.name == metric), None)


def _measure_lead(benchmark: BenchmarkResults) -> list[str]:
    if len(benchmark.names) < 2:
        return []
    order = benchmark.ranking(benchmark.primary_metric)
    best, second = order[:2]
    parts = []
    for column in (benchmark.primary_metric, _second_episode_metric(benchmark)):
        found = None if column is None else benchmark.difference(column.name, best, second)
        if column is not None and found is not None:
            gap = found[0].interval
            unit = " points" if column.unit == "" else f" {column.unit}"
            low, high = format_difference(column, gap.low), format_difference(column, gap.high)
            parts.append(f"{format_difference(column, gap.mean)}{unit} of {column.name} ({low} to {high})")
    if not parts:
        return []
    next_best = "" if len(order) == 2 else ", the next best"
    return [f"Compared with {benchmark.names[second]}{next_best}: {join_words(parts)}, on the same episodes."]


def _second_episode_metric(benchmark: BenchmarkResults) -> Column | None:
    """The second metric if it is one of episodes; nDTW of the episodes if it is one of tours."""
    column = benchmark.secondary_metric
    return column if column is None or column.name in benchmark.columns else benchmark.columns.get("nDTW")


def _state_certainty(benchmark: BenchmarkResults) -> list[str]:
    scenes = len(benchmark.scene_ids)
    sentences = []
    if len(benchmark.names) > 1:
        best, second = benchmark.ranking(benchmark.primary_metric)[:2]
        if benchmark.difference(benchmark.primary_metric.name, best, second) is not None:
            sentences.append(_report_test(benchmark, best, second))
    percent = f"{100 * benchmark.level:g} %"
    if scenes == 1:
        sentences.append(f"There is only one scene: the {percent} intervals do not generalize to other scenes.")
    elif scenes < FEW_SCENES and len(benchmark.names) > 1:
        smallest = f"{2.0 ** (1 - scenes):.2g}"
        sentences.append(f"With {scenes} scenes, no p-value can be below {smallest}, however many episodes there are.")
    else:
        sentences.append(f"Intervals are {percent}, clustered by scene ({scenes} scenes).")
    sentences += _describe_runs(benchmark)
    return [*sentences, *_list_caveats(benchmark)]


def _describe_runs(benchmark: BenchmarkResults) -> list[str]:
    """The spread of the runs of the best agent with several, and which agents have one."""
    if not benchmark.has_runs:
        return []
    column = benchmark.primary_metric
    agent = next(i for i in benchmark.ranking(column) if benchmark.tables[i].runs)
    found = summarize_runs(benchmark.tables[agent]).get(column.name)
    sentences = [] if found is None else [describe_runs(benchmark.names[agent], column, found)]
    single = [name for name, table in zip(benchmark.names, benchmark.tables, strict=True) if not table.runs]
    if single:
        sentences.append(f"There is one run of {join_words(single)}: intervals do not generalize to other runs of it.")
    return sentences


def _report_test(benchmark: BenchmarkResults, best: int, second: int) -> str:
    column = benchmark.primary_metric
    found = benchmark.difference(column.name, best, second)
    assert found is not None
    difference, better = found
    a, b = benchmark.values(column.name)[[best, second]]
    sign = -1.0 if column.better == "lower" else 1.0
    both = np.isfinite(a) & np.isfinite(b)
    gaps = sign * (np.where(both, a, 0.0) - np.where(both, b, 0.0))
    ahead = int((np.bincount(benchmark.scenes, weights=gaps) > 0).sum())
    scenes = count_noun(len(benchmark.scene_ids), "scene")
    lead = f"{benchmark.names[best]} is ahead of {benchmark.names[second]} in {ahead} of {scenes}"
    name = "permutation test over scenes" if difference.test == "sign flips" else "t-test over runs and scenes"
    test = f"{format_p_value(difference.p_value)}, {name}"
    return f"{lead} ({test}). P(better) on a single episode is {better.mean:.2f}, ties halved."


def _list_caveats(benchmark: BenchmarkResults) -> list[str]:
    """Missing trajectories and undefined values."""
    sentences = []
    for name, table in zip(benchmark.names, benchmark.tables, strict=True):
        if table.missing.any():
            missing = count_noun(int(table.missing.sum()), "episode")
            sentences.append(f"{name} has no trajectory for {missing}, counted as failures.")
    column = benchmark.primary_metric
    for name, summary in zip(benchmark.names, benchmark.summaries, strict=True):
        if column.name in summary.undefined:
            undefined = count_noun(summary.undefined[column.name], "episode")
            sentences.append(f"{column.name} of {name} is undefined in {undefined}.")
    return sentences


def _locate_failures(benchmark: BenchmarkResults) -> list[str]:
    """Failures of the best agent; if that one never fails, of the best one that does."""
    order = benchmark.ranking(benchmark.primary_metric)
    perfect = [found is not None and not found.total for found in (classify_failures(benchmark, i) for i in order)]
    if all(perfect):
        verb = "succeed" if len(order) > 1 else "succeeds"
        return [f"{join_words([benchmark.names[i] for i in order])} {verb} in every episode."]
    agent = order[perfect.index(False)]
    sentences = []
    if agent != order[0]:
        sentences.append(f"{benchmark.names[order[0]]} succeeds in every episode; {benchmark.names[agent]} does not.")
    return [
        *sentences,
        *_count_kinds(benchmark, agent),
        *_name_extreme_scenes(benchmark, agent),
        *_compare_lengths(benchmark, agent),
        *_count_unsolved(benchmark),
    ]


def _count_kinds(benchmark: BenchmarkResults, agent: int) -> list[str]:
    found = classify_failures(benchmark, agent)
    if found is None:
        return []
    kinds = sorted(found.kinds, key=lambda kind: -len(found.kinds[kind]))
    parts = [f"{len(found.kinds[kind]):,} {kind}" for kind in kinds[:LISTED_KINDS]]
    rest = sum(len(found.kinds[kind]) for kind in kinds[LISTED_KINDS:])
    parts += [f"{rest:,} in another way"] if rest else []
    where = " in its first run" if benchmark.tables[agent].runs else ""
    return [f"{benchmark.names[agent]}: {count_noun(found.total, 'failure')}{where}, of which {join_words(parts)}."]


def _name_extreme_scenes(benchmark: BenchmarkResults, agent: int) -> list[str]:
    if len(benchmark.scene_ids) < 2:
        return []
    found = group_by_scene(benchmark, benchmark.primary_metric)
    return _name_extremes(found, agent)


def _name_extremes(found: Breakdown, agent: int) -> list[str]:
    defined = [(s, mean) for s in found.slices if (mean := s.means[agent]) is not None]
    if not defined:
        return []
    column, sign = found.column, -1.0 if found.column.better == "lower" else 1.0
    worst = min(defined, key=lambda pair: sign * pair[1].mean)
    best = max(defined, key=lambda pair: sign * pair[1].mean)
    if worst[1].mean == best[1].mean:
        return []
    low, high = (f"{display_name(s.label)} ({format_value(column, mean.mean)})" for s, mean in (worst, best))
    return [f"Hardest scene: {low}; easiest: {high}."]


def _compare_lengths(benchmark: BenchmarkResults, agent: int) -> list[str]:
    found = group_by_length(benchmark, benchmark.primary_metric)
    if found is None or len(found.slices) < 2:
        return []
    first, last = found.slices[0], found.slices[-1]
    short, long = first.means[agent], last.means[agent]
    if short is None or long is None:
        return []
    column = found.column
    overlap = "" if short.low > long.high or long.low > short.high else "; the intervals overlap"
    return [
        f"{column.name} is {format_value(column, short.mean)} on paths {first.label} and "
        f"{format_value(column, long.mean)} on paths of {last.label}{overlap}."
    ]


def _count_unsolved(benchmark: BenchmarkResults) -> list[str]:
    count = len(find_unsolved(benchmark))
    if len(benchmark.names) < 2 or not count:
        return []
    return [f"No agent solves {count:,} of the {benchmark.episodes:,} episodes."]


def summarize_skills(findings: StudyResults) -> list[str]:
    """The best and the worst skill of each agent of a skill study."""
    sentences = []
    for agent, found in findings.agents.items():
        scores = {name: s.score.mean for name, s in found.items() if s.score is not None and s.score.mean is not None}
        if scores:
            best, worst = max(scores, key=lambda k: scores[k]), min(scores, key=lambda k: scores[k])
            ends = [f"best at {display_name(best)} ({100 * scores[best]:.0f} %)"]
            ends += [f"worst at {display_name(worst)} ({100 * scores[worst]:.0f} %)"] if worst != best else []
            sentences.append(f"{display_name(agent)} is {join_words(ends)}.")
    explained = "In parentheses: the mean probability of the correct action given the instruction."
    return [*sentences, explained] if sentences else []


def summarize_memory(benchmark: BenchmarkResults) -> list[str]:
    """Whether agents improve in the second half of a tour; empty without tours."""
    column = benchmark.columns.get("nDTW", benchmark.primary_metric)
    if group_by_tour_position(benchmark, column) is None:
        return []
    distance_gains = []
    for agent in benchmark.ranking(benchmark.primary_metric):
        gain = compute_tour_gain(benchmark, column, agent)
        if gain is not None:
            distance_gains.append((benchmark.names[agent], gain))
    significant = [(name, gain) for name, gain in distance_gains if gain.low > 0 or gain.high < 0]
    if not distance_gains:
        return []
    if not significant:
        return [f"No agent’s {column.name} differs significantly between the first and second half of its tours."]
    return [
        f"{name}’s {column.name} changes from the first to the second half of its tours by "
        f"{format_difference(column, gain.mean)} points ({format_difference(column, gain.low)} to "
        f"{format_difference(column, gain.high)})."
        for name, gain in significant
    ]
