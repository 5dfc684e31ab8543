"""Links from reports to replays: to the trajectories of a benchmark, and to no others."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from itinera.reports.benchmark import group_by_benchmark
from itinera.reports.page.report import make_report, render_report
from itinera.reports.replay.links import ReplayPage, link_episodes, list_replay_pages, read_replay_page
from itinera.reports.replay.page import render_replay
from reports.example_replays import replay
from reports.example_results import make_scores

ALONE = ReplayPage("replays/some.html", frozenset({"good"}), "", {"e1": "scene1", "e2": "scene2"})
TOUR = replace(ALONE, link="replays/tour.html", tour="7")


def make_benchmark(*, toured: bool):
    return next(
        group_by_benchmark(["good", "poor"], [make_scores(0.8, toured=toured), make_scores(0.4, toured=toured)])
    )


def test_a_page_is_read_back(tmp_path):
    written = replay()
    file = tmp_path / "walks.html"
    file.write_text(render_replay(written), encoding="utf-8")
    shown = read_replay_page(file, "walks.html")
    assert shown is not None
    assert shown.agents == set(written.agents)
    assert shown.tour == written.tour
    assert list(shown.worlds) == [episode.id for episode in written.episodes]


@pytest.mark.parametrize("text", ["", "<p>no replay</p>", '<script type="application/json" id="replay">[3]</script>'])
def test_other_pages_are_none(tmp_path, text):
    file = tmp_path / "page.html"
    file.write_text(text)
    assert read_replay_page(file, "page.html") is None


def test_an_episode_is_linked_by_its_name():
    slashed = group_by_benchmark(["good"], [make_scores(0.8, prefix="e/")])
    page = replace(ALONE, worlds={"e/1": "scene1", "e/2": "elsewhere"})
    assert link_episodes(next(slashed), [page]) == {"e/1": "replays/some.html#e%2F1"}


@pytest.mark.parametrize(
    "other",
    [
        replace(ALONE, agents=frozenset({"somebody"})),
        replace(ALONE, worlds={"e1": "elsewhere"}),
        replace(ALONE, worlds={"e9999": "scene1"}),
        TOUR,
    ],
)
def test_pages_of_other_agents_scenes_or_tours_are_not_linked(other):
    assert not link_episodes(make_benchmark(toured=False), [other])
    assert list_replay_pages(make_benchmark(toured=False), [other]) == ""


def test_tours_are_linked_from_tours():
    found = list_replay_pages(make_benchmark(toured=True), [ALONE, TOUR])
    assert found == '<p>Replays: <a href="replays/tour.html">tour 7 in scene1</a>.</p>'


def test_the_report_lists_its_replays():
    tables = [make_scores(0.8), make_scores(0.4)]
    text = render_report(make_report(["good", "poor"], tables, replay_pages=[ALONE]))
    assert '<a href="replays/some.html">2 episodes</a>' in text
    assert '"1":"replays/some.html#e1"' in text


def test_pages_that_are_pipes_or_nested_without_end_are_none(tmp_path):
    os.mkfifo(tmp_path / "pipe.html")
    assert read_replay_page(tmp_path / "pipe.html", "pipe.html") is None
    deep = '<script type="application/json" id="replay">' + "[" * 100_000 + "</script>"
    (tmp_path / "deep.html").write_text(deep)
    assert read_replay_page(tmp_path / "deep.html", "deep.html") is None
