"""The report page: complete, self-contained, accessible as far as a parser can check, and safe from names."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import msgspec
import numpy as np
import pytest

from itinera.formats.report_json import CoveragePoint, DatasetCoverage, Estimate, SkillResult, StudyResults
from itinera.reports.page.report import make_report, render_report
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot
from reports.example_results import changed, make_scores

VOID = {"meta", "br"}


class Outline(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data


FINDINGS = StudyResults({"good": {"stop": SkillResult(["good, stop: does."], Estimate(0.9, 0.8, 0.95))}})
DESCRIBED = DatasetCoverage("val", {"visited": {"tour": [CoveragePoint(k, k / 5, None, None) for k in range(5)]}})


@pytest.fixture(scope="module")
def whole() -> str:
    """A report with every section."""
    tables = [
        make_scores(0.8, toured=True),
        make_scores(0.4, toured=True),
        make_scores(0.8, timed=True),
        make_scores(0.6, timed=True),
    ]
    return render_report(
        make_report(
            ["good", "poor", "quick", "slow"], tables, findings=[FINDINGS], described=[DESCRIBED],
            times=[FastestTimes(ReferenceRobot(), ("e1", "e2"), np.array([9.0, np.inf]), np.array([10.0, np.inf]))],
            replays={"e1": "replays/replay-e1.html"}, version="1.2",
        )
    )  # fmt: skip


def test_every_section_is_there(whole):
    text = Outline(whole).text
    for title in (
        "Summary", "Results", "Comparisons", "Distributions", "By scene", "By path length", "Along tours",
        "Completion time against path length", "Failures", "All episodes", "Provenance", "Skills",
        "Coverage along tours", "Fastest times", "9.00 to 10.00 s on average; the goal is unreachable in 1",
        "f00d", "good, stop: does.",
    ):  # fmt: skip
        assert title in text


def test_the_first_screen_answers_in_sentences(whole):
    text = Outline(whole).text
    asked = [
        text.index(q) for q in ("Which agent is better?", "By how much?", "How certain is that?", "Where does it fail?")
    ]
    assert asked == sorted(asked)
    assert asked[-1] < text.index("Results")


def test_headings_descend_one_level_at_a_time(whole):
    levels = [int(tag[1]) for tag, _ in Outline(whole).tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))


def test_ids_are_unique_and_links_lead_to_them(whole):
    tags = Outline(whole).tags
    ids = Counter(attributes["id"] for _, attributes in tags if "id" in attributes)
    assert set(ids.values()) == {1}
    targets = [a["href"] for tag, a in tags if tag == "a"]
    assert {target[1:] for target in targets if target.startswith("#")} <= ids.keys()
    labels = " ".join(a["aria-labelledby"] for _, a in tags if "aria-labelledby" in a).split()
    assert set(labels) <= ids.keys()


def test_cells_of_headings_have_a_scope_and_pictures_a_name(whole):
    tags = Outline(whole).tags
    assert all("scope" in attributes for tag, attributes in tags if tag == "th")
    for tag, attributes in tags:
        if tag == "svg":
            assert attributes.get("aria-hidden") == "true" or attributes["role"] == "img"


def test_nothing_is_asked_of_the_network(whole):
    tags = Outline(whole).tags
    assert not [tag for tag, attributes in tags if tag in ("link", "img", "iframe") or "src" in attributes]
    assert "url(" not in whole
    assert "@import" not in whole
    policy = next(a["content"] for tag, a in tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")


def test_failures_link_to_the_replays_that_are_there(whole):
    links = {a["href"] for tag, a in Outline(whole).tags if tag == "a" and not a["href"].startswith("#")}
    assert links <= {"replays/replay-e1.html"}
    assert '"replays":{"1":"replays/replay-e1.html"}' in whole


def test_the_same_results_make_the_same_page():
    tables = [make_scores(0.8), make_scores(0.4)]
    assert render_report(make_report(["a", "b"], tables)) == render_report(make_report(["a", "b"], tables))


HOSTILE = {
    "html": "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "attribute": "\"' onmouseover='alert(1)",
    "emoji": "🤖👩‍🚀🏠",
    "right to left": "סוכן \u202eהפוך عربي",
    "long": "w" * 10_000,
    "control": "a\x00\x07\x1b[31mb\ud800",
    "comment": "<!--",
    "entity": "&lt;b&gt;&#x202e;",
    "empty": "",
}


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_names_do_no_harm(name):
    table = make_scores(0.6, name=name, prefix=name, scene=name, episodes=24, toured=True)
    other = replace(make_scores(0.3, name=name, prefix=name, scene=name, episodes=24, toured=True), source=name)
    findings = StudyResults({name: {name: SkillResult([name], Estimate(0.5, 0.4, 0.6))}})
    points = [CoveragePoint(0, 0.0, 0.0, 0.0), CoveragePoint(1, 0.5, 0.4, 0.6)]
    described = DatasetCoverage(name, {"visited": {"tour": points}})
    report = make_report([name, name], [table, other], findings=[findings], described=[described], title=name)
    text = render_report(report)
    text.encode()
    outline = Outline(text)
    scripts = [attributes for tag, attributes in outline.tags if tag == "script"]
    assert [a.get("type") for a in scripts] == ["application/json", None]
    assert not [tag for tag, a in outline.tags if tag == "img" or any(key.startswith("on") for key in a)]
    assert "\x00" not in text
    assert "\u202e" not in outline.text.split("Provenance")[0]
    (data,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert len(msgspec.json.decode(data)["ids"]) == 24


@pytest.mark.parametrize(
    "table",
    [
        replace(make_scores(0.6), episode_info=None, provenance=None),
        changed(make_scores(0.6), NE=np.inf),
        replace(changed(make_scores(0.6), NE=np.inf), columns=make_scores(0.6).columns[2:3]),
        changed(make_scores(0.6), SR=np.nan, NE=np.nan, nDTW=np.nan),
        make_scores(0.6, episodes=1, scenes=1),
        make_scores(0.6, episodes=6, scenes=1),
        replace(make_scores(0.6), columns=make_scores(0.6).columns[2:3], values={"NE": make_scores(0.6)["NE"]}),
        changed(make_scores(0.6), SR=1.0),
        changed(make_scores(0.6), SR=0.0),
    ],
    ids=[
        "old bundle",
        "infinite",
        "infinite errors only",
        "undefined",
        "one episode",
        "one scene",
        "errors only",
        "perfect",
        "hopeless",
    ],
)
def test_odd_results_still_make_a_page(table):
    for tables in ([table], [table, table]):
        Outline(render_report(make_report(["a", "b"][: len(tables)], tables)))


def test_findings_alone_make_a_page():
    assert "Skills of good" in Outline(render_report(make_report([], [], findings=[FINDINGS]))).text
