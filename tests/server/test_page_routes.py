"""The addresses of the pages: every link leads somewhere, and nothing is said about what is not public."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from starlette.applications import Starlette

import asgi
from itinera.server import html, page_routes
from itinera.server.board import Board, BoardEntry
from itinera.server.page_routes import BoardTexts, make_page_routes
from server.boards import HOSTILE, NOON
from server.site import hostile_board


class Source:
    """One phase with entries of which some have hostile names."""

    def __init__(self) -> None:
        self.board = hostile_board()

    def site(self) -> html.Site:
        return html.Site("May", ("test",))

    def find_board(self, phase: str) -> Board | None:
        return self.board if phase == "test" else None

    def find_entry(self, entry_id: str) -> tuple[Board, BoardEntry] | None:
        return next(((self.board, entry) for entry in self.board.entries if entry.id == entry_id), None)

    def describe_challenge(self) -> html.ChallengeView:
        return html.ChallengeView("About.", (html.PhaseView("test", opens=NOON),))

    def describe_status(self) -> html.StatusView:
        return html.StatusView(1, 0, 1, 3.0, (html.QueueJob(1, "test", 3.0, None, "e1"),))

    def describe_submission(self) -> html.SubmitView:
        return html.SubmitView(("test",))


APP = Starlette(routes=make_page_routes(Source()))


def get(path: str) -> tuple[int, dict[str, str], bytes]:
    return asgi.get(APP, path)


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {value for name, value in attrs if name in ("href", "src") and value and value.startswith("/")}


def crawl(start: str) -> Iterator[tuple[str, tuple[int, dict[str, str], bytes]]]:
    waiting, seen = [start], {start}
    while waiting:
        path = waiting.pop()
        answer = get(path)
        yield path, answer
        if answer[1]["content-type"].startswith("text/html"):
            found = Links(answer[2].decode()).found - seen
            seen |= found
            waiting += sorted(found)


def test_every_link_from_the_first_page_leads_somewhere():
    found = dict(crawl("/"))
    assert {path: status for path, (status, _, _) in found.items() if status != 200} == {}
    # Rules twice, board with three documents, four entries, two teams, queue, form, style sheet and two scripts.
    assert len(found) == 2 + 4 + 4 + 2 + 2 + 3
    for _, headers, _ in found.values():
        assert headers["content-security-policy"] == html.SECURITY_POLICY
        assert headers["x-content-type-options"] == "nosniff"


def test_data_has_its_type():
    status, headers, body = get("/phases/test/board.json")
    assert (status, headers["content-type"]) == (200, "application/json")
    assert len(json.loads(body)["entries"]) == 4
    assert get("/phases/test/board.csv")[1]["content-type"] == "text/csv; charset=utf-8"
    assert get("/static/board.css")[1]["content-type"].startswith("text/css")
    assert get("/static/submit.js")[1]["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    "path",
    [
        "/phases/other", "/phases/test/board.xml", "/phases/other/board.json", "/entries/e99", "/teams/nobody",
        "/teams/t1", "/static/../html.py", "/static/base.html", "/static/%2e%2e%2fboard.py",
        "/entries/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/phases/%00", "/teams/%e2%80%ae",
    ],
)  # fmt: skip
def test_what_is_not_there_is_said_and_nothing_else(path: str):
    status, headers, body = get(path)
    assert status == 404
    if headers["content-type"].startswith("text/html"):
        assert b"<script>" not in body
        assert headers["content-security-policy"] == html.SECURITY_POLICY


@pytest.mark.parametrize("path", ["/", "/submit"])
def test_commands_have_the_address_of_the_request(path: str):
    def command(host: str) -> str:
        text = asgi.get(APP, path, host=host)[2].decode()
        return re.search(r"itinera submit (.*) \S+ --phase test", text)[1]

    assert command("may.example:8321") == "http://may.example:8321"
    assert command("[::1]:8321") == "http://[::1]:8321"
    for made_up in ("a.example;reboot", "a.example$(reboot)", "a.example'<b>", "a.example reboot"):
        assert command(made_up) in ("URL", "http://host.example")  # later versions of Starlette know the socket


def test_hostile_names_are_addresses_too():
    from urllib.parse import quote

    status, _, body = get(f"/teams/{quote(HOSTILE, safe='')}")
    assert status == 200
    assert b"<script>alert" not in body


def test_a_page_is_rendered_again_only_when_its_board_has_changed(monkeypatch):
    rendered = []
    monkeypatch.setattr(page_routes, "render_board", lambda site, board: rendered.append(board) or "page")
    source = Source()
    texts = BoardTexts(source)
    first = source.find_board("test")
    assert [texts.find("test") for _ in range(3)] == [b"page"] * 3
    assert rendered == [first]
    monkeypatch.setattr(source, "find_board", lambda phase: replace(first))
    texts.find("test")
    assert len(rendered) == 2
    assert texts.find("test", "board.json").startswith(b"{")
