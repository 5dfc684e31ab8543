"""Language models and policy servers that step on the ground, end to end against real servers on loopback."""

from __future__ import annotations

import json

import pytest

import itinera
from chat_runs import House, choose, run
from chat_server import images, last_text, serving
from itinera.errors import BadArgument, ItineraError
from itinera.formats.native_predictions import encode_rollout
from itinera.records import Ending
from itinera.runs.observations import make_camera

CAMERA = "24x16"


def rows(predictions) -> list[bytes]:
    return [encode_rollout(rollout) for rollout in predictions.rollouts]


@pytest.fixture
def house(season):
    return House(season, "r2r/R2R_val_unseen.json")


@pytest.fixture
def ground(season):
    return House(season, "vlnce/val_unseen/val_unseen.json.gz")


def say(*answers: str):
    """Answers by the number of moves so far."""
    return lambda request: answers[
        min(last_text(request).count("move forward") + last_text(request).count("turn"), len(answers) - 1)
    ]


def test_words_move_on_the_ground(ground, tmp_path):
    respond = say("The next action is move forward 50 cm.", "Action: turn left 45 degrees", "stop")
    with serving(respond) as server:
        found = run(ground, server, tmp_path, camera=CAMERA, max_episodes=1)
        calls = server.calls
        assert rows(run(ground, server, tmp_path, camera=CAMERA, max_episodes=1)) == rows(found)
    assert found[0].actions.tolist() == [1, 1, 2, 2, 2]
    assert found[0].ending is Ending.STOPPED
    assert (calls, server.calls) == (3, 3)
    assert [len(images(request)) for request in server.requests] == [1, 2, 3]


def test_words_may_describe_what_is_visible(ground, tmp_path):
    sensor = make_camera("64x48", channels="depth,instances")
    with serving(say("turn left 90 degrees", "stop")) as server:
        run(ground, server, tmp_path, camera=sensor, max_episodes=1)
    texts = [last_text(request) for request in server.requests]
    assert all("You are in the " in text and "You see " in text for text in texts)
    assert images(server.requests[0]) == []


def test_pixels_move_on_the_ground(ground, tmp_path):
    with serving(say("Action: (12, 15)", "Action: 0, 15", "stop")) as server:
        found = run(ground, server, tmp_path, camera=CAMERA, prompt="pixel", max_episodes=1)
    actions = found[0].actions.tolist()
    assert actions[0] == 1
    assert 2 in actions  # towards the left edge
    assert found[0].ending is Ending.STOPPED


def test_waypoints_are_choices(ground, tmp_path):
    with serving(choose) as server:
        found = run(ground, server, tmp_path, waypoints="graph", max_episodes=1)
    assert found[0].notes["decisions"] == 3
    assert found[0].notes["usage"]["calls"] == 4


@pytest.mark.parametrize(
    ("place", "options", "problem"),
    [
        ("house", {"prompt": "words"}, "steps on the ground"),
        ("house", {"agent_options": {"tempratur": 1}}, "Did you mean temperature"),
        ("house", {"max_cost": 1.0}, "needs the price"),
        ("ground", {}, "--prompt words needs images"),
        ("ground", {"prompt": "choices"}, "needs candidates"),
        ("ground", {"prompt": "pixel"}, "needs color and depth"),
        ("ground", {"camera": CAMERA, "agent_options": {"images": True}}, "is for --prompt choices"),
        ("ground", {"camera": CAMERA, "drive": "point-turn"}, "without --drive"),
    ],
)
def test_settings_must_fit_the_tasks(request, tmp_path, place, options, problem):
    with pytest.raises(BadArgument, match=problem):
        run(request.getfixturevalue(place), "http://127.0.0.1:9", tmp_path, **options)


def test_a_policy_server_acts_on_the_ground(ground, tmp_path):
    def respond(request):
        if "image" not in request:
            respond.left = [1, 1, 0]
            return "{}"
        return json.dumps({"action": respond.left.pop(0)})

    with serving(respond, chat=False, path="") as server:
        found = itinera.run(server.url, ground.tasks, ground.worlds, camera=CAMERA, max_episodes=2)
    assert [trajectory.actions.tolist() for trajectory in found] == [[1, 1], [1, 1]]
    assert server.paths == ["/reset", "/act", "/act", "/act"] * 2


def test_a_policy_server_that_dies_is_resumed(ground, tmp_path):
    def respond(request):
        return json.dumps({"action": 0})

    def once(request):
        if "image" in request and len(server.requests) > 2:
            raise ConnectionAbortedError
        return respond(request)

    out = tmp_path / "a.jsonl"
    options = {"camera": CAMERA, "max_episodes": 3, "out": out, "workers": 0}
    with (
        serving(once, chat=False, path="") as server,
        pytest.raises(ItineraError, match="1 of 3 rollouts are finished"),
    ):
        itinera.run(server.url, ground.tasks, ground.worlds, **options)
    url = server.url
    with serving(respond, chat=False, path="", port=server.port) as server:
        found = itinera.run(url, ground.tasks, ground.worlds, **options)
        assert server.calls == 4
    assert {trajectory.ending for trajectory in found} == {Ending.STOPPED}


def test_a_policy_server_has_one_state(ground):
    with pytest.raises(BadArgument, match="one after another: give --workers 1"):
        itinera.run("http://127.0.0.1:9", ground.tasks, ground.worlds, camera=CAMERA, workers=2)
    with pytest.raises(BadArgument, match="needs images"):
        itinera.run("http://127.0.0.1:9", ground.tasks, ground.worlds)
