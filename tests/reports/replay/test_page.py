"""The replay page: one file, no requests, and safe from hostile names and instructions."""

from __future__ import annotations

import re

import msgspec
import pytest

from itinera.errors import BadArgument
from itinera.records import Predictions, Trajectory
from itinera.reports.replay.data import Replay
from itinera.reports.replay.page import render_replay, write_replay_page
from itinera.tasks import Instruction
from reports.example_replays import replay, split

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> {{data}} \u202e\u2028שלום 🤖" + "long" * 2500


def data_in(page: str) -> Replay:
    (found,) = re.findall(r'<script type="application/json" id="replay">(.*?)</script>', page, re.DOTALL)
    return msgspec.json.decode(found, type=Replay)


def test_a_page_holds_its_data_and_asks_for_nothing(tmp_path):
    write_replay_page(tmp_path / "replay.html", replay())
    page = (tmp_path / "replay.html").read_text(encoding="utf-8")
    assert data_in(page) == replay()
    assert "{{" not in page
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!data:)""", page)
    assert "default-src 'none'" in page
    assert [word for word in ("innerHTML", "eval(", "fetch(", "XMLHttpRequest", "import(") if word in page] == []


def test_words_that_would_be_markup_stay_words():
    tasks = split(toured=False, instruction=Instruction(HOSTILE, HOSTILE), alignment=None, id=HOSTILE)
    walks = {HOSTILE: Predictions.from_trajectories("a.jsonl", (Trajectory(HOSTILE, tuple("abcd")),))}
    shown = msgspec.structs.replace(replay(tasks, walks), title=HOSTILE)
    page = render_replay(shown)
    assert data_in(page) == shown
    assert page.count("<script") == 2
    assert "<img" not in page.replace('<img id="picture"', "").replace('<img id="map"', "")
    assert "&lt;/script&gt;" in re.findall(r"<title>(.*?)</title>", page, re.DOTALL)[0]


def test_layers_that_are_drawn_can_be_switched():
    page = render_replay(replay())
    drawn = set(re.findall(r'isShown\("(\w+)"\)', page))
    assert drawn >= {"graph", "labels", "alignment", "guided"}
    assert drawn <= set(re.findall(r'\{ key: "(\w+)"', page))


def test_equal_replays_are_equal_files():
    assert render_replay(replay()) == render_replay(replay())


def test_only_a_page_is_written_as_one(tmp_path):
    with pytest.raises(BadArgument, match=r"ends in \.html, not '\.pdf'"):
        write_replay_page(tmp_path / "replay.pdf", replay())


def test_only_the_script_of_the_page_is_allowed():
    page = render_replay(replay())
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)
    assert "unsafe" not in policy
    assert "script-src 'sha256-" in policy
