"""The pages of a challenge in a browser, served with their security policy: filters, sorting, keyboard, axe."""

from __future__ import annotations

from collections.abc import Iterator
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
        self.context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.route("**/*", self._answer)

    def _answer(self, route: Any) -> None:
        address = route.request.url.removeprefix("http://host.example/")
        self.requests.append(route.request.url)
        static = html.static_files().get(address.removeprefix("static/"))
        if static is not None:
            kind = "text/css" if address.endswith(".css") else "text/javascript"
            route.fulfill(body=static, headers={"content-type": kind})
        else:
            headers = {"content-type": "text/html; charset=utf-8", "content-security-policy": html.SECURITY_POLICY}
            route.fulfill(body=PAGES.get(address, ""), headers=headers)

    def open(self, name: str) -> Any:
        self.page.goto(f"http://host.example/{name}")
        return self.page


@pytest.fixture(params=[(1280, "light"), (390, "dark")], ids=["wide", "phone"])
def visit(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Visit]:
    made = Visit(chromium, *request.param)
    yield made
    made.context.close()
    assert made.complaints == []
    assert all(address.startswith("http://host.example/") for address in made.requests)


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
