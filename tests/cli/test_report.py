"""`itinera report`, from bundles to a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiny
from cli.conftest import Command
from itinera.formats.bundles import read_scores


@pytest.fixture
def bundles(files: tiny.Files, itinera: Command) -> list[Path]:
    """The bundles of two agents, with tours."""
    perfect = files.write("perfect.json", tiny.predictions(tiny.PERFECT))
    made = []
    for name, walks in (("mine", files.predictions), ("perfect", perfect)):
        out = files.folder / f"{name}.jsonl"
        assert itinera("score", walks, *files.options, "--tours", files.tours, "--out", out).code == 0
        made.append(out)
    return made


def test_bundles_have_lengths_and_tours_of_episodes(bundles):
    scores = read_scores(bundles[0])
    info = scores.episode_info
    assert info is not None
    assert info.goal_distances.tolist() == info.reference_lengths.tolist() == [4.0] * 5
    tours = dict(zip(scores.episode_ids, info.tour_ids, strict=True))
    positions = dict(zip(scores.episode_ids, info.tour_positions, strict=True))
    assert [positions[name] for name in ("1_0", "2_0", "1_1", "3_0", "3_1")] == [0, 1, 0, 0, 1]
    assert tours["1_0"] == tours["2_0"] != tours["1_1"]


def test_a_report_is_one_page_with_tables_for_papers_beside(bundles, itinera, tmp_path):
    page, markdown, latex = tmp_path / "report.html", tmp_path / "report.md", tmp_path / "report.tex"
    done = itinera("report", *bundles, "--out", page, "--markdown", markdown, "--latex", latex)
    assert done.code == 0, done.err
    assert "perfect and mine lead" in done.out
    assert page.read_text().startswith("<!doctype html>")
    assert "Which agent is better?" in page.read_text()
    assert markdown.read_text().startswith("# mine and perfect on ")
    assert r"\begin{tabular}" in latex.read_text()


def test_findings_descriptions_and_replays_join_in(bundles, files, itinera, tmp_path):
    findings = files.write(
        "findings.json", {"agents": {"mine": {"stop": {"verdicts": ["mine stops."], "score": None}}}}
    )
    described = files.folder / "seen.json"
    printed = itinera("describe", files.tasks, "--worlds", files.worlds, "--tours", files.tours, "--json")
    described.write_text(printed.out)
    replays = tmp_path / "walks & more"
    replays.mkdir()
    (replays / "replay-1_1.html").write_text("")
    page = tmp_path / "report.html"
    done = itinera("report", *bundles, findings, described, "--replays", replays, "--title", "All of it", "--out", page)
    assert done.code == 0, done.err
    text = page.read_text()
    link = 'href="walks%20%26%20more/replay-1_1.html"'
    for part in ("mine stops.", "Coverage along tours", link, "<h1>All of it</h1>"):
        assert part in text


def test_results_of_other_rules_get_sections_of_their_own(bundles, files, itinera, tmp_path):
    other = files.folder / "other.jsonl"
    assert itinera("score", files.predictions, *files.options, "--suite", "hamt", "--out", other).code == 0
    assert itinera("report", *bundles, other, "--out", tmp_path / "r.html").code == 0
    assert (tmp_path / "r.html").read_text().count('class="benchmark"') == 2


@pytest.mark.parametrize("content", ["", "not json", json.dumps({"walks": 1}), json.dumps([3])])
def test_what_is_no_result_is_refused(files, itinera, tmp_path, content):
    done = itinera("report", files.write("x.json", content), "--out", tmp_path / "r.html")
    assert done.code == 1
    assert done.err.startswith("itinera: ")
    assert not (tmp_path / "r.html").exists()


def test_a_folder_of_replays_that_is_not_there_is_told(bundles, itinera, tmp_path):
    done = itinera("report", *bundles, "--replays", tmp_path / "none", "--out", tmp_path / "r.html")
    assert done.code == 2
    assert "is not a folder" in done.err


def test_predictions_are_not_scores(files, itinera, tmp_path):
    walks = files.write("walks.jsonl", '{"itinera":"predictions"}\n')
    done = itinera("report", walks, "--out", tmp_path / "r.html")
    assert done.code == 1
    assert "contains predictions, not scores" in done.err


def test_failures_are_listed_with_their_instruction(files: tiny.Files, itinera: Command) -> None:
    bundle, page = files.folder / "mine.jsonl", files.folder / "report.html"
    assert itinera("score", files.predictions, *files.options, "--out", bundle).code == 0
    assert itinera("report", bundle, "--out", page).code == 0
    assert "go to c" not in page.read_text()
    # 1_1, which stays at its start, is the only failure; its instruction is "go to c ".
    assert itinera("report", bundle, "--tasks", files.tasks, "--out", page).code == 0
    assert page.read_text().count("<q>go to c</q>") == 1


def test_a_part_is_reported_as_one(files: tiny.Files, itinera: Command) -> None:
    bundle, page = files.folder / "mine.jsonl", files.folder / "report.html"
    assert itinera("score", files.predictions, *files.options, "--out", bundle).code == 0
    done = itinera("report", bundle, "--episodes", "scan=house", "--out", page)
    assert "3 of 5 episodes in 1 scene" in done.out
    assert "3 of 5 episodes in 1 scene" in page.read_text()
