"""`compare`, `compare_solved`, `report` and `show` of `import itinera`: objects or paths, named or in a list."""

from __future__ import annotations

from pathlib import Path

import pytest

import itinera as it
import tiny
from itinera.errors import BadArgument
from reports.example_results import make_scores
from reports.example_tables import table

MINE, OTHER = table("aabbcc", SR=[1, 1, 1, 0, 1, 1], NE=[0] * 6), table("aabbcc", SR=[0, 1, 1, 0, 0, 1], NE=[1] * 6)


@pytest.fixture
def files(tmp_path: Path) -> tiny.Files:
    return tiny.on_graphs(tmp_path)


def test_a_comparison_is_a_table_in_text_and_in_a_notebook():
    found = it.compare({"other": OTHER, "mine": MINE})
    assert found.names == ("other", "mine")
    assert "mine − other" in str(found)
    assert "SR % ↑" in str(found)
    assert found._repr_html_().startswith("<table>")
    assert repr(found) == "Comparison(other, mine: 2 metrics, 6 episodes in 3 scenes)"
    assert found["SR"].means == pytest.approx((0.5, 5 / 6))
    with pytest.raises(KeyError, match="there are SR, NE"):
        found["SPL"]


def test_results_in_a_list_are_numbered_unless_they_have_a_name():
    assert it.compare([OTHER, MINE]).names == ("result 1", "result 2")
    one, two = make_scores(0.8, name="good"), make_scores(0.4, name="poor")
    assert it.compare([one, two]).names == ("good", "poor")


def test_what_cannot_be_compared_is_said():
    with pytest.raises(BadArgument, match=r"compare\(\{"):
        it.compare(MINE)
    with pytest.raises(BadArgument, match="mine is dict"):
        it.compare({"mine": {}, "other": OTHER})
    with pytest.raises(BadArgument, match="Score predictions first"):
        it.report([3])


def test_agents_are_compared_on_what_all_solved():
    found = it.compare_solved({"other": OTHER, "mine": MINE})
    assert (found.solved, found.episodes) == (3, 6)
    assert "3 solved by every agent" in str(found)
    assert repr(found) == "Intersection(other, mine: 3 of 6 episodes solved by all)"


def test_a_report_is_made_of_tables_and_written_where_asked(tmp_path):
    made = it.report({"good": make_scores(0.8), "poor": make_scores(0.4)}, out=tmp_path / "r.html", title="Two")
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    assert made.heading == "Two"
    assert "good is better than poor" in str(made)
    assert "Which agent is better?" in made._repr_html_()


def test_an_agent_on_several_benchmarks_keeps_its_style():
    first, second = make_scores(0.8), make_scores(0.6, prefix="other")
    made = it.report({"mine": [first, second], "poor": [make_scores(0.4)]})
    assert [one.names for one in made.benchmarks] == [("mine", "poor"), ("mine",)]
    assert made.benchmarks[0].agents[0] == made.benchmarks[1].agents[0]


def test_a_replay_is_made_of_objects_or_files(files, tmp_path):
    tasks, worlds = it.read_tasks(files.tasks), it.read_worlds(files.worlds)
    predictions = it.read_predictions(files.predictions)
    made = it.show({"mine": predictions}, tasks, worlds, episodes="1_0", out=tmp_path / "r.html")
    same = it.show({"mine": files.predictions}, files.tasks, files.worlds, episodes=["1_0"])
    assert made == same
    assert made.agents == ["mine"]
    assert (tmp_path / "r.html").exists()
    assert repr(made) == "Replay('Episode 1_0 in house: mine')"
    with pytest.raises(BadArgument, match=r"must end in one of \.html, \.png"):
        it.show(predictions, tasks, worlds, out="r.pdf")
