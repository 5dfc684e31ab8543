"""The pages of a challenge in a browser, served with their security policy: filters, sorting, keyboard, axe."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from itinera.server import html
from server.site import render_all

SITE = html.Site("May 2026", ("test", "dev"))
PAGES = render_all(SITE)


class Visit:
    """A browser tab that gets the pages from this process, and what it complained about."""

    def __init__(self, chromium: Any, width: int, scheme: str) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.answer: Any = None  # what answers the JSON interface
        self.context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.route("**/*", self._answer)

    def _answer(self, route: Any) -> None:
        address = route.request.url.removeprefix("http://localhost/")
        self.requests.append(route.request.url)
        if address.startswith("api/"):
            self.answer(route, address)
            return
        static = html.static_files().get(address.removeprefix("static/"))
        if static is not None:
            kind = "text/css" if address.endswith(".css") else "text/javascript"
            route.fulfill(body=static, headers={"content-type": kind})
        else:
            headers = {"content-type": "text/html; charset=utf-8", "content-security-policy": html.SECURITY_POLICY}
            route.fulfill(body=PAGES.get(address, ""), headers=headers)

    def open(self, name: str) -> Any:
        self.page.goto(f"http://localhost/{name}")
        return self.page


@pytest.fixture(params=[(1280, "light"), (390, "dark")], ids=["wide", "phone"])
def visit(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Visit]:
    made = Visit(chromium, *request.param)
    yield made
    made.context.close()
    assert made.complaints == []
    assert all(address.startswith("http://localhost/") for address in made.requests)


def test_every_page_fits_and_passes_axe(visit: Visit, axe: str):
    for name in PAGES:
        page = visit.open(name)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        # Scripts of ours in the page are subject to its policy; this one comes from the debugger and is not.
        page.evaluate(axe)
        found = page.evaluate("axe.run()")
        assert [(name, one["id"], one["nodes"][0]["html"][:200]) for one in found["violations"]] == []


def shown(page: Any) -> list[str]:
    return [text.strip() for text in page.locator("#board tbody tr:not([hidden]) .team").all_inner_texts()]


def test_entries_are_filtered(visit: Visit):
    page = visit.open("board")
    assert shown(page)[:3] == ["Team 1", "anonymous", "Team 1"]
    assert page.locator("#filter-count").inner_text() == "4 of 4 entries"
    page.get_by_label("Team or method").fill("team 1")
    assert shown(page) == ["Team 1", "Team 1"]
    page.get_by_label("best entry of each team").check()
    assert shown(page) == ["Team 1"]
    page.get_by_label("Team or method").fill("")
    page.get_by_label("best entry of each team").uncheck()
    page.get_by_label("Badge").select_option("scored")
    assert shown(page) == ["anonymous"]
    assert page.locator("#filter-count").inner_text() == "1 of 4 entries"


def test_entries_are_sorted_by_keyboard(visit: Visit):
    page = visit.open("board")

    def values() -> list[float]:
        cells = page.locator("#board tbody tr td:nth-child(4)").all()
        return [float(cell.get_attribute("data-value")) for cell in cells]

    page.get_by_role("button", name="NE m").focus()
    page.keyboard.press("Enter")
    assert values() == sorted(values(), reverse=True)
    page.keyboard.press("Space")
    assert values() == sorted(values())
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"


def test_the_policy_forbids_scripts_in_the_page(visit: Visit):
    page = visit.open("error")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title = 1\">')")
    page.wait_for_timeout(100)
    assert page.title().startswith("Not found")
    assert visit.complaints
    assert all("Content Security Policy" in one for one in visit.complaints)
    visit.complaints.clear()


def test_an_entry_is_uploaded_from_where_it_ended_and_submitted(visit: Visit, tmp_path: Path):
    content = b"0123456789" * 100
    file = tmp_path / "entry.jsonl"
    file.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    received = bytearray(content[:300])  # of an earlier upload
    sent: list[dict[str, Any]] = []

    def answer(route: Any, address: str) -> None:
        request = route.request
        assert request.headers["authorization"] == "Bearer itn_secret"
        if address == "api/challenge":
            shots = {"today": {"left": 2 - len(sent)}, "total": {"left": None}}
            found: Any = {"phases": [{"name": "test", **shots}]}
        elif request.method == "PUT":
            assert address == f"api/blobs/{digest}?phase=test"
            assert request.headers["upload-offset"] == "300"
            assert request.headers["upload-length"] == "1000"
            received.extend(content[300:])  # the driver does not show bodies that are parts of files
            found = {"received": 1000, "complete": True}
        elif address.startswith("api/blobs/"):
            assert address == f"api/blobs/{digest}"
            found = {"received": len(received), "complete": len(received) == len(content)}
        else:
            sent.append(request.post_data_json)
            if len(sent) == 1:
                route.fulfill(status=429, json={"error": "No shots are left today."})
                return
            found = {"entry": "e9"}
        route.fulfill(json=found)

    visit.answer = answer
    page = visit.open("submit")
    page.get_by_label("Team token").fill("itn_secret")
    page.get_by_label("Method").fill("Reader")
    page.locator("#shots").filter(has_text="Shots left: 2 today.").wait_for()
    page.get_by_label("Predictions").set_input_files(str(file))
    page.get_by_role("button", name="Submit").click()
    page.locator("#outcome.fault").filter(has_text="No shots are left today.").wait_for()
    page.get_by_role("button", name="Submit").click()
    page.locator("#outcome").filter(has_text="Entry e9 is accepted.").wait_for()
    assert sent[0] == sent[1]  # the second is the same request, not another entry
    assert {key: sent[0][key] for key in ("phase", "bundle", "method", "visibility")} == {
        "phase": "test", "bundle": digest, "method": "Reader", "visibility": "public",
    }  # fmt: skip
    assert [one for one in visit.complaints if "429" not in one] == []
    visit.complaints.clear()


def test_a_file_that_is_too_large_is_not_uploaded(visit: Visit, tmp_path: Path):
    visit.answer = lambda route, address: route.fulfill(json={"phases": []})
    page = visit.open("submit")
    page.locator("#file").evaluate("one => { one.dataset.most = 3; }")
    page.get_by_label("Team token").fill("x")
    page.get_by_label("Method").fill("Reader")
    (tmp_path / "entry").write_text("four")
    page.get_by_label("Predictions").set_input_files(str(tmp_path / "entry"))
    page.get_by_role("button", name="Submit").click()
    page.locator("#outcome.fault").filter(has_text="The file has 4 bytes; at most 3 are taken.").wait_for()
    assert not [address for address in visit.requests if "blobs" in address]
