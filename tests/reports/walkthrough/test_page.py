"""The walk-through page as a file: one self-contained document in which every text is data."""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec
import pytest

import cottage
from itinera.builders.hearth import build_house_graph
from itinera.errors import BadArgument
from itinera.reports.walkthrough.data import Walkthrough
from itinera.reports.walkthrough.make import make_walkthrough
from itinera.reports.walkthrough.page import render_walkthrough, write_walkthrough_page
from itinera.tasks import Instruction
from reports.walkthrough.test_make import GRAPH, episode
from reports.walkthrough.test_mesh import scattered

HOSTILE = "</script><script>alert(1)</script><!-- {{data}} {{script}} \u202e & \" ' \u2028"


@pytest.fixture(scope="module")
def page() -> str:
    tasks = {HOSTILE: [episode(id=HOSTILE, instruction=Instruction(HOSTILE, HOSTILE), alignment=None)]}
    return render_walkthrough(make_walkthrough(cottage.house(), GRAPH, tasks, title=HOSTILE))


def test_hostile_texts_stay_data(page):
    assert "<script>alert" not in page
    assert page.count("</script>") == 2
    (stored,) = re.findall(r'<script type="application/json" id="walkthrough">(.*?)</script>', page, re.DOTALL)
    found = msgspec.json.decode(stored, type=Walkthrough)
    assert found.title == HOSTILE
    (shown,) = found.episodes
    assert (shown.id, shown.group, shown.language, shown.instruction[0].text) == (HOSTILE,) * 4


def test_the_page_needs_nothing_else(page):
    assert re.search(r"default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'", page)
    assert not re.search(r"(?:src|href)\s*=|@import|https?://", page.replace("http-equiv", ""))


def test_a_mesh_of_sixty_thousand_triangles_takes_less_than_a_megabyte_and_a_half():
    large = replace(cottage.house(), mesh=scattered(60_000))  # random, so harder to compress than any house
    assert len(render_walkthrough(make_walkthrough(large, GRAPH, moods=()))) < 1.5e6


def test_a_furnished_house_with_its_light_takes_less_than_a_megabyte_and_a_half():
    house, graph = build_house_graph(1, 1)
    assert len(house.mesh.faces) > 40_000
    assert len(render_walkthrough(make_walkthrough(house, graph))) < 1.5e6


def test_a_page_ends_in_html(tmp_path):
    with pytest.raises(BadArgument, match=r"ends in \.html, not '\.htm'"):
        write_walkthrough_page(tmp_path / "a.htm", make_walkthrough(cottage.house(), GRAPH))
    write_walkthrough_page(tmp_path / "a.html", make_walkthrough(cottage.house(), GRAPH))
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!doctype html>")
