"""Links from reports to replays: to the walks of a contest, and to no others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from itinera.reports.page.contest import contests
from itinera.reports.page.page import make_report, page
from itinera.reports.replay.links import Shown, links_of, read_shown, to_watch
from itinera.reports.replay.page import page_of
from reports.contests_of import made_up
from reports.replays_of import replay

ALONE = Shown("replays/some.html", frozenset({"good"}), "", {"e1": "scene1", "e2": "scene2"})
TOUR = replace(ALONE, link="replays/tour.html", tour="7")


def contest(*, toured: bool):
    return next(contests(["good", "poor"], [made_up(0.8, toured=toured), made_up(0.4, toured=toured)]))


def test_a_page_tells_what_it_shows(tmp_path):
    told = replay()
    file = tmp_path / "walks.html"
    file.write_text(page_of(told), encoding="utf-8")
    shown = read_shown(file, "walks.html")
    assert shown is not None
    assert shown.agents == set(told.agents)
    assert shown.tour == told.tour
    assert list(shown.worlds) == [task.id for task in told.tasks]


@pytest.mark.parametrize("text", ["", "<p>no replay</p>", '<script type="application/json" id="replay">[3]</script>'])
def test_other_pages_are_none(tmp_path, text):
    file = tmp_path / "page.html"
    file.write_text(text)
    assert read_shown(file, "page.html") is None


def test_an_episode_is_linked_by_its_name():
    slashed = contests(["good"], [made_up(0.8, prefix="e/")])
    page = replace(ALONE, worlds={"e/1": "scene1", "e/2": "elsewhere"})
    assert links_of(next(slashed), [page]) == {"e/1": "replays/some.html#e%2F1"}


@pytest.mark.parametrize(
    "other",
    [
        replace(ALONE, agents=frozenset({"somebody"})),
        replace(ALONE, worlds={"e1": "elsewhere"}),
        replace(ALONE, worlds={"e9999": "scene1"}),
        TOUR,
    ],
)
def test_walks_of_others_or_elsewhere_or_otherwise_are_not_linked(other):
    assert not links_of(contest(toured=False), [other])
    assert to_watch(contest(toured=False), [other]) == ""


def test_tours_are_linked_from_tours():
    found = to_watch(contest(toured=True), [ALONE, TOUR])
    assert found == '<p>To watch: <a href="replays/tour.html">tour 7 in scene1</a>.</p>'


def test_the_page_says_what_there_is_to_watch():
    tables = [made_up(0.8), made_up(0.4)]
    text = page(make_report(["good", "poor"], tables, shown=[ALONE]))
    assert '<a href="replays/some.html">2 episodes</a>' in text
    assert '"1":"replays/some.html#e1"' in text
