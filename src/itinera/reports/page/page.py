"""One page that tells everything about some results: sentences first, then tables and charts. Start with `write_page`.

The page is a single file that asks nothing of the network; whatever the results are named, it stays a page.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from itinera.formats.io import atomic_write
from itinera.formats.report_json import Described, Findings
from itinera.records import ScoreTable
from itinera.reports.markup import Markup, join, named, tag
from itinera.reports.page.contest import Contest, contests
from itinera.reports.page.contest_section import contest_parts
from itinera.reports.page.elements import Part, listing
from itinera.reports.page.extra_sections import coverage_section, skills_section, times_section
from itinera.reports.page.sentences import answers, listed, skills_told
from itinera.reports.replay.links import Shown, links_of, to_watch
from itinera.tasks.fastest_times import FastestTimes


@dataclass(frozen=True)
class Report:
    """Everything a report tells of."""

    contests: tuple[Contest, ...]
    findings: tuple[Findings, ...] = ()
    described: tuple[Described, ...] = ()
    times: tuple[FastestTimes, ...] = ()
    replays: Mapping[str, str] = field(default_factory=dict)  # episode id -> where its replay is, seen from the page
    shown: tuple[Shown, ...] = ()  # pages of walks that tell themselves which
    version: str = ""
    title: str = ""  # chosen by the writer, else told by what is in it

    @property
    def heading(self) -> str:
        if self.title:
            return named(self.title, longest=200)
        agents = list(dict.fromkeys(name for contest in self.contests for name in contest.names))
        agents = agents or list(dict.fromkeys(named(name) for found in self.findings for name in found.agents))
        who = listed(agents) if 0 < len(agents) <= 4 else f"{len(agents)} agents"
        if not self.contests:
            return f"Skills of {who}" if agents else "What is known of the tasks"
        return (
            f"{who} on {self.contests[0].title}"
            if len(self.contests) == 1
            else f"{who} in {len(self.contests)} contests"
        )


def make_report(
    names: Sequence[str],
    tables: Sequence[ScoreTable],
    *,
    findings: Sequence[Findings] = (),
    described: Sequence[Described] = (),
    times: Sequence[FastestTimes] = (),
    replays: Mapping[str, str] | None = None,
    shown: Sequence[Shown] = (),
    version: str = "",
    title: str = "",
    seed: int = 0,
    level: float = 0.95,
) -> Report:
    """A report on the results, grouped into contests of the same episodes and rules."""
    found = tuple(contests(names, tables, seed=seed, level=level))
    return Report(
        found, tuple(findings), tuple(described), tuple(times), dict(replays or {}), tuple(shown), version, title
    )


def write_page(path: str | Path, report: Report) -> None:
    """The report as one HTML file."""
    with atomic_write(Path(path)) as stream:
        stream.write(page(report).encode())


def page(report: Report) -> str:
    """The report as HTML."""
    style, script = (_asset(f"report.{kind}") for kind in ("css", "js"))
    links = [{**links_of(contest, report.shown), **report.replays} for contest in report.contests]
    parts = [contest_parts(contest, f"c{i}", links[i]) for i, contest in enumerate(report.contests)]
    body = join(
        tag("a", "Skip to the results", href="#main", class_="skip"),
        tag("header", tag("h1", report.heading), _contents(report, parts), class_="top"),
        tag("main", *_main(report, parts), id="main"),
        tag(
            "footer",
            tag("p", f"Written by itinera {report.version}. This page is one file and asks nothing of the network."),
        ),
        tag("script", Markup(script)),
    )
    head = join(
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", report.heading),
        tag("style", Markup(style)),
    )
    return f"<!doctype html>\n{tag('html', tag('head', head), tag('body', body), lang='en')}\n"


def _asset(name: str) -> str:
    return files("itinera.reports.page").joinpath(name).read_text(encoding="utf-8")


def _policy(script: str) -> str:
    """No network, and no script but ours, whatever a name may hold."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def _contents(report: Report, parts: Sequence[Sequence[Part]]) -> Markup:
    """Links to the contests, or to the parts of the only one."""
    links = [("In short", "short")]
    if len(parts) == 1:
        links += [(part.title, part.name) for part in parts[0]]
    else:
        links += [(contest.title, f"c{i}") for i, contest in enumerate(report.contests)]
    links += [("Skills", "skills")] if report.findings else []
    links += [("Fastest times", "times")] if report.times else []
    links += [("Seen along tours", "seen")] if any(d.seen for d in report.described) else []
    return tag("nav", listing([tag("a", words, href=f"#{target}") for words, target in links]), aria_label="Contents")


def _main(report: Report, parts: Sequence[Sequence[Part]]) -> Iterator[Markup]:
    yield tag("section", tag("h2", "In short", id="short"), *_short(report), class_="short")
    for i, (contest, of_contest) in enumerate(zip(report.contests, parts, strict=True)):
        heading = tag("h2", contest.title, id=f"c{i}")
        watch = to_watch(contest, report.shown)
        yield tag("section", heading, watch, *(part.section for part in of_contest), class_="contest")
    if report.findings:
        yield skills_section(report.findings, {a.name: a.number for c in report.contests for a in c.agents})
    if report.times:
        yield times_section(report.times)
    if any(described.seen for described in report.described):
        yield coverage_section(report.described)


def _short(report: Report) -> Iterator[Markup]:
    cards = []
    for contest in report.contests:
        told = [
            tag("div", tag("dt", answer.question), tag("dd", *(tag("p", s) for s in answer.sentences)))
            for answer in answers(contest)
        ]
        heading = [tag("h3", contest.title)] if len(report.contests) > 1 else []
        cards.append(tag("div", *heading, tag("dl", *told), class_="card"))
    sentences = [sentence for found in report.findings for sentence in skills_told(found)]
    if sentences:
        cards.append(tag("div", tag("h3", "Skills"), *(tag("p", sentence) for sentence in sentences), class_="card"))
    yield tag("div", *cards, class_="cards" if len(report.contests) > 1 else None)
    if not report.contests:
        yield tag("p", "No scores were given; what follows tells of what was given instead.")
