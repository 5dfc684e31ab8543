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


def test_bundles_tell_what_episodes_ask(bundles):
    asked = read_scores(bundles[0]).asked
    assert asked is not None
    assert asked.distances.tolist() == asked.lengths.tolist() == [4.0] * 5
    told = dict(zip(read_scores(bundles[0]).episode_ids, zip(asked.tours, asked.legs, strict=True), strict=True))
    assert [told[name][1] for name in ("1_0", "2_0", "1_1", "3_0", "3_1")] == [0, 1, 0, 0, 1]
    assert told["1_0"][0] == told["2_0"][0] != told["1_1"][0]


def test_a_report_is_one_page_with_tables_for_papers_beside(bundles, itinera, tmp_path):
    page, markdown, latex = tmp_path / "report.html", tmp_path / "report.md", tmp_path / "report.tex"
    done = itinera("report", *bundles, "--out", page, "--markdown", markdown, "--latex", latex)
    assert done.code == 0, done.err
    assert "perfect and mine lead" in done.out
    assert page.read_text().startswith("<!doctype html>")
    assert "Who is better?" in page.read_text()
    assert markdown.read_text().startswith("# mine and perfect on ")
    assert r"\begin{tabular}" in latex.read_text()


def test_findings_descriptions_and_replays_join_in(bundles, files, itinera, tmp_path):
    findings = files.write(
        "findings.json", {"agents": {"mine": {"stop": {"verdicts": ["mine stops."], "score": None}}}}
    )
    described = files.folder / "seen.json"
    told = itinera("describe", files.tasks, "--worlds", files.worlds, "--tours", files.tours, "--json")
    described.write_text(told.out)
    replays = tmp_path / "walks & more"
    replays.mkdir()
    (replays / "replay-1_1.html").write_text("")
    page = tmp_path / "report.html"
    done = itinera("report", *bundles, findings, described, "--replays", replays, "--title", "All of it", "--out", page)
    assert done.code == 0, done.err
    text = page.read_text()
    for part in ("mine stops.", "Seen along tours", 'href="walks%20%26%20more/replay-1_1.html"', "<h1>All of it</h1>"):
        assert part in text


def test_results_of_other_rules_get_sections_of_their_own(bundles, files, itinera, tmp_path):
    other = files.folder / "other.jsonl"
    assert itinera("score", files.predictions, *files.options, "--suite", "hamt", "--out", other).code == 0
    assert itinera("report", *bundles, other, "--out", tmp_path / "r.html").code == 0
    assert (tmp_path / "r.html").read_text().count('class="contest"') == 2


@pytest.mark.parametrize("content", ["", "not json", json.dumps({"walks": 1}), json.dumps([3])])
def test_what_is_no_result_is_refused(files, itinera, tmp_path, content):
    done = itinera("report", files.write("x.json", content), "--out", tmp_path / "r.html")
    assert done.code == 1
    assert done.err.startswith("itinera: ")
    assert not (tmp_path / "r.html").exists()


def test_a_folder_of_replays_that_is_not_there_is_told(bundles, itinera, tmp_path):
    done = itinera("report", *bundles, "--replays", tmp_path / "none", "--out", tmp_path / "r.html")
    assert done.code == 2
    assert "is no folder of replays" in done.err


def test_walks_are_not_scores(files, itinera, tmp_path):
    walks = files.write("walks.jsonl", '{"itinera":"walks"}\n')
    done = itinera("report", walks, "--out", tmp_path / "r.html")
    assert done.code == 1
    assert "holds walks, not scores" in done.err
