"""A board as files: the numbers of the board, text that stays text, and a copy that outlives its server."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
import yaml

import itinera
from itinera.errors import BadArgument, BadFile
from itinera.formats.event_log import Event, next_event
from itinera.formats.hub import to_yaml
from itinera.server import exports, html
from itinera.server.board import Board, encode_board
from server.boards import HOSTILE, NOON, a_board
from server.site import hostile_board

RULES = html.ChallengeView("About.", (html.PhaseView("test", opens=NOON),), commitment="ab" * 32)


def a_log(board: Board) -> list[Event]:
    log: list[Event] = []
    for entry in board.entries:
        about = {"entry": entry.id, "bundle": entry.bundle}
        log.append(next_event(log[-1] if log else None, "entry", about, at=NOON, by="server"))
        about = {"entry": entry.id, "fingerprint": entry.fingerprint}
        log.append(next_event(log[-1], "judgement", about, at=NOON, by="worker"))
    return log


def test_json_has_the_board():
    board = a_board()
    found = json.loads(encode_board(board))
    assert (found["title"], found["phase"], found["metric"], found["sealed"]) == ("May 2026", "test", "SR", False)
    first = found["entries"][0]
    assert first["scores"]["SR"] == {
        "mean": board["e1"].scores["SR"].mean, "low": board["e1"].scores["SR"].low,
        "high": board["e1"].scores["SR"].high, "letters": "a",
    }  # fmt: skip
    assert first["submitted"] == "2026-11-19T13:00:00Z"
    assert first["coverage"] == {"episodes": 240, "answered": 240, "stopped": 229, "failed": 2}


def test_csv_has_the_board_and_no_formula():
    board = hostile_board()
    board = replace(board, entries=tuple(replace(e, method="=1+1") if e.id == "e4" else e for e in board.entries))
    rows = list(csv.DictReader(io.StringIO(exports.encode_csv(board).decode())))
    assert [row["entry"] for row in rows] == [entry.id for entry in board.entries]
    first = board.entries[0]
    assert float(rows[0]["SR"]) == pytest.approx(first.scores["SR"].mean, abs=1e-6)
    assert float(rows[0]["NE high"]) == pytest.approx(first.scores["NE"].high, rel=1e-5)
    assert rows[0]["SR ties"] == "a"
    assert rows[1]["team"] == ""
    by_id = {row["entry"]: row for row in rows}
    assert by_id["e4"]["method"] == "'=1+1"
    assert "\\u202e" in by_id["e3"]["method"]


def test_latex_has_the_board_and_no_command():
    text = exports.encode_latex(hostile_board()).decode()
    assert r"\begin{tabular}{lrrrrr}" in text
    assert r"SR \% $\uparrow$" in text
    assert text.count(r"\\") == 5
    assert r"\{\{7*7\}\}" in text
    assert " PL " not in text


def test_evaluation_results_have_the_shape_of_the_hub():
    board = a_board()
    data = exports.encode_eval_results(board, board["e1"], dataset="itinera/may", url="https://host.example/entries/e1")
    results = yaml.safe_load(data)
    assert [one["dataset"] for one in results] == [
        {"id": "itinera/may", "task_id": f"test.{name}"} for name in ("SR", "SPL", "NE")
    ]
    assert results[0]["value"] == board["e1"].scores["SR"].mean
    assert results[0]["date"] == "2026-11-19"
    assert results[0]["source"] == {"url": "https://host.example/entries/e1", "name": "May 2026"}
    assert results[0]["notes"].startswith("95 % interval 0.4")
    for dataset in ("may", "a/b/c", "/b", "a/\u202e", ""):
        with pytest.raises(BadArgument, match="give OWNER/NAME"):
            exports.encode_eval_results(board, board["e1"], dataset=dataset)


@pytest.mark.parametrize(
    "value",
    [
        ["no", "~", "1.0", "- a", "a: b", "#", "", "'", '"', "\\", "é 漢 🙂", "x" * 200, "2026-11-19"],
        [{"a": {"b": [{"c": 1, "d": [True, None, 2.5]}], "e": {}}}, [], [[1], [2, [3]]]],
    ],
)
def test_yaml_is_read_as_it_was_meant(value: list):
    assert yaml.safe_load(to_yaml(value)) == value
    assert yaml.safe_load(to_yaml({"key": value})) == {"key": value}


def test_yaml_escapes_what_cannot_be_seen():
    assert yaml.safe_load(to_yaml([f"a\nb{HOSTILE}"])) == [f"a\\nb{HOSTILE}".replace("\u202e", "\\u202e")]


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("href", "src", "action")]


def test_a_static_export_is_complete_and_verified(tmp_path: Path):
    boards = [hostile_board(), replace(a_board([]), phase="Dev/../é")]
    archive = exports.write_static_export(
        tmp_path / "site", "May 2026", boards, RULES, a_log(boards[0]), dataset="a/b", reports={"e1": b"<p>report</p>"}
    )
    assert archive == tmp_path / "site" / "board.zip"
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) == 2 + 2 + 4 + 2 + 1  # rules, boards, entries, teams, report
    for page in pages:
        for link in Links(page.read_text()).found:
            address = unquote(urldefrag(link).url)
            if address and not address.startswith("https://example.org/"):
                assert (page.parent / address).resolve().is_file(), (page, link)
                assert (tmp_path / "site") in (page.parent / address).resolve().parents
    assert not list(tmp_path.rglob("submit.html"))
    report = itinera.check(archive)
    assert report.counts["entries on the board"] == 4
    assert json.loads((tmp_path / "site" / "test" / "board.json").read_text())["phase"] == "test"
    assert yaml.safe_load((tmp_path / "site" / "eval-results" / "e3.yaml").read_text())[0]["dataset"]["id"] == "a/b"


def test_an_export_after_one_byte_is_changed_fails(tmp_path: Path):
    board = a_board()
    archive = exports.write_static_export(tmp_path, "May", [board], RULES, a_log(board))
    assert itinera.check(archive)
    data = bytearray(archive.read_bytes())
    data[data.index(b"Method 2")] ^= 1
    archive.write_bytes(data)
    with pytest.raises(BadFile, match="is not the file that the manifest states"):
        itinera.check(archive)


def test_a_board_that_its_log_contradicts_cannot_be_verified(tmp_path: Path):
    board = a_board()
    archive = exports.write_static_export(tmp_path, "May", [board], RULES, a_log(board)[:-2])
    with pytest.raises(BadFile, match=r'entry "e3": is not in the log'):
        itinera.check(archive)


def test_a_later_export_removes_pages_of_entries_that_are_gone(tmp_path: Path):
    board = a_board()
    exports.write_static_export(tmp_path, "May", [board], RULES, a_log(board))
    assert (tmp_path / "entries" / "e3.html").exists()
    (tmp_path / "entries" / "notes.txt").write_text("mine")
    fewer = replace(board, entries=board.entries[:2])
    exports.write_static_export(tmp_path, "May", [fewer], RULES, a_log(board))
    assert sorted(path.name for path in (tmp_path / "entries").iterdir()) == ["e1.html", "e2.html", "notes.txt"]
    assert itinera.check(tmp_path / "board.zip").counts["entries on the board"] == 2


def test_an_export_is_the_same_bytes_every_time(tmp_path: Path):
    board = a_board()
    first, second = (exports.write_static_export(tmp_path / name, "May", [board], RULES, a_log(board)) for name in "ab")
    assert first.read_bytes() == second.read_bytes()
