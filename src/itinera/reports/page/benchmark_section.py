"""The section of the report page about one benchmark, from the table of metrics to the provenance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np

from itinera.records import Column, ScoreTable
from itinera.records.tables import TextTable, count_episodes, describe_robot
from itinera.reports.benchmark import BenchmarkResults
from itinera.reports.breakdown import (
    KINDS,
    Breakdown,
    Failures,
    classify_failures,
    find_unsolved,
    group_by_length,
    group_by_scene,
    group_by_tour_position,
)
from itinera.reports.charts import svg
from itinera.reports.charts.svg import Chart
from itinera.reports.markup import Markup, display_name, join, tag
from itinera.reports.page import tables as report_tables
from itinera.reports.page.elements import PagePart, details, figures, listing, table_element
from itinera.reports.page.episode_list import episode_list
from itinera.reports.page.runs_section import list_runs
from itinera.reports.page.sentences import format_value, summarize_memory

CHARTED = ("SR", "OSR", "SPL", "SCT", "nDTW", "SDTW", "CLS", "t-nDTW")  # metrics of the first chart
CHARTED_SCENES = 24  # the table has all of them
IDENTIFYING = ("name", "version")  # fields of a protocol printed before its rules
EXAMPLES = 12  # episodes listed for each kind of failure
LONGEST_INSTRUCTION = 400  # characters, in a list


def benchmark_parts(
    benchmark: BenchmarkResults, name: str, replays: Mapping[str, str], instructions: Mapping[str, str]
) -> list[PagePart]:
    """The parts of the section in reading order, without empty ones."""
    listed = EpisodeDetails(replays, instructions)
    parts = (
        PagePart("Results", f"{name}-results", join(*_results(benchmark, name))),
        PagePart("Runs", f"{name}-runs", join(*list_runs(benchmark, f"{name}-runs"))),
        PagePart("Comparisons", f"{name}-compared", join(*_comparisons(benchmark))),
        PagePart("Distributions", f"{name}-spread", join(*_distributions(benchmark, name))),
        PagePart("By scene", f"{name}-scenes", join(*_by_scene(benchmark, name))),
        PagePart("By path length", f"{name}-lengths", join(*_by_length(benchmark, name))),
        PagePart("Along tours", f"{name}-tours", join(*_along_tours(benchmark, name))),
        PagePart("Completion time against path length", f"{name}-sct", join(*_sct_against_spl(benchmark, name))),
        PagePart("Failures", f"{name}-failures", join(*_failures(benchmark, name, listed))),
        PagePart("All episodes", f"{name}-episodes", episode_list(benchmark, f"{name}-list", replays)),
        PagePart("Provenance", f"{name}-provenance", join(*_provenance(benchmark))),
    )
    return [part for part in parts if part.content]


def _results(benchmark: BenchmarkResults, name: str) -> Iterator[Markup]:
    shown = [column for column in benchmark.summaries[0].columns if column.name in CHARTED and column.unit == ""]
    rows = [(column.name, [s.intervals.get(column.name) for s in benchmark.summaries]) for column in shown]
    about = f"Means over all episodes with {100 * benchmark.level:g} % intervals, clustered by scene."
    table = table_element(report_tables.results_table(benchmark), agents=benchmark.agents)
    charts = [svg.forest_plot("Main metrics.", about, benchmark.agents, rows)] if rows else []
    if benchmark.comparison is not None and rows:
        charts.append(_differences_chart(benchmark, [column.name for column in shown]))
    if len(charts) == 1:
        yield tag("div", table, figures(charts, f"{name}-means"), class_="beside")
    else:
        yield join(table, figures(charts, f"{name}-means") if charts else "")


def _differences_chart(benchmark: BenchmarkResults, metrics: list[str]) -> Chart:
    """Each later agent minus the first, in the charted metrics."""
    assert benchmark.comparison is not None
    found = [m for m in benchmark.comparison.metrics if m.column.name in metrics]
    rows = [(m.column.name, [None, *(difference.interval for difference in m.differences)]) for m in found]
    reach = max([abs(x) for _, means in rows for i in means if i is not None for x in (i.low, i.high)] + [0.01])
    reach = math.ceil(20 * min(reach, 1.0)) / 20
    about = f"Each agent minus {benchmark.names[0]} on the same episodes; not significant if its interval contains 0."
    return svg.forest_plot(
        "Differences.",
        about,
        benchmark.agents,
        rows,
        limits=(-reach, reach),
        tick_format=svg.format_points,
        unit="percentage points",
    )


def _comparisons(benchmark: BenchmarkResults) -> Iterator[Markup]:
    if benchmark.comparison is None:
        return
    of_runs = " (t-test over runs and scenes where an agent has several runs)" if benchmark.has_runs else ""
    yield tag(
        "p",
        f"Each agent minus {benchmark.names[0]}, on the same episodes; rates in percentage points. p: "
        f"permutation test over scenes{of_runs}. P(better): probability to be better on an episode, ties halved.",
    )
    tables = list(report_tables.difference_tables(benchmark))
    for table in tables:
        yield table_element(table) if len(tables) == 1 else details(table.title, table_element(table, caption=False))


def _distributions(benchmark: BenchmarkResults, name: str) -> Iterator[Markup]:
    charts = []
    if "NE" in benchmark.columns:
        errors, radius = benchmark.values("NE"), benchmark.tables[0].protocol.success_radius
        finite = errors[np.isfinite(errors)]
        most = max(float(np.quantile(finite, 0.99)) if len(finite) else 0.0, 2 * radius)
        about = "At the success radius, a curve is at the share of episodes that end within it."
        charts.append(
            svg.cumulative_plot(
                "Navigation error.",
                about,
                benchmark.agents,
                list(errors),
                below="navigation error in metres, at most",
                limits=(0.0, math.ceil(most)),
                threshold=(radius, "success radius"),
            )
        )
    for metric in [m for m in ("nDTW", "SCT", "SPL") if m in benchmark.columns][:1]:
        about = "The higher a curve stays to the right, the better."
        charts.append(
            svg.cumulative_plot(
                f"Distribution of {metric}.",
                about,
                benchmark.agents,
                list(benchmark.values(metric)),
                below=f"{metric}, %, at least",
                limits=(0.0, 1.0),
                tick_format=svg.format_percent,
                at_least=True,
            )
        )
    if charts:
        yield figures(charts, f"{name}-spread")


def _by_scene(benchmark: BenchmarkResults, name: str) -> Iterator[Markup]:
    if len(benchmark.scene_ids) < 2:
        return
    found = [group_by_scene(benchmark, column) for column in _two_metrics(benchmark)]
    yield figures([_scene_chart(benchmark, one) for one in found], f"{name}-scene")
    tables = [report_tables.breakdown_table(benchmark, one, "scene") for one in found]
    title = f"All {len(benchmark.scene_ids)} scenes as tables"
    yield details(title, *(table_element(table, agents=benchmark.agents) for table in tables))


def _scene_chart(benchmark: BenchmarkResults, found: Breakdown) -> Chart:
    rows = [(s.label, s.means) for s in found.slices[:CHARTED_SCENES]]
    cut = f" The {CHARTED_SCENES} hardest of {len(found.slices)}." if len(found.slices) > CHARTED_SCENES else ""
    about = f"Hardest scenes over all agents first; intervals clustered by path.{cut}"
    limits, tick_format, unit = _scale(found)
    title = f"{found.column.name} by scene."
    return svg.forest_plot(title, about, benchmark.agents, rows, limits=limits, tick_format=tick_format, unit=unit)


def _scale(found: Breakdown) -> tuple[tuple[float, float], svg.TickFormat, str]:
    """Limits, tick format and unit of an axis for a metric."""
    if found.column.unit == "":
        return (0.0, 1.0), svg.format_percent, f"{found.column.name}, %"
    ends = [mean.high for s in found.slices for mean in s.means if mean is not None and math.isfinite(mean.high)]
    return (0.0, max([*ends, 1.0])), "{:g}".format, f"{found.column.name}, {found.column.unit}"


def _by_length(benchmark: BenchmarkResults, name: str) -> Iterator[Markup]:
    found = [one for column in _two_metrics(benchmark) if (one := group_by_length(benchmark, column)) is not None]
    if found and len(found[0].slices) > 1:
        yield from _trends(benchmark, found, f"{name}-length", "path length", "by path length")


def _along_tours(benchmark: BenchmarkResults, name: str) -> Iterator[Markup]:
    found = [
        one for column in _two_metrics(benchmark) if (one := group_by_tour_position(benchmark, column)) is not None
    ]
    if found:
        yield tag("p", "An agent with memory should improve along a tour; an agent without memory should not.")
        yield from (tag("p", sentence) for sentence in summarize_memory(benchmark))
        yield from _trends(benchmark, found, f"{name}-leg", "position in the tour", "by position in the tour")


def _trends(benchmark: BenchmarkResults, found: list[Breakdown], name: str, below: str, how: str) -> Iterator[Markup]:
    charts = []
    for one in found:
        limits, tick_format, unit = _scale(one)
        labels, means = [s.label for s in one.slices], [s.means for s in one.slices]
        about = f"Means of groups of episodes with {100 * benchmark.level:g} % intervals, clustered by scene."
        charts.append(
            svg.line_chart(
                f"{one.column.name} {how}.",
                about,
                benchmark.agents,
                labels,
                means,
                unit=unit,
                below=below,
                limits=limits,
                tick_format=tick_format,
            )
        )
    yield figures(charts, name)
    tables = [report_tables.breakdown_table(benchmark, one, below) for one in found]
    yield details("As tables", *(table_element(table, agents=benchmark.agents) for table in tables))


def _two_metrics(benchmark: BenchmarkResults) -> list[Column]:
    """The primary metric and one of path fidelity or efficiency, of the episode metrics."""
    second = next(
        (benchmark.columns[n] for n in ("nDTW", "SCT", "SPL") if n in benchmark.columns), benchmark.primary_metric
    )
    return (
        [benchmark.primary_metric]
        if second.name == benchmark.primary_metric.name
        else [benchmark.primary_metric, second]
    )


def _sct_against_spl(benchmark: BenchmarkResults, name: str) -> Iterator[Markup]:
    if not {"SCT", "SPL"} <= benchmark.columns.keys():
        return
    robot = benchmark.tables[0].robot
    reference = "" if robot is None else f" Reference robot of the fastest times: {describe_robot(robot)}."
    yield tag(
        "p",
        f"SPL rewards short paths, SCT fast ones; below the diagonal an agent takes short paths slowly.{reference}",
    )
    pairs = list(zip(benchmark.values("SPL"), benchmark.values("SCT"), strict=True))
    about = "The area of a dot is the number of episodes there."
    chart = svg.scatter_panels("SCT against SPL.", about, benchmark.agents, pairs, below="SPL, %", beside="SCT, %")
    yield figures([chart], f"{name}-scatter")
    if benchmark.intersection is not None:
        table = benchmark.intersection.to_table()
        caption = f"∩: over the {benchmark.intersection.solved} episodes that all agents solved"
        yield table_element(replace(table, title=caption))


@dataclass(frozen=True)
class EpisodeDetails:
    """What lists of episodes show beside their ids."""

    replays: Mapping[str, str]  # links by episode id
    instructions: Mapping[str, str]  # by episode id


def _failures(benchmark: BenchmarkResults, name: str, listed: EpisodeDetails) -> Iterator[Markup]:
    table = report_tables.failure_table(benchmark)
    found = [one for agent in range(len(benchmark.names)) if (one := classify_failures(benchmark, agent)) is not None]
    if table is None or not any(one.total for one in found):
        return
    counts = [[one.succeeded, *(len(one.kinds.get(kind, ())) for kind in KINDS)] for one in found]
    about = "Every episode is counted once, by the first outcome of the list that applies."
    chart = svg.stacked_bars("Outcome of the episodes.", about, benchmark.agents, ("succeeded", *KINDS), counts)
    yield tag("div", figures([chart], f"{name}-kinds"), table_element(table, agents=benchmark.agents), class_="beside")
    for agent, one in enumerate(found):
        if one.total:
            yield details(
                f"{benchmark.names[agent]}: examples, farthest from the goal first",
                *_examples(benchmark, agent, one, listed),
            )
    unsolved = find_unsolved(benchmark)
    if len(benchmark.names) > 1 and len(unsolved):
        items = [_episode(benchmark, int(row), listed) for row in unsolved[: 3 * EXAMPLES]]
        title = f"{len(unsolved):,} episodes that no agent solves" + (
            ", the first" if len(unsolved) > len(items) else ""
        )
        yield details(title, listing(items, class_="episodes"))


def _examples(benchmark: BenchmarkResults, agent: int, found: Failures, listed: EpisodeDetails) -> Iterator[Markup]:
    errors = benchmark.first_run(agent).values.get("NE")
    for kind, rows in found.kinds.items():
        items = []
        for row in rows[:EXAMPLES].tolist():
            error = "" if errors is None else f" · NE {format_value(Column('NE', 'm'), float(errors[row]))}"
            items.append(_episode(benchmark, row, listed, after=error))
        yield tag("h4", f"{kind}: {len(rows):,}")
        yield listing(items, class_="episodes")


def _episode(benchmark: BenchmarkResults, row: int, listed: EpisodeDetails, *, after: str = "") -> Markup:
    """The id of an episode and its scene, with a link to its replay and its instruction where they are known."""
    episode_id = benchmark.tables[0].episode_ids[row]
    label, scene = display_name(episode_id), f" in {display_name(benchmark.tables[0].world_ids[row], max_chars=24)}"
    link = tag("a", label, href=listed.replays[episode_id]) if episode_id in listed.replays else tag("span", label)
    text = listed.instructions.get(episode_id, "").strip()
    instruction = [tag("q", display_name(text, max_chars=LONGEST_INSTRUCTION))] if text else []
    return tag("span", link, scene, after, *instruction)


def _provenance(benchmark: BenchmarkResults) -> Iterator[Markup]:
    table = benchmark.tables[0]
    facts = [
        ("Suite", f"{table.suite}, fingerprint {table.fingerprint}"),
        ("Episodes", f"{count_episodes(benchmark.episodes, table.part)} in {len(benchmark.scene_ids)} scenes"),
    ]
    if table.robot is not None:
        facts.append(("Fastest times", describe_robot(table.robot)))
    digests = {one.protocol.digest for one in benchmark.tables}
    if len(digests) == 1:
        facts += [("Protocol", _describe_protocol(table))]
    else:
        facts += [
            (f"Protocol of {n}", _describe_protocol(one))
            for n, one in zip(benchmark.names, benchmark.tables, strict=True)
        ]
    yield tag("dl", *(tag("div", tag("dt", a), tag("dd", b)) for a, b in facts), class_="facts")
    for name, one in zip(benchmark.names, benchmark.tables, strict=True):
        runs = [part for run in one.runs or (one,) for part in _list_inputs(run)]
        yield details(f"{name}: input files and command", *runs)


def _describe_protocol(table: ScoreTable) -> str:
    fields = {key: x for key, x in asdict(table.protocol).items() if x is not None and key != "guidance"}
    guided = ", with oracle phases on tours" if table.protocol.guidance is not None else ""
    rules = ", ".join(
        f"{key.replace('_', ' ')} {_format_rule(key, x)}" for key, x in fields.items() if key not in IDENTIFYING
    )
    return f"{table.protocol.label} version {table.protocol.version} ({table.protocol.digest}): {rules}{guided}"


def _format_rule(key: str, x: object) -> str:
    """A rule of a protocol: lengths in metres, angles in degrees."""
    if isinstance(x, bool):
        return "yes" if x else "no"
    if isinstance(x, float):
        return f"{math.degrees(x):.4g}°" if key.endswith("_angle") else f"{x:.4g} m"
    return str(x)


def _list_inputs(table: ScoreTable) -> Iterator[Markup]:
    made = table.provenance
    yield tag("p", "Predictions: ", tag("code", table.source or "an unnamed file"), ".")
    if made is None:
        yield tag("p", "The bundle has no provenance.")
        return
    yield tag("p", f"Scored by itinera {made.version}" + ("" if made.seed is None else f", seed {made.seed}") + ":")
    yield tag("pre", tag("code", " ".join(made.command)), tabindex="0")
    rows = tuple((role, file, made.digests.get(role, "")) for role, file in made.inputs.items())
    if rows:
        yield table_element(TextTable(("input", "file", "blake2b"), rows, "Input files"), caption=False)
