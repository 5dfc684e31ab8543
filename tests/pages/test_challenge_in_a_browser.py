"""A whole submission in a browser, wide and on a phone: form, queue, board, entry, and the export after the server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import itinera as it
import tiny
from itinera.server.folder import ServerFolder
from itinera.server.service import Service
from live_server import live_server

PICTURES = os.environ.get("ITINERA_PICTURES")  # a folder for screenshots, for people to look at


@pytest.fixture(params=[(1280, "light"), (390, "dark")], ids=["wide", "phone"])
def tab(chromium: Any, request: pytest.FixtureRequest, axe: str):
    """A tab, what it complained about, and a check of the page that it shows."""
    width, scheme = request.param
    context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def check(name: str) -> None:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        page.evaluate(axe)
        found = page.evaluate("axe.run({preload: false})")  # it would ask for style sheets, which files may not
        assert [(name, one["id"], one["nodes"][0]["html"][:200]) for one in found["violations"]] == []
        if PICTURES:
            page.screenshot(path=f"{PICTURES}/{name}-{width}.png", full_page=True)

    yield page, check
    context.close()
    assert complaints == []


def test_from_the_form_over_the_queue_and_the_board_to_the_entry(tab, tmp_path: Path):
    page, check = tab
    files = tiny.on_graphs(tmp_path)
    for name in ("expert", "still"):
        it.run(name, files.tasks, files.worlds, workers=0, out=tmp_path / f"{name}.jsonl")
    folder = tmp_path / "may"
    it.create_challenge(folder, tasks=files.tasks, worlds=files.worlds, protocol="r2r", shots_per_day=3)
    with it.host(folder) as host:
        tokens = {team: host.make_token("submit", team_name=team) for team in ("Blue", "Red")}
        worker_token = host.make_token("worker")
    server = ServerFolder(folder)
    with live_server(Service(server.store, server.blobs)) as url:
        worker = it.work(url, folder, token=worker_token)
        page.goto(url)
        check("rules")
        for team, name in (("Blue", "expert"), ("Red", "still")):
            page.get_by_role("link", name="Submit").first.click()
            page.get_by_label("Team token").fill(tokens[team])
            page.get_by_label("Method").fill(f"The {name}")
            page.locator("#shots").filter(has_text="Shots left: 3 today.").wait_for()
            page.get_by_label("Predictions").set_input_files(str(tmp_path / f"{name}.jsonl"))
            page.get_by_role("button", name="Submit").click()
            page.locator("#outcome").filter(has_text="is accepted.").wait_for()
            check("submit")
        page.goto(f"{url}/status")
        assert "2" in page.locator("main").inner_text()
        check("status")
        assert worker.judge_next()
        assert worker.judge_next()
        page.goto(f"{url}/phases/test")
        assert page.locator("#board tbody .team").all_inner_texts() == ["Blue", "Red"]
        check("board")
        page.locator("#board tbody tr").first.get_by_role("link", name="The expert").click()
        page.locator("main").filter(has_text="The host repeated every action").wait_for()
        check("entry")
        page.get_by_role("link", name="Blue").first.click()
        check("team")
    server.close()
    with it.host(folder) as host:
        host.export(tmp_path / "export")
    page.goto(f"file://{tmp_path}/export/index.html")  # without the server
    check("export")
    page.get_by_role("link", name="test").first.click()
    assert page.locator("#board tbody .team").all_inner_texts() == ["Blue", "Red"]
    page.get_by_label("Team or method").fill("red")
    assert page.locator("#filter-count").inner_text() == "1 of 2 entries"
    page.locator("#board tbody tr:not([hidden])").get_by_role("link", name="The still").click()
    check("exported-entry")
