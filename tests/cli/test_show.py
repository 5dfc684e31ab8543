"""`itinera show`: trajectories as a page, an image or a video."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import tiny
from itinera.errors import BadArgument
from itinera.formats.fastest_times import write_times
from itinera.reports.replay.inputs import name_agents
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot


def shown(page: Path) -> dict:
    found = re.search(r'<script type="application/json" id="replay">(.*?)</script>', page.read_text(), re.DOTALL)
    return json.loads(found[1])


@pytest.fixture
def walks(itinera, files, tmp_path):
    """Predictions of a random walker on tours, guided between the episodes."""
    out = tmp_path / "wanderer.jsonl"
    command = ["--agent", "scripted_agents:Wanderer", *files.options, "--tours", files.tours, "--workers", 0]
    assert itinera("run", *command, "--out", out).code == 0
    return out


def test_an_episode_of_several_agents_is_shown_together(itinera, files, walks, tmp_path):
    page = tmp_path / "replay.html"
    done = itinera("show", files.predictions, walks, *files.options, "--episode", "1_0", "--out", page)
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(rf"{page}: 1 episode, \d\.\d MB\.\n", done.out)
    data = shown(page)
    assert data["agents"] == ["preds", "wanderer"]
    assert data["title"] == "Episode 1_0 in house: preds, wanderer"
    assert data["episodes"][0]["trajectories"][0]["track"]["x"] == [0, 200, 400]
    assert data["episodes"][0]["instruction"] == [["go to c ", -1, -1]]


def test_a_tour_is_shown_in_its_order_with_where_it_was_led(itinera, files, walks, tmp_path):
    page = tmp_path / "replay.html"
    tour_id = json.loads(walks.read_text().splitlines()[1])["tour_id"]
    assert itinera("show", walks, *files.options, "--tour", tour_id, "--out", page).code == 0
    data = shown(page)
    assert data["tour"] == tour_id
    assert [task["id"] for task in data["episodes"]] == ["1_0", "2_0"]
    assert dict(data["tour_metrics"][0]).keys() == {"t-nDTW", "t-SR", "t-SPL"}
    assert any(attempt["phases"] for task in data["episodes"] for attempt in task["trajectories"])


def test_without_a_choice_the_first_walk_is_shown_and_that_is_said(itinera, files, tmp_path):
    done = itinera("show", files.predictions, *files.options, "--out", tmp_path / "replay.html")
    assert done.code == 0
    assert done.err.startswith("Showing 1_0, the first of 5 rollouts of preds; choose others with --episodes, ")


def test_episodes_of_different_worlds_share_a_page(itinera, files, tmp_path):
    page = tmp_path / "replay.html"
    command = [files.predictions, *files.options, "--episode", "3_1", "--episode", "1_1", "--out", page]
    assert itinera("show", *command).code == 0
    assert [place["id"] for place in shown(page)["scenes"]] == ["hut", "house"]
    assert [task["scene"] for task in shown(page)["episodes"]] == [0, 1]


def test_walks_on_open_ground_need_no_worlds(itinera, tmp_path):
    tasks, walks = (tmp_path / name for name in ("tasks.json", "walks.json"))
    tiny.written(tasks, tiny.GROUND)
    tiny.written(walks, tiny.GROUND_WALKS)
    done = itinera("show", walks, "--tasks", tasks, "--episode", "1", "--out", tmp_path / "replay.html")
    assert done.code == 0
    assert "Distances are straight lines" in done.err
    assert shown(tmp_path / "replay.html")["episodes"][0]["trajectories"][0]["success"] is True


def test_a_picture_and_a_film_are_written_beside_the_page(itinera, files, tmp_path):
    pytest.importorskip("PIL")
    png, gif = tmp_path / "end.png", tmp_path / "film.gif"
    done = itinera("show", files.predictions, *files.options, "--episode", "1_0", "--png", png, "--gif", gif)
    assert done.code == 0
    assert (png.read_bytes()[1:4], gif.read_bytes()[:3]) == (b"PNG", b"GIF")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "Nothing to write. Give --out replay.html"),
        (["--out", "replay.pdf"], "replay.pdf must end in .html."),
        (["--gif", "film.mp4"], "film.mp4 must end in .gif."),
        (["--out", "r.html", "--pictures", "-1"], "max_views (--pictures) must be at least 0, not -1."),
        (["--out", "r.html", "--episode", "9_9"], "Episode '9_9' is not in R2R_tiny (5 episodes"),
        (["--out", "r.html", "--tour", "9"], "There is no tour '9' in these predictions; there are 1_0, 1_1, 2_0"),
        (
            ["--out", "r.html", "--tour", "1_0", "--episode", "1_0"],
            "Give either episodes (--episodes, --failures) or a tour",
        ),
        (["--out", "r.html", "--protocol", "r2s"], "protocol must be one of"),
    ],
)
def test_what_cannot_be_shown_is_told(itinera, files, options, told):
    done = itinera("show", files.predictions, *files.options, *options)
    assert done.code == 2
    assert told in done.err


def test_worlds_that_are_not_there_are_told(itinera, files, tmp_path):
    (tmp_path / "connectivity" / "house_connectivity.json").unlink()
    done = itinera("show", files.predictions, *files.options, "--episode", "1_0", "--out", tmp_path / "r.html")
    assert done.code == 2
    assert "World house is not in" in done.err


def test_agents_are_named_by_as_much_of_their_files_as_tells_them_apart():
    assert name_agents([Path("a/walks.jsonl")]) == ["walks"]
    assert name_agents([Path("runs/a/walks.jsonl"), Path("runs/b/walks.jsonl.gz")]) == ["a/walks", "b/walks"]
    with pytest.raises(BadArgument, match="given twice"):
        name_agents([Path("a.jsonl"), Path("a.jsonl")])


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A season of one house with a few paths."""
    from itinera import build_hearth
    from itinera.hearth import season as seasons

    out = tmp_path_factory.mktemp("built") / "hearth"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seasons, "paths_per_split", lambda index: {"val_unseen": 2} if index == 1 else {"train": 1})
        build_hearth(out, houses=3, splits=("val_unseen",), workers=0)
    return out


@pytest.mark.parametrize(
    "tasks", ["r2r/R2R_val_unseen.json", "vlnce/val_unseen/val_unseen.json.gz"], ids=["graph", "ground"]
)
def test_a_house_of_hearth_shows_its_rooms_its_words_and_what_is_seen(itinera, season, tmp_path, tasks):
    pytest.importorskip("PIL")
    walks, page = tmp_path / "expert.jsonl", tmp_path / "replay.html"
    common = ["--tasks", season / tasks, "--worlds", season]
    assert itinera("run", "--agent", "expert", *common, "--workers", 0, "--out", walks).code == 0
    assert itinera("show", walks, *common, "--pictures", 8, "--out", page).code == 0
    data = shown(page)
    labels = {label[0] for storey in data["scenes"][0]["storeys"] for label in storey["labels"]}
    assert {"kitchen", "living room"} <= labels
    task = data["episodes"][0]
    assert task["trajectories"][0]["success"] is True
    assert {place for _, first, last in task["instruction"] for place in (first, last)} > {-1, 0}
    assert 2 <= len(task["trajectories"][0]["frames"]) <= 8


def times_of(folder: Path, *episode_ids: str) -> Path:
    """Fastest times for these episodes."""
    count = len(episode_ids)
    times = FastestTimes(ReferenceRobot(radius=0.1), episode_ids, np.full(count, 9.0), np.full(count, 9.5))
    write_times(folder / "times.jsonl", times)
    return folder / "times.jsonl"


def test_fastest_times_are_told_on_graphs_where_nothing_is_driven(itinera, files, tmp_path):
    page = tmp_path / "replay.html"
    command = [files.predictions, *files.options, "--episode", "1_0", "--out", page]
    assert itinera("show", *command, "--times", times_of(tmp_path, "1_0")).code == 0
    task = shown(page)["episodes"][0]
    assert (task["fastest_seconds"], task["fastest"]["x"]) == ("9.0 – 9.5 s", [])


@pytest.mark.slow
def test_the_fastest_drive_on_the_ground_leads_from_start_to_goal(itinera, season, tmp_path):
    walks, page = tmp_path / "expert.jsonl", tmp_path / "replay.html"
    common = ["--tasks", season / "vlnce/val_unseen/val_unseen.json.gz", "--worlds", season]
    assert itinera("run", "--agent", "expert", *common, "--workers", 0, "--out", walks).code == 0
    ids = [json.loads(line)["tour_id"] for line in walks.read_text().splitlines()[1:]]
    chosen = [part for name in ids for part in ("--episode", name)]
    assert itinera("show", walks, *common, *chosen, "--times", times_of(tmp_path, *ids), "--out", page).code == 0
    tasks = [task for task in shown(page)["episodes"] if task["fastest"]["x"]]
    assert tasks, "no way stays on one floor"
    for task in tasks:
        for axis in "xy":
            assert task["fastest"][axis][0] == pytest.approx(task["reference"][axis][0], abs=3)
            assert task["fastest"][axis][-1] == pytest.approx(task["goals"][axis][0], abs=3)


def test_the_worst_failures_are_listed_with_their_instructions(itinera, files, tmp_path):
    # 1_1 stays at its start, 4 m from the goal: the only failure of these predictions.
    done = itinera("show", files.predictions, *files.options, "--failures", 20)
    assert (done.code, done.out.splitlines()) == (
        0,
        [
            "1 of 5 episodes failed; the 1 farthest from the goal:",
            "1_1 in house: 4.00 m from the goal, never left the start",
            "    go to c",
        ],
    )


def test_the_worst_failures_are_drawn_the_farthest_first(itinera, files, tmp_path):
    walks = files.write("bad.json", tiny.predictions(tiny.WALKS | {"2_0": "cb", "3_0": "p"}))
    page = tmp_path / "worst.html"
    # 2_0 goes the wrong way and ends 6 m from e; 1_1 and 3_0 stay 4 m away, in the order of the split.
    done = itinera("show", walks, *files.options, "--failures", 2, "--out", page)
    assert done.code == 0
    assert [episode["id"] for episode in shown(page)["episodes"]] == ["2_0", "1_1"]
    assert done.out.startswith("3 of 5 episodes failed; the 2 farthest from the goal:\n2_0 in house: 6.00 m")
    only = itinera("show", walks, *files.options, "--failures", 2, "--episodes", "scan=hut")
    assert only.out.startswith("1 of 2 episodes failed; the 1 farthest from the goal:\n3_0 in hut")
    assert "count (--failures) must be ≥ 1" in itinera("show", walks, *files.options, "--failures", 0).err


def test_episodes_of_a_part_are_shown(itinera, files, tmp_path):
    page = tmp_path / "replay.html"
    assert itinera("show", files.predictions, *files.options, "--episodes", "scan=hut", "--out", page).code == 0
    assert [episode["id"] for episode in shown(page)["episodes"]] == ["3_0", "3_1"]


def test_rooms_and_objects_are_named_on_the_map_of_a_graph(itinera, files, tmp_path):
    rooms = files.write("rooms.csv", "scan,viewpoint,room_code,region_id\nhouse,b,k,0\nhouse,c,k,0\nhouse,e,p,1\n")
    boxes = tmp_path / "BBox"
    boxes.mkdir()
    # Nodes lie 2 m apart along +x. The lamp is in the middle of view 12 of b, to the north (+y), and in the middle of
    # view 22 of d, 60° to the left of that: so it is at x = 2 m, and (6 − 2) / tan 60° = 2.31 m north. Only one place
    # shows the vase, which tells no distance.
    box = [295.0, 200.0, 50.0, 50.0]
    (boxes / "house_b.json").write_text(json.dumps({"b": {
        "1": {"name": "floor#lamp", "visible_pos": [12], "bbox2d": [box]},
        "2": {"name": "vase", "visible_pos": [12], "bbox2d": [box]}}}))  # fmt: skip
    (boxes / "house_d.json").write_text(json.dumps({"d": {
        "1": {"name": "floor#lamp", "visible_pos": [22], "bbox2d": [box]}}}))  # fmt: skip
    page = tmp_path / "replay.html"
    options = ["--rooms", rooms, "--objects", boxes, "--episodes", "1_0", "--out", page, "--png", tmp_path / "r.png"]
    assert itinera("show", files.predictions, *files.options, *options).code == 0
    (storey,) = shown(page)["scenes"][0]["storeys"]
    assert {tuple(label[:3]) for label in storey["labels"]} == {("kitchen", 300, 0), ("porch", 800, 0)}
    assert [label[:3] for label in storey["objects"]] == [["floor lamp", 200, 231]]
