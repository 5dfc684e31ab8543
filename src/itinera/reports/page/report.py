"""The report: a self-contained HTML page with a summary in sentences, tables and charts. Start with `make_report`.

The page loads nothing from the network, and names in the results cannot break it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from itinera.formats.report_json import DatasetCoverage, FirstFaultResults, StudyResults
from itinera.formats.writing import atomic_write
from itinera.records import ScoreTable
from itinera.reports.benchmark import BenchmarkResults, group_by_benchmark
from itinera.reports.latency import LatencyCurves, latency_curves
from itinera.reports.markup import Markup, display_name, join, security_policy, tag
from itinera.reports.page.benchmark_section import benchmark_parts
from itinera.reports.page.elements import PagePart, listing
from itinera.reports.page.extra_sections import coverage_section, faults_section, skills_section, times_section
from itinera.reports.page.sentences import answer_questions, join_words, summarize_skills
from itinera.reports.page.thinking_section import thinking_section
from itinera.reports.replay.links import ReplayPage, link_episodes, list_replay_pages
from itinera.tasks.fastest_times import FastestTimes


@dataclass(frozen=True)
class Report:
    """The contents of a report. Save it with `write_report_page`."""

    benchmarks: tuple[BenchmarkResults, ...]
    findings: tuple[StudyResults, ...] = ()
    described: tuple[DatasetCoverage, ...] = ()
    times: tuple[FastestTimes, ...] = ()
    replays: Mapping[str, str] = field(default_factory=dict)  # episode id -> link to its replay
    replay_pages: tuple[ReplayPage, ...] = ()  # linked from the episodes they contain
    version: str = ""
    title: str = ""  # the default names agents and benchmark
    instructions: Mapping[str, str] = field(default_factory=dict)  # by episode id, for the lists of failures
    first_faults: tuple[FirstFaultResults, ...] = ()
    latency: tuple[LatencyCurves, ...] = ()

    @property
    def heading(self) -> str:
        if self.title:
            return display_name(self.title, max_chars=200)
        agents = list(dict.fromkeys(name for benchmark in self.benchmarks for name in benchmark.names))
        others = [
            *(name for found in self.findings for name in found.agents),
            *(f.first_faults for f in self.first_faults),
        ]
        agents = agents or list(dict.fromkeys(display_name(name) for name in others))
        who = join_words(agents) if 0 < len(agents) <= 4 else f"{len(agents)} agents"
        if not self.benchmarks:
            return f"Skills of {who}" if agents else "Description of the tasks"
        count = len(self.benchmarks)
        return f"{who} on {self.benchmarks[0].title if count == 1 else f'{count} benchmarks'}"

    @property
    def headlines(self) -> list[str]:
        """A sentence per benchmark: the agent that leads by the primary metric."""
        return [f"{one.title}: {answer_questions(one)[0].sentences[0]}" for one in self.benchmarks]

    def __repr__(self) -> str:
        return f"Report({self.heading})"

    def __str__(self) -> str:
        return "\n".join(self.headlines or [self.heading])

    def _repr_html_(self) -> str:
        cards = join(*_summary(self))
        return tag("div", tag("h3", self.heading), cards)


def make_report(
    names: Sequence[str],
    tables: Sequence[ScoreTable],
    *,
    findings: Sequence[StudyResults] = (),
    described: Sequence[DatasetCoverage] = (),
    times: Sequence[FastestTimes] = (),
    first_faults: Sequence[FirstFaultResults] = (),
    replays: Mapping[str, str] | None = None,
    replay_pages: Sequence[ReplayPage] = (),
    instructions: Mapping[str, str] | None = None,
    version: str = "",
    title: str = "",
    seed: int = 0,
    level: float = 0.95,
) -> Report:
    """A report on the results, grouped by benchmark; `instructions` by episode id are listed with failures."""
    found = tuple(group_by_benchmark(names, tables, seed=seed, level=level))
    return Report(
        found,
        tuple(findings),
        tuple(described),
        tuple(times),
        dict(replays or {}),
        tuple(replay_pages),
        version,
        title,
        dict(instructions or {}),
        tuple(first_faults),
        tuple(curves for one in found if (curves := latency_curves(one, times)) is not None),
    )


def write_report_page(path: str | Path, report: Report) -> None:
    """Write the report as one HTML file."""
    with atomic_write(Path(path)) as stream:
        stream.write(render_report(report).encode())


def render_report(report: Report) -> str:
    """The report as HTML."""
    style, script = (_asset(f"report.{kind}") for kind in ("css", "js"))
    links = [{**link_episodes(benchmark, report.replay_pages), **report.replays} for benchmark in report.benchmarks]
    parts = [
        benchmark_parts(benchmark, f"c{i}", links[i], report.instructions)
        for i, benchmark in enumerate(report.benchmarks)
    ]
    body = join(
        tag("a", "Skip to the results", href="#main", class_="skip"),
        tag("header", tag("h1", report.heading), _contents(report, parts), class_="top"),
        tag("main", *_main(report, parts), id="main"),
        tag(
            "footer",
            tag("p", f"Written by itinera {report.version}. This page is one file and loads nothing from the network."),
        ),
        tag("script", Markup(script)),
    )
    head = join(
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=security_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", report.heading),
        tag("style", Markup(style)),
    )
    return f"<!doctype html>\n{tag('html', tag('head', head), tag('body', body), lang='en')}\n"


def _asset(name: str) -> str:
    return files("itinera.reports.page").joinpath(name).read_text(encoding="utf-8")


def _contents(report: Report, parts: Sequence[Sequence[PagePart]]) -> Markup:
    """Links to the benchmarks, or to the parts of the only one."""
    links = [("Summary", "summary")]
    if len(parts) == 1:
        links += [(part.title, part.name) for part in parts[0]]
    else:
        links += [(benchmark.title, f"c{i}") for i, benchmark in enumerate(report.benchmarks)]
    links += [("Skills", "skills")] if report.findings else []
    links += [("First faults", "first-faults")] if report.first_faults else []
    links += [("Thinking time", "thinking")] if report.latency else []
    links += [("Fastest times", "times")] if report.times else []
    links += [("Coverage along tours", "coverage")] if any(d.coverage for d in report.described) else []
    return tag("nav", listing([tag("a", words, href=f"#{target}") for words, target in links]), aria_label="Contents")


def _main(report: Report, parts: Sequence[Sequence[PagePart]]) -> Iterator[Markup]:
    yield tag("section", tag("h2", "Summary", id="summary"), *_summary(report), class_="summary")
    for i, (benchmark, of_benchmark) in enumerate(zip(report.benchmarks, parts, strict=True)):
        heading = tag("h2", benchmark.title, id=f"c{i}")
        watch = list_replay_pages(benchmark, report.replay_pages)
        yield tag("section", heading, watch, *(part.section for part in of_benchmark), class_="benchmark")
    styles = {agent.name: agent.index for benchmark in report.benchmarks for agent in benchmark.agents}
    if report.findings:
        yield skills_section(report.findings, styles)
    if report.first_faults:
        yield faults_section(report.first_faults, styles)
    if report.latency:
        yield thinking_section(report.latency)
    if report.times:
        yield times_section(report.times)
    if any(described.coverage for described in report.described):
        yield coverage_section(report.described)


def _summary(report: Report) -> Iterator[Markup]:
    cards = []
    for benchmark in report.benchmarks:
        answers = [
            tag("div", tag("dt", answer.question), tag("dd", *(tag("p", s) for s in answer.sentences)))
            for answer in answer_questions(benchmark)
        ]
        heading = [tag("h3", benchmark.title)] if len(report.benchmarks) > 1 else []
        cards.append(tag("div", *heading, tag("dl", *answers), class_="card"))
    sentences = [sentence for found in report.findings for sentence in summarize_skills(found)]
    if sentences:
        cards.append(tag("div", tag("h3", "Skills"), *(tag("p", sentence) for sentence in sentences), class_="card"))
    yield tag("div", *cards, class_="cards" if len(report.benchmarks) > 1 else None)
    if not report.benchmarks:
        yield tag("p", "No scores were given; the sections below show the other inputs.")
