"""The report in a browser: no errors, no requests, usable by keyboard, on a phone and with a screen reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from itinera.formats.report_json import CoveragePoint, DatasetCoverage, Estimate, SkillResult, StudyResults
from itinera.reports.page.report import make_report, write_report_page
from pages.conftest import INJECTED
from reports.example_results import make_scores

HOSTILE = '</script><img src=x onerror=alert(1)>"\u202e🤖סוכן' + "w" * 10_000


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with every section, and hostile names."""
    file = tmp_path_factory.mktemp("report") / "report.html"
    tables = [
        make_scores(0.8, toured=True, prefix=HOSTILE), make_scores(0.4, toured=True, prefix=HOSTILE),
        make_scores(0.8, timed=True), make_scores(0.6, timed=True), make_scores(0.3, timed=True),
    ]  # fmt: skip
    found = StudyResults({"good": {"stop": SkillResult([HOSTILE], Estimate(0.9, 0.8, 0.95))}})
    seen = DatasetCoverage("val", {"visited": {"tour": [CoveragePoint(k, k / 5, k / 6, k / 4) for k in range(4)]}})
    names = ["good", HOSTILE, "quick", "slow", "third"]
    replays = {"e1": "replays/replay-e1.html"}
    write_report_page(
        file, make_report(names, tables, findings=[found], described=[seen], replays=replays, version="1")
    )
    return file


class Visit:
    """An open page, with its errors and requests."""

    def __init__(self, browser: Any, file: Path, width: int = 1280) -> None:
        self.page = browser.new_page(viewport={"width": width, "height": 800})
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())

    def show_lists(self) -> Any:
        """The list of episodes of the second benchmark; lists are drawn when scrolled into view."""
        for place in self.page.locator(".list").all():
            place.scroll_into_view_if_needed()
            place.locator("tbody tr").first.wait_for()
        return self.page.locator(".list").nth(1)


@pytest.fixture
def visit(chromium: Any, report: Path) -> Iterator[Visit]:
    visited = Visit(chromium, report)
    yield visited
    visited.page.close()


def test_the_page_opens_without_errors_or_requests(visit, report):
    visit.show_lists()
    assert visit.errors == []
    assert visit.requests == [report.as_uri()]
    assert visit.page.locator("h1").inner_text()


def test_the_answers_are_on_the_first_screen(visit):
    for question in ("Which agent is better?", "By how much?", "How certain is that?"):
        box = visit.page.get_by_text(question).first.bounding_box()
        assert box["y"] + box["height"] < 800


def test_episodes_are_filtered_sorted_and_paged_by_keyboard(visit):
    episodes = visit.show_lists()
    status = episodes.get_by_role("status")
    assert status.inner_text().startswith("120 of 120 episodes, page 1 of 5")
    episodes.get_by_role("button", name="Next").focus()
    visit.page.keyboard.press("Enter")
    assert "page 2 of 5" in status.inner_text()
    episodes.get_by_role("searchbox").focus()
    visit.page.keyboard.type("scene3")
    assert status.inner_text().startswith("15 of 120 episodes, page 1 of 1")
    visit.page.keyboard.press("Control+A")
    visit.page.keyboard.press("Delete")
    episodes.get_by_role("button", name="quick: NE, m").focus()
    visit.page.keyboard.press("Enter")
    visit.page.keyboard.press("Enter")
    assert episodes.locator("th[aria-sort=descending]").inner_text() == "quick: NE, m"
    column = [float(text) for text in episodes.locator("tbody tr td:nth-child(4)").all_inner_texts()]
    assert column == sorted(column, reverse=True)
    episodes.get_by_label("outcome").select_option("succeeded")
    episodes.get_by_label("agent").select_option("third")
    assert set(episodes.locator("tbody tr td:last-child").all_inner_texts()) == {"succeeded"}


def test_replays_are_linked_from_the_list(visit):
    episodes = visit.show_lists()
    assert episodes.get_by_role("link", name="e1").get_attribute("href") == "replays/replay-e1.html"


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_screen(chromium, report, width):
    visited = Visit(chromium, report, width)
    visited.show_lists()
    visited.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert visited.page.evaluate("document.documentElement.scrollWidth") <= width
    visited.page.close()


def test_automatic_checks_of_accessibility_pass(visit, axe):
    visit.show_lists()
    visit.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    # Through the debugger: the page itself allows no other script.
    visit.page.evaluate(axe)
    found = visit.page.evaluate("axe.run()")
    violations = [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]}" for v in found["violations"]]
    assert violations == []


def test_scripts_that_were_added_to_a_page_do_not_run(chromium, report, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(report.read_text(encoding="utf-8").replace("</main>", f"{INJECTED}</main>"), encoding="utf-8")
    visited = Visit(chromium, file)
    visited.show_lists()  # made by our own script
    assert visited.page.title() != "ran"
    assert visited.page.evaluate("getComputedStyle(document.querySelector('h1')).color") != "rgb(255, 0, 0)"
    assert sum("Content Security Policy" in error for error in visited.errors) >= 3
    visited.page.close()
