"""A replay in a browser: slider and keys move the agent, storeys and words follow, without errors."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from itinera.records import Predictions, Trajectory
from itinera.rendering.png import encode_png
from itinera.reports.replay.data import HeldMaps, Replay, ReplayFrame
from itinera.reports.replay.page import write_replay_page
from itinera.tasks import Instruction
from pages.conftest import INJECTED
from reports.example_replays import replay, split

DOT = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/wAALCAABAAEBAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/APn+v//Z"  # noqa: E501


class Visit:
    """An open page, with its errors and requests."""

    def __init__(self, browser: Any, file: Path, *, width: int = 1280, height: int = 800, **options: Any) -> None:
        self.page = browser.new_page(viewport={"width": width, "height": height}, **options)
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def step(self) -> int:
        return int(self._track("step"))

    @property
    def at(self) -> tuple[int, int]:
        return int(self._track("x")), int(self._track("y"))

    @property
    def storey(self) -> int:
        return int(self._track("storey"))

    @property
    def marked(self) -> list[str]:
        found: list[str] = self.page.locator(".word.now").all_text_contents()
        return found

    def text(self, where: str) -> str:
        return str(self.page.locator(where).text_content())

    def _track(self, name: str) -> str:
        return str(self.page.locator("#trajectories").get_attribute(f"data-{name}"))


Open = Callable[..., Visit]


@pytest.fixture
def visiting(chromium: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens a replay; afterwards there are no errors, and no requests but the page."""
    visits = []

    def visit(shown: Replay | None = None, fragment: str = "", **options: Any) -> Visit:
        file = tmp_path / f"replay{len(visits)}.html"
        write_replay_page(file, shown or with_views())
        visits.append(Visit(chromium, file, **options))
        if fragment:
            visits[-1].page.goto(file.as_uri() + fragment)
        return visits[-1]

    yield visit
    for one in visits:
        assert one.errors == []
        assert all(url.startswith(("file:", "data:")) for url in one.requests)
        one.page.close()


def with_views() -> Replay:
    """The tour of the cottage, with views at two steps of the first trajectory."""
    shown = replay()
    trajectory, *others = shown.episodes[0].trajectories
    pictured = msgspec.structs.replace(trajectory, frames=[ReplayFrame(0, DOT), ReplayFrame(2, DOT)])
    episode = msgspec.structs.replace(shown.episodes[0], trajectories=[pictured, *others])
    return msgspec.structs.replace(shown, episodes=[episode, *shown.episodes[1:]])


def test_keys_move_the_agent_and_the_slider(visiting):
    visit = visiting()
    assert (visit.step, visit.at) == (0, (100, 100))
    visit.press("ArrowRight")
    assert (visit.step, visit.at) == (1, (500, 100))
    assert visit.page.locator("#time").input_value() == "1"
    visit.press("End")
    assert visit.text("#clock") == "step 5 of 5"
    visit.press("Home")
    assert visit.step == 0


def test_the_slider_moves_the_agent(visiting):
    visit = visiting()
    visit.page.locator("#time").fill("2")
    assert (visit.step, visit.at) == (2, (700, 250))
    visit.page.locator("#time").focus()
    visit.press("ArrowLeft")
    assert visit.step == 1


def test_the_storey_follows_the_agent_until_another_is_chosen(visiting):
    visit = visiting()
    visit.press("ArrowRight", "ArrowRight")
    assert visit.storey == 0
    visit.press("ArrowRight")
    assert visit.storey == 1
    assert "storey 2" in visit.text("#now")
    visit.page.get_by_label("ground floor").check(force=True)
    assert visit.storey == 0
    visit.page.get_by_label("follow", exact=True).check(force=True)
    assert visit.storey == 1


def test_words_are_highlighted_along_the_trajectory(visiting):
    visit = visiting()
    assert visit.marked == ["Leave", "the", "kitchen,"]
    visit.press("ArrowRight")
    assert visit.marked == ["climb"]
    assert visit.page.locator(".word.done").all_text_contents() == ["Leave", "the", "kitchen,"]
    visit.press("End")
    assert visit.marked == ["stop."]
    assert visit.text("#words") == "Leave the kitchen, then climb up and stop."


def test_the_space_bar_plays_and_pauses(visiting):
    visit = visiting()
    visit.press(" ")
    assert visit.text("#play") == "Pause"
    visit.page.locator("#trajectories:not([data-step='0'])").wait_for()
    visit.press(" ")
    assert visit.text("#play") == "Play"
    # A button that has the focus keeps the key.
    visit.page.locator("#play").focus()
    visit.press(" ")
    assert visit.text("#play") == "Pause"


def test_brackets_go_through_the_episodes(visiting):
    visit = visiting()
    assert visit.page.locator("#previous").is_disabled()
    visit.press("]")
    assert visit.page.locator("#episode").input_value() == "1"
    assert (visit.text("#words"), visit.storey) == ("Go down.", 1)
    visit.press("]", "[")
    assert visit.page.locator("#episode").input_value() == "0"


def test_the_followed_agent_shows_phase_and_metrics(visiting):
    visit = visiting()
    visit.page.get_by_label("strays").check()
    visit.press("End")
    assert visit.text("#now").startswith("strays: guided to the goal")
    assert "✗ failure" in visit.text("#agents")
    assert "t-nDTW 1.00" in visit.text("#agents")


def test_first_person_views_follow(visiting):
    visit = visiting()
    assert visit.text("#caption") == "First-person view of follows, step 0"
    visit.press("ArrowRight", "ArrowRight", "ArrowRight")
    assert visit.text("#caption") == "First-person view of follows, step 2"
    assert visit.page.evaluate("document.getElementById('picture').naturalWidth") == 1


def test_layers_can_be_hidden(visiting):
    visit = visiting()
    visit.press("End")
    before = visit.page.locator("#stage").screenshot()
    visit.page.get_by_label("reference path").uncheck()
    assert visit.page.locator("#stage").screenshot() != before
    visit.page.get_by_label("reference path").check()
    assert visit.page.locator("#stage").screenshot() == before


def test_a_link_names_an_episode(visiting):
    assert visiting(fragment="#e2").page.locator("#episode").input_value() == "1"
    assert visiting(fragment="#%E0%A4%A").page.locator("#episode").input_value() == "0"


def test_zooming_keeps_the_agent_in_sight(visiting):
    visit = visiting()
    whole = visit.page.locator("#stage").screenshot()
    visit.press("+", "+")
    assert visit.page.locator("#stage").screenshot() != whole
    visit.press("0")
    assert visit.page.locator("#stage").screenshot() == whole


def test_without_motion_the_agent_jumps_from_place_to_place(visiting):
    visit = visiting(reduced_motion="reduce")
    visit.press(" ")
    visit.page.locator("#trajectories:not([data-step='0'])").wait_for()
    assert visit.at in [(100, 100), (500, 100), (700, 250), (800, 100)]


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_is_wider_than_the_screen(visiting, width):
    visit = visiting(hostile(), width=width)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1280, 360])
def test_the_page_passes_automatic_checks_of_accessibility(visiting, axe, width):
    visit = visiting(width=width)
    visit.press("ArrowRight")
    visit.page.evaluate("document.querySelector('details').open = true")
    # Through the debugger: the page itself allows no other script.
    visit.page.evaluate(axe)
    found = visit.page.evaluate("axe.run()")
    assert [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]}" for v in found["violations"]] == []


HOSTILE = "</script><img src=x onerror=alert(1)><b>bold</b> {{data}} \u202e שלום 🤖 " + "w" * 10_000


def hostile() -> Replay:
    tasks = split(toured=False, instruction=Instruction(HOSTILE, HOSTILE), alignment=None, id=HOSTILE)
    walks = {HOSTILE: Predictions.from_trajectories("a.jsonl", (Trajectory(HOSTILE, tuple("abcd")),))}
    return msgspec.structs.replace(replay(tasks, walks), title=HOSTILE)


def test_words_that_would_be_markup_are_shown_as_words(visiting):
    visit = visiting(hostile())
    assert visit.text("h1") == HOSTILE
    assert visit.text("#words") == HOSTILE
    assert visit.text("#agents .name") == HOSTILE
    assert visit.page.locator("b").count() == 0
    assert visit.page.locator("img:not(#picture, #map)").count() == 0
    visit.press("ArrowRight")
    assert visit.step == 1


def test_scripts_that_were_added_to_a_page_do_not_run(chromium, tmp_path):
    file = tmp_path / "replay.html"
    write_replay_page(file, replay())
    file.write_text(file.read_text(encoding="utf-8").replace("<main>", f"<main>{INJECTED}"), encoding="utf-8")
    visit = Visit(chromium, file)
    visit.press("ArrowRight")
    assert visit.step == 1  # our own script does
    assert visit.page.title() != "ran"
    assert visit.page.evaluate("getComputedStyle(document.querySelector('h1')).color") != "rgb(255, 0, 0)"
    assert sum("Content Security Policy" in error for error in visit.errors) >= 3
    visit.page.close()


def with_maps() -> Replay:
    """The tour of the cottage on the ground, with a map at two steps of the first trajectory."""
    shown = replay()
    trajectory, *others = shown.episodes[0].trajectories
    image = np.zeros((4, 4, 4), dtype=np.uint8)
    image[0, 2] = (255, 0, 0, 255)
    frames = [ReplayFrame(step, base64.b64encode(encode_png(image)).decode()) for step in (0, 2)]
    held = HeldMaps(4, 200, [("sofa", "#ff0000")], frames)
    mapped = msgspec.structs.replace(trajectory, maps=held, headings=[90] * len(trajectory.track))
    episode = msgspec.structs.replace(shown.episodes[0], trajectories=[mapped, *others])
    return msgspec.structs.replace(shown, episodes=[episode, *shown.episodes[1:]])


def count_red(canvas: Any) -> int:
    """The red pixels of an element, as it is shown."""
    image = np.asarray(pytest.importorskip("PIL.Image").open(io.BytesIO(canvas.screenshot())).convert("RGB")).astype(
        int
    )
    return int(((image[..., 0] > 200) & (image[..., 1] < 70) & (image[..., 2] < 70)).sum())


def test_the_held_map_is_drawn_around_the_agent_and_can_be_hidden(visiting):
    visit = visiting(with_maps())
    canvas = visit.page.locator("#trajectories")
    visit.page.locator("#trajectories[data-map='0']").wait_for()
    assert "Map held at step 0: 2 m wide" in visit.text("#map-caption")
    assert visit.text("#legend") == "sofa"
    assert count_red(canvas) > 50
    visit.press("ArrowRight")
    assert "step 0" in visit.text("#map-caption")
    visit.press("ArrowRight")
    visit.page.locator("#trajectories[data-map='2']").wait_for()
    assert "step 2" in visit.text("#map-caption")
    visit.page.get_by_label("map held by the agent").uncheck()
    assert count_red(canvas) == 0
    # Another agent has no map.
    visit.page.get_by_label("strays").check()
    assert visit.page.locator("#held").is_hidden()
    assert visiting().page.get_by_label("map held by the agent").count() == 0
