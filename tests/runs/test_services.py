"""Language models and policy servers in runs, end to end against real servers on loopback."""

from __future__ import annotations

import json
import logging
import re

import pytest

import itinera
import tiny
from chat_runs import House, choose, run
from chat_server import Raw, completion, images, last_text, serving
from itinera.errors import BadArgument, ItineraError
from itinera.formats.native import read_header
from itinera.formats.native_predictions import encode_rollout
from itinera.records import Ending

KEY = "sk-secret-0123456789"
CAMERA = "24x16"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def rows(predictions) -> list[bytes]:
    return [encode_rollout(rollout) for rollout in predictions.rollouts]


@pytest.fixture
def files(tmp_path):
    return tiny.on_graphs(tmp_path)


@pytest.fixture
def house(season):
    return House(season, "r2r/R2R_val_unseen.json")


def test_a_house_is_run_and_run_again_for_nothing(house, tmp_path):
    with serving(choose) as server:
        first = run(house, server, tmp_path, max_episodes=4, price=(2.0, 10.0), out=tmp_path / "a.jsonl")
        calls = server.calls
        again = run(house, server, tmp_path, max_episodes=4, price=(2.0, 10.0), out=tmp_path / "b.jsonl")
        assert (calls, server.calls) == (len({json.dumps(r, sort_keys=True) for r in server.requests}),) * 2
        elsewhere = run(house, "http://127.0.0.1:9/v1", tmp_path, max_episodes=4, price=(2.0, 10.0))
    assert rows(first) == rows(again) == rows(elsewhere)
    assert calls > 0
    lines = [(tmp_path / name).read_bytes().splitlines() for name in ("a.jsonl", "b.jsonl")]
    assert lines[0][1:] == lines[1][1:]
    for trajectory in first:
        assert trajectory.ending is Ending.STOPPED
        assert trajectory.notes["usage"] == {
            "calls": 4,
            "prompt_tokens": 400,
            "completion_tokens": 40,
            "unparsable": 0,
            "by_rule": 0,
            "cost": 0.0012,
            "model": "served-model",
        }
    assert "you see" in last_text(server.requests[0])  # objects of the scene descriptions


def test_the_bundle_states_the_settings(files, tmp_path):
    with serving(choose) as server:
        run(files, server, tmp_path, seed=5, out=tmp_path / "a.jsonl", agent_options={"temperature": 0.5})
    settings = read_header(tmp_path / "a.jsonl").settings
    assert (settings["model"], settings["base_url"]) == ("my/model", server.url)
    assert (settings["prompt"], settings["temperature"], settings["seed"]) == ("choices", 0.5, 5)
    assert {request["seed"] for request in server.requests} == {5}
    assert itinera.check(tmp_path / "a.jsonl").counts["trajectories"] == 5


def test_workers_change_no_row(files, tmp_path):
    with serving(choose) as server:
        alone = run(files, server, tmp_path / "alone")
        together = run(files, server, tmp_path / "together", workers=2, start_method="spawn")
    assert rows(alone) == rows(together)


def test_answers_at_random_are_kept_too(files, tmp_path):
    """A model that answers differently every time: rows are those of the answers that were kept."""
    count = iter(range(10_000))

    def respond(request):
        letters = re.findall(r"^([A-Z])\. ", last_text(request), flags=re.MULTILINE)
        return json.dumps({"action": letters[next(count) * 7 % len(letters)]})

    with serving(respond) as server:
        first = run(files, server, tmp_path)
        calls = server.calls
        assert rows(run(files, server, tmp_path)) == rows(first)
        assert server.calls == calls
        run(files, server, tmp_path, seed=1)  # another seed is another question
        assert server.calls > calls


def test_a_server_killed_in_the_middle_costs_no_row(files, tmp_path):
    out = tmp_path / "a.jsonl"
    with serving(choose) as server:
        whole = run(files, server, tmp_path / "whole")
    left = iter(range(6))

    def die(request):
        if next(left, None) is None:
            raise ConnectionAbortedError
        return choose(request)

    sentence = r"The run stopped because the server at http\S+ closed the connection .*2 of 5 rollouts are finished"
    with serving(die) as server, pytest.raises(ItineraError, match=sentence):
        run(files, server, tmp_path, out=out)
    assert not out.exists()
    with pytest.raises(ItineraError, match=r"refuses connections .*Run the same again to resume\."):
        run(files, server, tmp_path, out=out)  # nobody listens now
    with serving(choose) as server:
        assert rows(run(files, server, tmp_path, out=out)) == rows(whole)
        assert server.calls == 12 - 6
    assert rows(run(files, "http://127.0.0.1:9", tmp_path, out=out)) == rows(whole)  # finished: no server is needed


def test_a_worker_whose_server_is_gone_stops_the_run(files, tmp_path):
    with serving(lambda request: Raw(b"", 503)) as server, pytest.raises(ItineraError, match=r"status 503.*resume"):
        run(files, server, tmp_path, workers=1, start_method="spawn", out=tmp_path / "a.jsonl")
    assert server.calls == 2


def test_the_limit_of_cost_is_respected_and_resumed(files, tmp_path):
    # An answer costs 1 cent, and could cost 2. Two of the five episodes have the questions of others.
    out, priced = tmp_path / "a.jsonl", {"price": (0.0, 1000.0), "agent_options": {"max_tokens": 20}}
    with serving(choose) as server:
        whole = run(files, server, tmp_path / "whole", **priced)
        assert server.calls == 12
    with serving(choose) as server:
        with pytest.raises(
            ItineraError, match=r"cost 0\.09 US .*--max-cost 0\.1 .*3 of 5 rollouts are finished.*resume"
        ):
            run(files, server, tmp_path, out=out, max_cost=0.1, **priced)
        assert server.calls == 9
        with pytest.raises(ItineraError, match="--max-cost"):
            run(files, server, tmp_path, out=out, max_cost=0.1, **priced)  # the limit is that of the run, not of a try
        assert server.calls == 9
        assert rows(run(files, server, tmp_path, out=out, max_cost=0.25, **priced)) == rows(whole)
        assert server.calls == 12


def test_workers_share_the_limit(files, tmp_path):
    priced = {"price": (0.0, 1000.0), "agent_options": {"max_tokens": 20}, "max_cost": 0.1}
    with serving(choose) as server, pytest.raises(ItineraError, match="--max-cost"):
        run(files, server, tmp_path, workers=2, start_method="spawn", **priced)
    assert server.calls <= 9


def test_the_bill_is_estimated_before(files, tmp_path, caplog):
    with caplog.at_level(logging.INFO, "itinera"), serving(choose) as server:
        run(files, server, tmp_path, price=(2.0, 10.0))
    # Five episodes with references of two moves, so three questions each.
    assert "Estimate: 5 episodes, 15 calls, 12,600 + 1,200 tokens, about 0.04 US dollars." in caplog.text


def test_unparsable_answers_are_counted_and_fail_the_episode(files, tmp_path):
    def respond(request):
        first = "go to c" in request["messages"][1]["content"]
        return "I should stop now, I think." if first and len(request["messages"]) < 6 else choose_first(request)

    def choose_first(request):
        return "no idea" if "go to c" in request["messages"][1]["content"] else choose(request)

    with serving(respond) as server:
        found = run(files, server, tmp_path)
        calls = server.calls
        assert rows(run(files, server, tmp_path)) == rows(found)
        assert server.calls == calls
    failed = [trajectory for trajectory in found if trajectory.ending is Ending.FAILED]
    assert [trajectory.episode_id for trajectory in failed] == ["1_0", "1_1"]
    for trajectory in failed:
        assert "does not name an option (3 answers" in trajectory.notes["failed"]
        assert trajectory.notes["usage"]["unparsable"] == 3


def test_a_rule_may_replace_unparsable_answers(files, tmp_path):
    options = {"unparsable": "stop", "repeats": 0}
    with serving(lambda request: "no idea") as server:
        found = run(files, server, tmp_path, agent_options=options)
    assert {trajectory.ending for trajectory in found} == {Ending.STOPPED}
    assert {trajectory.notes["usage"]["by_rule"] for trajectory in found} == {1}


def test_a_model_that_never_answers_well_stops_the_run(files, tmp_path):
    with (
        serving(lambda request: "<html>login</html>") as server,
        pytest.raises(ItineraError, match="failed in the same way"),
    ):
        run(tiny_with_more(files), server, tmp_path, agent_options={"repeats": 0})


def tiny_with_more(files):
    """Six episodes: the sixth is left when five have failed."""
    files.write("R2R_tiny.json", [*tiny.PATHS, tiny.path(4, "hut", "rqp", 2)])
    return files


def test_a_refused_prompt_fails_its_episode_only(files, tmp_path):
    def respond(request):
        return Raw(b'{"error": "content policy"}', 400) if "go to e" in last_text(request) else choose(request)

    with serving(respond) as server:
        found = run(files, server, tmp_path)
    assert [trajectory.episode_id for trajectory in found if trajectory.ending is Ending.FAILED] == ["2_0"]
    assert "content policy" in found["2_0"].notes["failed"]


def test_the_key_is_in_no_file_and_no_message(files, tmp_path, caplog):
    def respond(request):
        return Raw(completion(choose(request) + f" {KEY}", model=KEY), headers={"X-Key": KEY})

    with caplog.at_level(logging.DEBUG), serving(respond) as server:
        run(files, server, tmp_path, out=tmp_path / "a.jsonl", price=(1.0, 1.0))
    with serving(lambda request: Raw(f"bad key {KEY}".encode(), 401)) as other, pytest.raises(ItineraError) as caught:
        run(files, other, tmp_path, seed=1, out=tmp_path / "b.jsonl")
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in str(caught.value)
    assert KEY not in caplog.text
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"agent_options": {"temperature": 1.0}},
        {"agent_options": {"history": 3}},
        {"price": (1.0, 1.0)},
    ],
)
def test_other_settings_are_another_run(files, tmp_path, changes):
    with serving(choose) as server:
        run(files, server, tmp_path, out=tmp_path / "a.jsonl")
        with pytest.raises(BadArgument, match="comes from another run"):
            run(files, server, tmp_path, out=tmp_path / "a.jsonl", **changes)


def test_options_may_have_images(house, tmp_path):
    with serving(choose) as server:
        run(house, server, tmp_path, max_episodes=1, agent_options={"images": True, "image_size": "16x12"})
    text, drawn = last_text(server.requests[0]), images(server.requests[0])
    assert len(drawn) == len(set(drawn)) == text.count("(image ")
    assert drawn[0].startswith("data:image/png;base64,")


def test_annotated_views_become_words(house, tmp_path):
    with serving(choose) as server:
        run(house, server, tmp_path, max_episodes=1, views="annotations")
    assert "you see" in last_text(server.requests[0])


def test_settings_are_for_language_models(files):
    with pytest.raises(BadArgument, match="are for language models: give --agent openai:MODEL"):
        itinera.run("uniform", files.tasks, files.worlds, base_url="http://h")
    with pytest.raises(BadArgument, match="needs its server: --base-url"):
        itinera.run("openai:m", files.tasks, files.worlds)


class Impostor:
    """An agent of somebody else that says the run must stop."""

    def reset(self, rng):
        pass

    def start_episode(self, instruction):
        pass

    def act(self, observation):
        from itinera.agents.agent import StopRun

        raise StopRun("Nothing can go well any more.")

    def observe(self, observation):
        pass


def test_only_our_own_agents_stop_a_run(files):
    found = itinera.run(Impostor(), files.tasks, files.worlds, workers=1, keep_going=True)
    assert {trajectory.ending for trajectory in found} == {Ending.FAILED}


@pytest.mark.parametrize(
    ("protocol", "answer"), [("r2r", '{"action": "B"}'), ("r2r-ce", "turn left 30 degrees, forward")]
)
def test_language_models_are_checked_like_other_agents(tmp_path, protocol, answer):
    with serving(lambda request: answer) as server:
        itinera.check_agent("openai:m", base_url=server.url, protocol=protocol, answers=tmp_path)
        calls = server.calls
        itinera.check_agent("openai:m", base_url=server.url, protocol=protocol, answers=tmp_path)
        assert 0 < calls == server.calls


def test_a_check_reports_what_is_wrong(tmp_path):
    with (
        serving(lambda request: "no idea") as server,
        pytest.raises(BadArgument, match=r"act\(\) failed: AgentFailure"),
    ):
        itinera.check_agent("openai:m", base_url=server.url, answers=tmp_path)
    with pytest.raises(ItineraError, match="refuses connections"):
        itinera.check_agent("openai:m", base_url=server.url, answers=tmp_path / "b", agent_options={"retries": 0})
    with pytest.raises(BadArgument, match="needs its server"):
        itinera.check_agent("openai:m")


def test_policy_servers_are_checked_like_other_agents():
    with serving(lambda request: '{"action": "left"}', chat=False, path="") as server:
        itinera.check_agent(server.url, protocol="r2r-ce")
    assert "/act" in server.paths
