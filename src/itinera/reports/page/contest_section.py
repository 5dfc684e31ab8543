"""The section of a report's page about one contest, from its table of metrics to how its numbers were made."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict

import numpy as np

from itinera.records import Column, ScoreTable
from itinera.reports.breakdown import KINDS, Breakdown, Failures, by_leg, by_length, by_scene, failures, nobody_solved
from itinera.reports.charts import svg
from itinera.reports.charts.svg import Figure
from itinera.reports.intersection import as_grid
from itinera.reports.markup import Markup, join, named, tag
from itinera.reports.page import tables as report_tables
from itinera.reports.page.contest import Contest
from itinera.reports.page.elements import Part, figures, grid_table, listing, unfold
from itinera.reports.page.episode_list import episode_list
from itinera.reports.page.sentences import memory, value
from itinera.reports.tables import Grid, robot_told

CHARTED = ("SR", "OSR", "SPL", "SCT", "nDTW", "SDTW", "CLS", "t-nDTW")  # of the metrics that are fractions
SHOWN_SCENES = 24  # in the chart; all are in the table
TITLED = ("name", "version")  # of a protocol, told before its rules
EXAMPLES = 12  # episodes named for each kind of failure


def contest_parts(contest: Contest, name: str, replays: Mapping[str, str]) -> list[Part]:
    """Everything about a contest, in the order of reading; parts with nothing to show are left out."""
    parts = (
        Part("Results", f"{name}-results", join(*_results(contest, name))),
        Part("Comparisons", f"{name}-compared", join(*_comparisons(contest))),
        Part("Distributions", f"{name}-spread", join(*_distributions(contest, name))),
        Part("By scene", f"{name}-scenes", join(*_by_scene(contest, name))),
        Part("By length of the way", f"{name}-lengths", join(*_by_length(contest, name))),
        Part("Along tours", f"{name}-tours", join(*_along_tours(contest, name))),
        Part("Completion time against path length", f"{name}-sct", join(*_sct_against_spl(contest, name))),
        Part("Failures", f"{name}-failures", join(*_failures(contest, name, replays))),
        Part("Every episode", f"{name}-episodes", episode_list(contest, f"{name}-list", replays)),
        Part("How it was made", f"{name}-made", join(*_made(contest))),
    )
    return [part for part in parts if part.content]


def _results(contest: Contest, name: str) -> Iterator[Markup]:
    shown = [column for column in contest.summaries[0].columns if column.name in CHARTED and column.unit == ""]
    rows = [(column.name, [s.intervals.get(column.name) for s in contest.summaries]) for column in shown]
    about = f"Means of all episodes with {100 * contest.level:g} % intervals that take scenes as the sample."
    grid = grid_table(report_tables.results(contest), agents=contest.agents)
    drawn = [svg.forest("The main metrics.", about, contest.agents, rows)] if rows else []
    if contest.compared is not None and rows:
        drawn.append(_differences_chart(contest, [column.name for column in shown]))
    if len(drawn) == 1:
        yield tag("div", grid, figures(drawn, f"{name}-means"), class_="beside")
    else:
        yield join(grid, figures(drawn, f"{name}-means") if drawn else "")


def _differences_chart(contest: Contest, metrics: list[str]) -> Figure:
    """Everybody minus the first, in the metrics charted."""
    assert contest.compared is not None
    found = [m for m in contest.compared.metrics if m.column.name in metrics]
    rows = [(m.column.name, [None, *(difference.interval for difference in m.differences)]) for m in found]
    reach = max([abs(x) for _, means in rows for i in means if i is not None for x in (i.low, i.high)] + [0.01])
    reach = math.ceil(20 * min(reach, 1.0)) / 20
    about = f"Each agent minus {contest.names[0]} on the same episodes; an interval that spans 0 may be chance."
    return svg.forest(
        "Differences.",
        about,
        contest.agents,
        rows,
        limits=(-reach, reach),
        told=svg.points,
        unit="percentage points",
    )


def _comparisons(contest: Contest) -> Iterator[Markup]:
    if contest.compared is None:
        return
    yield tag(
        "p",
        f"Each agent minus {contest.names[0]}, on the same episodes; rates in percentage points. p is of sign flips "
        "over scenes; P(better) is how often it does better on an episode, ties halved.",
    )
    grids = list(report_tables.differences(contest))
    for grid in grids:
        yield grid_table(grid) if len(grids) == 1 else unfold(grid.title, grid_table(grid, caption=False))


def _distributions(contest: Contest, name: str) -> Iterator[Markup]:
    drawn = []
    if "NE" in contest.columns:
        errors, radius = contest.values("NE"), contest.tables[0].protocol.success_radius
        finite = errors[np.isfinite(errors)]
        most = max(float(np.quantile(finite, 0.99)) if len(finite) else 0.0, 2 * radius)
        about = "Where a curve crosses the success radius it stands at the share that ends near enough."
        drawn.append(
            svg.cumulative(
                "How near the goal walks end.",
                about,
                contest.agents,
                list(errors),
                below="metres from the goal, at most",
                limits=(0.0, math.ceil(most)),
                marked=(radius, "success radius"),
            )
        )
    for metric in [m for m in ("nDTW", "SCT", "SPL") if m in contest.columns][:1]:
        about = "The higher a curve stays towards the right, the better."
        drawn.append(
            svg.cumulative(
                f"How {metric} is spread.",
                about,
                contest.agents,
                list(contest.values(metric)),
                below=f"{metric}, %, at least",
                limits=(0.0, 1.0),
                told=svg.percent,
                at_least=True,
            )
        )
    if drawn:
        yield figures(drawn, f"{name}-spread")


def _by_scene(contest: Contest, name: str) -> Iterator[Markup]:
    if len(contest.scene_ids) < 2:
        return
    found = [by_scene(contest, column) for column in _two_metrics(contest)]
    yield figures([_scene_chart(contest, one) for one in found], f"{name}-scene")
    grids = [report_tables.sliced(contest, one, "scene") for one in found]
    title = f"All {len(contest.scene_ids)} scenes as tables"
    yield unfold(title, *(grid_table(grid, agents=contest.agents) for grid in grids))


def _scene_chart(contest: Contest, found: Breakdown) -> Figure:
    rows = [(s.label, s.means) for s in found.slices[:SHOWN_SCENES]]
    cut = f" The {SHOWN_SCENES} hardest of {len(found.slices)}." if len(found.slices) > SHOWN_SCENES else ""
    about = f"Scenes hardest for all agents first, with intervals over the paths of the scene.{cut}"
    limits, told, unit = _scale(found)
    title = f"{found.column.name} in each scene."
    return svg.forest(title, about, contest.agents, rows, limits=limits, told=told, unit=unit)


def _scale(found: Breakdown) -> tuple[tuple[float, float], svg.Told, str]:
    """The ends of an axis for a metric, how its numbers are told, and its unit."""
    if found.column.unit == "":
        return (0.0, 1.0), svg.percent, f"{found.column.name}, %"
    ends = [mean.high for s in found.slices for mean in s.means if mean is not None and math.isfinite(mean.high)]
    return (0.0, max([*ends, 1.0])), "{:g}".format, f"{found.column.name}, {found.column.unit}"


def _by_length(contest: Contest, name: str) -> Iterator[Markup]:
    found = [one for column in _two_metrics(contest) if (one := by_length(contest, column)) is not None]
    if found and len(found[0].slices) > 1:
        yield from _trends(contest, found, f"{name}-length", "length of the way", "by the length of the way")


def _along_tours(contest: Contest, name: str) -> Iterator[Markup]:
    found = [one for column in _two_metrics(contest) if (one := by_leg(contest, column)) is not None]
    if found:
        yield tag("p", "An agent that remembers should do better as a tour goes on, where one that forgets does not.")
        yield from (tag("p", sentence) for sentence in memory(contest))
        yield from _trends(contest, found, f"{name}-leg", "episode of the tour", "as tours go on")


def _trends(contest: Contest, found: list[Breakdown], name: str, below: str, how: str) -> Iterator[Markup]:
    drawn = []
    for one in found:
        limits, told, unit = _scale(one)
        labels, means = [s.label for s in one.slices], [s.means for s in one.slices]
        about = f"Means of groups of episodes with {100 * contest.level:g} % intervals over scenes."
        drawn.append(
            svg.trends(
                f"{one.column.name} {how}.",
                about,
                contest.agents,
                labels,
                means,
                unit=unit,
                below=below,
                limits=limits,
                told=told,
            )
        )
    yield figures(drawn, name)
    grids = [report_tables.sliced(contest, one, below) for one in found]
    yield unfold("As tables", *(grid_table(grid, agents=contest.agents) for grid in grids))


def _two_metrics(contest: Contest) -> list[Column]:
    """The leading metric and one of following, of those that episodes have."""
    second = next((contest.columns[n] for n in ("nDTW", "SCT", "SPL") if n in contest.columns), contest.leading)
    return [contest.leading] if second.name == contest.leading.name else [contest.leading, second]


def _sct_against_spl(contest: Contest, name: str) -> Iterator[Markup]:
    if not {"SCT", "SPL"} <= contest.columns.keys():
        return
    robot = contest.tables[0].robot
    whose = "" if robot is None else f" Fastest times are those of {robot_told(robot)}."
    yield tag(
        "p",
        f"SPL asks for a short way, SCT for a quick one; under the diagonal an agent goes short ways slowly.{whose}",
    )
    pairs = list(zip(contest.values("SPL"), contest.values("SCT"), strict=True))
    about = "The area of a dot tells how many episodes are there."
    drawn = svg.clouds("SCT against SPL.", about, contest.agents, pairs, below="SPL, %", beside="SCT, %")
    yield figures([drawn], f"{name}-cloud")
    if contest.solved is not None:
        grid = as_grid(contest.solved)
        yield grid_table(
            Grid(grid.headings, grid.rows, f"∩ is over the {contest.solved.solved} episodes all agents solved")
        )


def _failures(contest: Contest, name: str, replays: Mapping[str, str]) -> Iterator[Markup]:
    grid = report_tables.failing(contest)
    found = [one for agent in range(len(contest.names)) if (one := failures(contest, agent)) is not None]
    if grid is None or not any(one.total for one in found):
        return
    counts = [[one.succeeded, *(len(one.kinds.get(kind, ())) for kind in KINDS)] for one in found]
    about = "Every episode is counted once, by the first kind that fits, in the order of the list."
    drawn = svg.stacked("What became of the episodes.", about, contest.agents, ("succeeded", *KINDS), counts)
    yield tag("div", figures([drawn], f"{name}-kinds"), grid_table(grid, agents=contest.agents), class_="beside")
    for agent, one in enumerate(found):
        if one.total:
            yield unfold(
                f"{contest.names[agent]}: examples, those that end farthest first",
                *_examples(contest, agent, one, replays),
            )
    unsolved = nobody_solved(contest)
    if len(contest.names) > 1 and len(unsolved):
        items = [_episode(contest, int(row), replays) for row in unsolved[: 3 * EXAMPLES]]
        title = f"{len(unsolved):,} episodes that nobody solves" + (", the first" if len(unsolved) > len(items) else "")
        yield unfold(title, listing(items, class_="episodes"))


def _examples(contest: Contest, agent: int, found: Failures, replays: Mapping[str, str]) -> Iterator[Markup]:
    errors = contest.tables[agent].values.get("NE")
    for kind, rows in found.kinds.items():
        items = []
        for row in rows[:EXAMPLES].tolist():
            far = "" if errors is None else f" · {value(Column('NE', 'm'), float(errors[row]))} away"
            items.append(tag("span", _episode(contest, row, replays), far))
        yield tag("h4", f"{kind}: {len(rows):,}")
        yield listing(items, class_="episodes")


def _episode(contest: Contest, row: int, replays: Mapping[str, str]) -> Markup:
    """An episode by its name, with a link to its replay where there is one."""
    episode_id = contest.tables[0].episode_ids[row]
    shown, where = named(episode_id), f" in {named(contest.tables[0].world_ids[row], longest=24)}"
    link = tag("a", shown, href=replays[episode_id]) if episode_id in replays else tag("span", shown)
    return tag("span", link, where)


def _made(contest: Contest) -> Iterator[Markup]:
    table = contest.tables[0]
    facts = [
        ("Suite", f"{table.suite}, fingerprint {table.fingerprint}"),
        ("Episodes", f"{contest.episodes:,} in {len(contest.scene_ids)} scenes"),
    ]
    if table.robot is not None:
        facts.append(("Fastest times", f"of {robot_told(table.robot)}"))
    digests = {one.protocol.digest for one in contest.tables}
    if len(digests) == 1:
        facts += [("Protocol", _protocol(table))]
    else:
        facts += [(f"Protocol of {n}", _protocol(one)) for n, one in zip(contest.names, contest.tables, strict=True)]
    yield tag("dl", *(tag("div", tag("dt", a), tag("dd", b)) for a, b in facts), class_="facts")
    for name, one in zip(contest.names, contest.tables, strict=True):
        yield unfold(f"{name}: its files", *_provenance(one))


def _protocol(table: ScoreTable) -> str:
    fields = {key: told for key, told in asdict(table.protocol).items() if told is not None and key != "guidance"}
    guided = ", guided on tours" if table.protocol.guidance is not None else ""
    told = ", ".join(f"{key.replace('_', ' ')} {_plain(key, x)}" for key, x in fields.items() if key not in TITLED)
    return f"{table.protocol.name} version {table.protocol.version} ({table.protocol.digest}): {told}{guided}"


def _plain(key: str, x: object) -> str:
    """A rule of a protocol, lengths in metres and angles in degrees."""
    if isinstance(x, bool):
        return "yes" if x else "no"
    if isinstance(x, float):
        return f"{math.degrees(x):.4g}°" if key.endswith("_angle") else f"{x:.4g} m"
    return str(x)


def _provenance(table: ScoreTable) -> Iterator[Markup]:
    told = table.provenance
    yield tag("p", "Walks from ", tag("code", table.source or "an unnamed file"), ".")
    if told is None:
        yield tag("p", "The bundle does not tell how it was made.")
        return
    yield tag("p", f"Scored by itinera {told.version}" + ("" if told.seed is None else f", seed {told.seed}") + ":")
    yield tag("pre", tag("code", " ".join(told.command)), tabindex="0")
    rows = tuple((role, file, told.digests.get(role, "")) for role, file in told.inputs.items())
    if rows:
        yield grid_table(Grid(("input", "file", "blake2b"), rows, "What it was made from"), caption=False)
