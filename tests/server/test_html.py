"""The pages of a challenge: nothing of a name takes effect, every control has a label, and colors can be told apart."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from itinera.server import html
from server.boards import HOSTILE, NOON, a_board, a_large_board, judged, rows
from server.site import hostile_board, render_all

SITE = html.Site(f"May {HOSTILE}", ("test", HOSTILE))
PAGES = render_all(SITE)


class Parsed(HTMLParser):
    """Tags with attributes, and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute of {tag} is there twice"
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, *names: str) -> list[dict[str, Any]]:
        return [attributes for tag, attributes in self.tags if tag in names]


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest) -> Parsed:
    return Parsed(PAGES[request.param])


def test_hostile_names_are_text(page: Parsed):
    (script,) = page.all("script")
    assert script in ({"src": f"/static/{name}.js", "defer": None} for name in ("board", "submit"))
    assert "alert" in page.text
    assert "{{7*7}}" in page.text
    assert "49" not in page.text
    assert "\u202e" not in page.text  # it would show the text after it backwards


def test_nothing_is_inline_and_nothing_is_loaded_from_elsewhere(page: Parsed):
    assert page.all("style", "iframe", "object", "img", "base") == []
    for tag, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag
        for name in ("src", "href", "action"):
            address = attributes.get(name) or "/"
            outside = attributes.get("rel", "").startswith("nofollow") and address.startswith("https://example.org/p")
            assert re.match(r"/|#|reports/", address) or outside, address
    (sheet,) = [one for one in page.all("link") if one["rel"] == "stylesheet"]
    assert sheet["href"] == "/static/board.css"


def test_only_web_addresses_are_linked():
    text = PAGES["entry"]
    assert 'href="https://example.org/p?a=1&amp;b=2" rel="nofollow noopener noreferrer ugc"' in text
    assert "javascript:" not in text
    assert "data:" not in text
    for url in ("ftp://x.org", "https://", "//x.org", "https://[", "https://x y", "https://x.org/\u202e", " https://x"):
        assert not html.is_web_address(url)


def test_pages_have_a_structure_that_assistive_technology_can_use(page: Parsed):
    assert len(page.all("h1")) == len(page.all("main")) == 1
    assert page.all("html") == [{"lang": "en"}]
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert page.tags.index(("a", {"class": "skip", "href": "#content"})) < 12
    labels = {one.get("for") for one in page.all("label")}
    for control in page.all("input", "select", "textarea"):
        if control.get("type") != "hidden":
            assert control["id"] in labels or control["id"].startswith("filter-")  # which are inside of their labels
        for described in (control.get("aria-describedby") or "").split():
            assert described in ids
    for box in [one for _, one in page.tags if one.get("class") == "scroll"]:
        assert box["tabindex"] == "0"
        assert box["aria-label"]
    assert all("scope" in heading for heading in page.all("th"))


def test_the_form_keeps_no_token():
    submit = Parsed(PAGES["submit"])
    by_id = {one["id"]: one for one in submit.all("input", "textarea", "select")}
    assert by_id["token"]["type"] == "password"
    assert by_id["token"]["autocomplete"] == "off"
    assert "name" not in by_id["token"]  # so that no browser can send it in an address
    assert by_id["file"]["data-most"] == str(10 << 20)
    assert submit.all("form") == [{"class": "submit", "id": "submit", "hidden": None}]
    assert "--phase test" in submit.text
    assert "No phase is open." in PAGES["closed"]


def test_the_board_shows_intervals_ties_attempts_and_coverage():
    board = hostile_board()
    text = html.render_board(html.Site("May", ("test",)), board)
    rows_ = re.findall(r"<tr data-badge.*?</tr>", text, re.DOTALL)
    assert len(rows_) == 4
    first = board.entries[0]
    score = first.scores["SR"]
    assert f'<td data-value="{score.mean:.6g}">{100 * score.mean:.1f} <b class="ties">a</b>' in rows_[0]
    assert f'<span class="interval">{100 * score.low:.1f} – {100 * score.high:.1f}</span>' in rows_[0]
    assert "240/240" in rows_[0]
    assert 'href="/entries/e1"' in rows_[0]
    assert 'href="/teams/Team%201"' in rows_[0]
    assert "anonymous" in rows_[1]
    assert text.count("Team 1") == 2 * 2  # twice a row: the link, and what filters read
    assert "No entries yet." in PAGES["empty"]
    assert "rounded to their noise" not in text
    assert "rounded to their noise" in html.render_board(SITE, a_board([judged("e1", rows("x", 0.5))], sealed=True))


def test_an_anonymous_entry_does_not_name_its_team_anywhere():
    board = hostile_board()
    shown = html.render_entry(html.Site("May", ("test",)), board, board["e2"])
    assert "An anonymous team" in shown
    assert "t1" not in re.sub(r"<[^>]*>", "", shown).split()


def test_addresses_of_pages_and_of_an_export():
    live, static = html.Site("May", ("test",)), html.Site("May", ("test",), root="../", static=True)
    assert live.link("team", "A/B?é") == "/teams/A%2FB%3F%C3%A9"
    assert live.link("board", "test") == "/phases/test"
    assert live.link("submit") == "/submit"
    assert live.document("test", "board.json") == "/phases/test/board.json"
    assert static.link("board", "test") == "../test/index.html"
    assert static.link("entry", "e1") == "../entries/e1.html"
    assert static.link("challenge") == "../challenge.html"
    assert static.document("test", "board.csv") == "../test/board.csv"
    for name in ("../../etc", "A", "é", "a" * 61, "con x", "", "-a", "a.b"):
        assert re.fullmatch(r"x-[0-9a-f]{16}", html.slug(name)), name
    assert html.slug("test_2-b") == "test_2-b"
    assert html.slug("A") != html.slug("a")


def test_a_board_has_a_row_for_each_of_a_thousand_entries():
    assert html.render_board(SITE, a_large_board(1000)).count("<tr data-badge") == 1000


def _luminance(color: str) -> float:
    color = color if len(color) == 7 else "#" + "".join(2 * c for c in color[1:])
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colors_have_the_contrast_that_wcag_asks_for(scheme: int):
    sheet = html.static_files()["board.css"].decode()
    colors = dict(re.findall(r"--(\w+): (#\w+)", re.findall(r":root \{(.*?)\}", sheet)[scheme]))
    assert len(colors) == 10

    def contrast(first: str, second: str) -> float:
        low, high = sorted((_luminance(colors[first]), _luminance(colors[second])))
        return (high + 0.05) / (low + 0.05)

    for text in ("ink", "soft", "link", "accent", "bad"):
        assert contrast(text, "paper") >= 4.5
        assert contrast(text, "card") >= 4.5
    assert contrast("field", "paper") >= 3
    assert contrast("focus", "paper") >= 3


def test_times_are_shown_in_utc():
    from datetime import timedelta, timezone

    entry = judged("e1", rows("x", 0.5), submitted=NOON.astimezone(timezone(timedelta(hours=9))))
    text = html.render_entry(SITE, board := a_board([entry]), board["e1"])
    assert '<time datetime="2026-11-19T12:00:00Z">2026-11-19 12:00</time> UTC' in text
