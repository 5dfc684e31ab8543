"""A walk-through in a browser: it draws, walks, jumps to viewpoints, follows episodes, on a phone too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import itinera
from itinera.builders.hearth import build_house_graph
from itinera.formats.season_tasks import read_house_tasks
from itinera.reports.walkthrough.data import Walkthrough
from itinera.reports.walkthrough.make import make_walkthrough
from itinera.reports.walkthrough.page import write_walkthrough_page
from itinera.worlds.labels import MPCAT40
from itinera.worlds.mesh import Mesh
from pages.conftest import INJECTED

PHONE = {"width": 360, "height": 480, "has_touch": True, "is_mobile": True}
HOSTILE = "</script><img src=x onerror=alert(1)><b>bold</b> {{data}} \u202e שלום 🤖 " + "w" * 2_000


class Visit:
    """An open page, with its errors and requests."""

    def __init__(self, browser: Any, file: Path, *, width: int = 500, height: int = 420, **options: Any) -> None:
        # Without motion every camera is where it goes at once; a test that watches it move says so.
        options = {"reduced_motion": "reduce", **options}
        self.page = browser.new_page(viewport={"width": width, "height": height}, **options)
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())

    def settle(self) -> None:
        """Wait for the frame that shows the last change, and for the end of a flight."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.page.locator("#scene[data-drawn='1'][data-flying='']").wait_for()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def show(self, name: str) -> str:
        self.settle()
        return str(self.page.locator("#scene").get_attribute(f"data-{name}"))

    @property
    def eye(self) -> tuple[float, float, float]:
        self.settle()
        x, y, z = (float(self.page.locator("#scene").get_attribute(f"data-{name}")) for name in "xyz")
        return x, y, z

    def text(self, where: str) -> str:
        return str(self.page.locator(where).text_content())

    def choose(self, episode: int) -> None:
        self.page.locator("#episode").select_option(str(episode))
        self.settle()

    def show_stage(self) -> dict[str, float]:
        """Scroll to the stage; returns where it is."""
        self.page.evaluate("scrollTo(0, 0)")
        box: dict[str, float] = self.page.locator("#scene").bounding_box()
        return box

    def enter(self, room: str) -> None:
        self.page.locator("#rooms").get_by_role("button", name=room).first.click()
        self.settle()

    def locate(self, place: tuple[float, float, float]) -> tuple[float, float]:
        """Where a place is on the screen, by the page's own camera."""
        found = self.page.evaluate(
            """(place) => {
                const width = stage.clientWidth, height = stage.clientHeight;
                const at = toScreen(projection(cameraNow(0), width, height, NEAR, FAR), place, width, height);
                const box = canvas.getBoundingClientRect();
                return at && [box.x + at.x, box.y + at.y];
            }""",
            list(place),
        )
        return found[0], found[1]

    def picture(self) -> str:
        """What is drawn: the house and the names over it, read in the task that draws them, before anything changes."""
        self.settle()
        return str(
            self.page.evaluate("() => { drawFrame(performance.now()); return canvas.toDataURL() + names.toDataURL(); }")
        )


Open = Callable[..., Visit]


@pytest.fixture(scope="module")
def house(season: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a house with the episodes of its season; without furniture, which takes long to draw."""
    file = tmp_path_factory.mktemp("walkthrough") / "house.html"
    built, graph = build_house_graph(1, 1)
    kept = np.isin(built.mesh.classes, [MPCAT40.index(name) for name in ("wall", "floor", "stairs", "ceiling", "door")])
    parts = {one.name: getattr(built.mesh, one.name)[kept] for one in fields(Mesh) if one.name != "vertices"}
    empty = replace(built, mesh=replace(built.mesh, **parts))
    tasks = read_house_tasks(season, built.id, ["val_unseen"])
    write_walkthrough_page(file, make_walkthrough(empty, graph, tasks))
    return file


def contents(file: Path) -> Walkthrough:
    text = file.read_text(encoding="utf-8")
    stored = text.split('id="walkthrough">', 1)[1].split("</script>", 1)[0]
    return msgspec.json.decode(stored, type=Walkthrough)


@pytest.fixture
def visiting(chromium: Any, house: Path, tmp_path: Path) -> Iterator[Open]:
    """Opens the page, or one of other contents; afterwards there are no errors, and no requests but the page."""
    visits = []

    def visit(shown: Walkthrough | None = None, fragment: str = "", **options: Any) -> Visit:
        file = house
        if shown is not None:
            file = tmp_path / f"house{len(visits)}.html"
            write_walkthrough_page(file, shown)
        visits.append(Visit(chromium, file, **options))
        if fragment:
            visits[-1].page.goto(file.as_uri() + fragment)
        visits[-1].settle()
        return visits[-1]

    yield visit
    for one in visits:
        assert one.errors == []
        assert all(url.startswith("file:") for url in one.requests)
        one.page.close()


def colors(visit: Visit) -> int:
    """The number of different colors in a sample of the canvas."""
    visit.settle()
    return int(
        visit.page.evaluate(
            """() => {
                drawFrame(performance.now());
                const gl = renderer.gl, pixels = new Uint8Array(4 * canvas.width * canvas.height), seen = new Set();
                gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
                for (let k = 0; k < pixels.length; k += 404) {
                    seen.add(pixels[k] >> 4 << 8 | pixels[k + 1] >> 4 << 4 | pixels[k + 2] >> 4);
                }
                return seen.size;
            }"""
        )
    )


@pytest.mark.parametrize("screen", [{}, PHONE])
def test_a_furnished_house_is_drawn_from_above_and_from_within(visiting, season, tmp_path, screen):
    itinera.view(season, tmp_path / "house.html", house=1)
    visit = visiting(contents(tmp_path / "house.html"), **screen)
    assert visit.show("mode") == "dollhouse"
    assert colors(visit) > 20
    outside = visit.eye
    visit.enter("living room")
    assert visit.show("mode") == "walk"
    assert visit.eye != outside
    assert colors(visit) > 20
    assert visit.text("#now").startswith("living room")


def test_a_click_on_a_viewpoint_goes_there(visiting, house):
    visit, graph = visiting(), contents(house).graph
    places = np.array([visit.locate((x, y, z + 0.03)) for x, y, z in zip(graph.x, graph.y, graph.z, strict=True)])
    gaps = np.hypot(*(places[:, None] - places).T) + 1e9 * np.eye(len(places))
    alone = sorted(range(len(places)), key=lambda k: -gaps[k].min())  # on the screen, so that no other one is clicked
    for k in (k for k in alone if abs(graph.z[k]) < 0.1):
        visit.page.mouse.click(*places[k].tolist())
        visit.settle()
        if visit.show("mode") == "walk":
            break  # those behind walls and below furniture cannot be clicked
    assert visit.show("viewpoint") == graph.ids[k]
    assert visit.eye == pytest.approx((graph.x[k], graph.y[k], graph.z[k] + 1.5), abs=0.002)


def test_a_tap_on_a_viewpoint_goes_there(visiting, house):
    visit, graph = visiting(**PHONE), contents(house).graph
    for k in (k for k, z in enumerate(graph.z) if abs(z) < 0.1):
        visit.page.touchscreen.tap(*visit.locate((graph.x[k], graph.y[k], graph.z[k] + 0.03)))
        visit.settle()
        if visit.show("mode") == "walk":
            break
    assert visit.show("viewpoint") in graph.ids


def test_a_click_on_the_floor_walks_there(visiting):
    visit = visiting()
    visit.enter("living room")
    x, y, z = visit.eye
    visit.page.get_by_label("viewpoints and edges").uncheck()
    box = visit.show_stage()
    for across in (0.5, 0.4, 0.6, 0.3, 0.7):
        visit.page.mouse.click(box["x"] + across * box["width"], box["y"] + 0.9 * box["height"])
        if visit.eye != (x, y, z):
            break
    assert math.hypot(visit.eye[0] - x, visit.eye[1] - y) > 0.3
    assert visit.eye[2] == pytest.approx(z, abs=0.03)  # a doorstep is up to 2 cm high


def test_keys_walk_turn_and_look(visiting):
    visit = visiting()
    visit.enter("living room")
    (x, y, z), heading = visit.eye, float(visit.show("heading"))
    visit.press("w", "w")
    moved = visit.eye
    ahead = (moved[0] - x) * math.cos(heading) + (moved[1] - y) * math.sin(heading)
    assert ahead == pytest.approx(0.6, abs=0.01)
    visit.press("s", "s")
    assert visit.eye == pytest.approx((x, y, z), abs=0.01)
    visit.press("ArrowLeft")
    assert float(visit.show("heading")) == pytest.approx(heading + math.pi / 12, abs=0.01)
    visit.press("r")
    assert float(visit.show("elevation")) > -0.1
    visit.press("v")
    assert visit.show("mode") == "dollhouse"
    above = visit.eye
    visit.press("ArrowRight", "+")
    assert visit.eye != above
    visit.press("0", "v")
    assert visit.show("mode") == "walk"


def test_walls_are_not_walked_through_and_stairs_are_climbed(visiting, house):
    visit, scene = visiting(), contents(house)
    visit.enter("living room")
    for _ in range(60):
        visit.page.keyboard.press("w")
    x, y, _ = visit.eye
    low, size = scene.mesh.low, scene.mesh.size
    assert low[0] < x < low[0] + size[0]
    assert low[1] < y < low[1] + size[1]
    # From the foot of the stairs to the storey above, along the graph.
    climbed = visit.page.evaluate(
        """() => {
            const up = storeys[1].floor, ends = data.graph.edges;
            const edges = ends.map((end, k) => [end, ends[k ^ 1]]);
            const before = new Map(), queue = [graph.z.findIndex((z) => Math.abs(z) < 0.1)];
            before.set(queue[0], -1);
            for (const k of queue) {
                for (const [a, b] of edges) if (a === k && !before.has(b)) { before.set(b, k); queue.push(b); }
            }
            let k = queue.find((one) => Math.abs(graph.z[one] - up) < 0.1);
            const path = [];
            for (; k >= 0; k = before.get(k)) path.unshift(k);
            state.feet = node(path[0]);
            for (const next of path.slice(1)) {
                for (let step = 0; step < 200; step++) {
                    const away = minus(node(next), state.feet), length = Math.hypot(away[0], away[1]);
                    if (length < 0.1) break;
                    state.heading = Math.atan2(away[1], away[0]);
                    walkBy(Math.min(0.1, length), 0);
                }
            }
            return [state.feet[2], up];
        }"""
    )
    assert climbed[0] == pytest.approx(climbed[1], abs=0.05)


def test_an_episode_is_drawn_and_followed(visiting, house):
    visit, shown = visiting(), contents(house).episodes
    before = visit.picture()
    k = next(i for i, one in enumerate(shown) if len(one.path) > 4 and any(span.first >= 0 for span in one.instruction))
    visit.choose(k)
    assert visit.show("path") == str(len(shown[k].path))
    assert visit.text("#words") == "".join(span.text for span in shown[k].instruction)
    drawn = visit.picture()
    assert drawn != before
    visit.page.get_by_label("reference path of the episode").uncheck()
    assert visit.picture() != drawn
    visit.page.get_by_label("reference path of the episode").check()
    visit.press("v")
    graph = contents(house).graph
    start, goal = shown[k].path[0], shown[k].path[-1]
    assert visit.eye[:2] == pytest.approx((graph.x[start], graph.y[start]), abs=0.01)
    assert float(visit.show("heading")) == pytest.approx(shown[k].heading, abs=0.01)
    marked = visit.page.locator(".word.now").all_text_contents()
    visit.page.locator("#time").fill(str(len(shown[k].path) - 1))
    assert visit.eye[:2] == pytest.approx((graph.x[goal], graph.y[goal]), abs=0.01)
    assert visit.page.locator(".word.now").all_text_contents() != marked
    assert visit.text("#clock") == f"{len(shown[k].path)} of {len(shown[k].path)}"


def test_the_space_bar_follows_the_path_with_motion(visiting, house):
    visit = visiting(reduced_motion="no-preference", width=320, height=300)
    visit.choose(0)
    visit.press("v", " ")
    assert visit.text("#play") == "Pause"
    visit.page.locator("#scene:not([data-time='0.00'])").wait_for()
    visit.page.keyboard.press(" ")
    assert visit.text("#play") == "Follow"
    time = visit.show("time")
    assert visit.show("time") == time


def test_following_stops_when_the_page_is_hidden(visiting):
    visit = visiting()
    visit.choose(0)
    visit.press(" ")
    visit.page.evaluate("Object.defineProperty(document, 'hidden', { value: true })")
    visit.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert visit.text("#play") == "Follow"


def test_storeys_are_chosen_and_layers_hidden(visiting):
    visit = visiting()
    ground = visit.picture()
    visit.page.get_by_label("storey 2").check(force=True)
    assert visit.show("storey") == "1"
    assert visit.picture() != ground
    visit.page.get_by_label("ground floor").check(force=True)
    assert visit.picture() == ground
    for layer in ("viewpoints and edges", "room names"):
        visit.page.get_by_label(layer).uncheck()
        assert visit.picture() != ground
        visit.page.get_by_label(layer).check()


def test_a_drag_looks_around(visiting):
    visit = visiting()
    visit.enter("kitchen")
    heading, place = float(visit.show("heading")), visit.eye
    box = visit.show_stage()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    visit.page.mouse.move(x, y)
    visit.page.mouse.down()
    visit.page.mouse.move(x + 100, y, steps=3)
    visit.page.mouse.up()
    assert float(visit.show("heading")) > heading + 0.1
    assert visit.eye == place


def test_buttons_walk_on_a_phone(visiting):
    visit = visiting(**PHONE)
    visit.enter("living room")
    heading = float(visit.show("heading"))
    visit.page.get_by_role("button", name="Turn left").tap()
    assert float(visit.show("heading")) > heading + 0.1


def test_a_link_names_an_episode(visiting, house):
    name = contents(house).episodes[3].id
    assert visiting(fragment=f"#{name}").page.locator("#episode").input_value() == "3"
    assert visiting(fragment="#%E0%A4%A").page.locator("#episode").input_value() == "-1"


def test_without_webgl_the_page_says_what_is_missing_and_shows_the_words(chromium, house):
    page = chromium.new_page()
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page.goto(house.as_uri())
    page.get_by_text("it needs WebGL2").wait_for()
    page.locator("#episode").select_option("0")
    assert page.locator("#words").text_content()
    page.close()


@pytest.mark.parametrize("screen", [{"width": 920, "height": 400}, {"color_scheme": "dark", **PHONE}])
def test_the_page_passes_automatic_checks_of_accessibility(visiting, axe, screen):
    visit = visiting(**screen)
    visit.choose(0)
    visit.press("v")
    visit.page.evaluate("document.querySelector('details').open = true")
    # Through the debugger: the page itself allows no other script.
    visit.page.evaluate(axe)
    found = visit.page.evaluate("axe.run()")
    assert [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]}" for v in found["violations"]] == []


def hostile(house: Path) -> Walkthrough:
    shown = contents(house)
    episode = msgspec.structs.replace(
        shown.episodes[0], id=HOSTILE, group=HOSTILE, language=HOSTILE,
        instruction=[msgspec.structs.replace(shown.episodes[0].instruction[0], text=HOSTILE)],
    )  # fmt: skip
    graph = msgspec.structs.replace(shown.graph, ids=[f"{HOSTILE}{k}" for k in range(len(shown.graph.ids))])
    rooms = [msgspec.structs.replace(room, name=HOSTILE) for room in shown.rooms]
    return msgspec.structs.replace(shown, title=HOSTILE, episodes=[episode], graph=graph, rooms=rooms)


def test_words_that_would_be_markup_are_shown_as_words(visiting, house):
    visit = visiting(hostile(house), width=360)
    visit.choose(0)
    visit.press("v")
    assert visit.text("h1") == HOSTILE
    assert visit.text("#words") == HOSTILE
    assert visit.page.locator("#rooms button").first.text_content() == HOSTILE
    assert visit.page.locator("b").count() == 0
    assert visit.page.locator("img").count() == 0
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_scripts_that_were_added_to_a_page_do_not_run(chromium, house, tmp_path):
    file = tmp_path / "house.html"
    file.write_text(house.read_text(encoding="utf-8").replace("<main>", f"<main>{INJECTED}"), encoding="utf-8")
    visit = Visit(chromium, file)
    visit.settle()
    assert visit.page.title() != "ran"
    assert visit.page.evaluate("getComputedStyle(document.querySelector('h1')).color") != "rgb(255, 0, 0)"
    assert sum("Content Security Policy" in error for error in visit.errors) >= 3
    visit.page.close()
