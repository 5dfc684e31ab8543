"""Questions to a server that behaves, and to servers that do not: retries, clear sentences, and no answer twice."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from chat_server import Raw, completion, images, serving
from itinera.agents.agent import StopRun
from itinera.agents.services.chat_client import ChatClient, Message
from itinera.agents.services.settings import ServiceSettings
from itinera.agents.transport import AgentFailure
from itinera.errors import BadArgument

KEY = "sk-secret-0123456789"
QUESTION = [Message("system", "rules"), Message("user", "where?")]


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def client(tmp_path, pauses):
    """A function that connects to a server; pauses between tries are noted instead of waited for."""
    made = []

    def connect(server, **changes) -> ChatClient:
        settings = replace(ServiceSettings(server.url, "words", answers=tmp_path, retries=2, timeout=5.0), **changes)
        made.append(ChatClient("my/model", settings, sleep=pauses.append))
        return made[-1]

    yield connect
    for one in made:
        one.close()


def test_a_request_has_the_shape_of_the_protocol(client):
    with serving(lambda request: "stop") as server:
        answer = client(server, seed=7, temperature=0.5, max_tokens=50).ask(QUESTION)
    assert (answer.text, answer.model) == ("stop", "served-model")
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.estimated) == (100, 10, False)
    assert server.paths == ["/v1/chat/completions"]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert server.requests == [
        {
            "model": "my/model",
            "messages": [{"role": "system", "content": "rules"}, {"role": "user", "content": "where?"}],
            "max_tokens": 50,
            "seed": 7,
            "temperature": 0.5,
        }
    ]


def test_parameters_of_other_servers(client):
    with serving(lambda request: "stop") as server:
        client(server, temperature=None, token_field="max_completion_tokens").ask(QUESTION)
    assert "temperature" not in server.requests[0]
    assert server.requests[0]["max_completion_tokens"] == 1000


def test_images_follow_the_text(client):
    url = "data:image/png;base64,AAAA"
    with serving(lambda request: "stop") as server:
        client(server, image_detail="high").ask([Message("user", "look", (url, url))])
    content = server.requests[0]["messages"][0]["content"]
    assert content[0] == {"type": "text", "text": "look"}
    assert content[1] == {"type": "image_url", "image_url": {"url": url, "detail": "high"}}
    assert images(server.requests[0]) == [url, url]


def test_the_same_question_is_asked_once(client, tmp_path):
    answers = iter("abc")
    with serving(lambda request: next(answers)) as server:
        first, again = client(server).ask(QUESTION), client(server).ask(QUESTION)  # another process would do the same
        other = client(server, seed=1).ask(QUESTION)
    assert (first.text, again.text, other.text, server.calls) == ("a", "a", "b", 2)
    stored = "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    assert "where?" in stored
    assert KEY not in stored


def test_without_a_key_none_is_sent(client, monkeypatch):
    with serving(lambda request: "stop") as server:
        client(server, key_variable="none").ask(QUESTION)
        monkeypatch.delenv("OPENAI_API_KEY")
        client(server, seed=1).ask(QUESTION)
        monkeypatch.setenv("OTHER", "another-key")
        client(server, seed=2, key_variable="OTHER").ask(QUESTION)
    assert [headers.get("Authorization") for headers in server.headers] == [None, None, "Bearer another-key"]


@pytest.mark.parametrize("bad", ["two words", "new\nline", "schlüssel"])
def test_an_impossible_key_is_refused_without_repeating_it(monkeypatch, bad, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", bad)
    with pytest.raises(BadArgument, match="OPENAI_API_KEY contains") as caught:
        ChatClient("m", ServiceSettings("http://h", answers=tmp_path))
    assert bad not in str(caught.value)


def test_a_model_needs_a_name(tmp_path):
    with pytest.raises(BadArgument, match="openai:MODEL"):
        ChatClient("", ServiceSettings("http://h", answers=tmp_path))


def close(request):
    raise ConnectionAbortedError


HTML = Raw(b"<html><body>Bad   Gateway</body></html>", 502)
OVERLOADED = Raw(b'{"error": {"message": "overloaded"}}', 429, {"Retry-After": "7"})
# What a server may do once before it answers.
HICCUPS = {
    "html": HTML,
    "too many requests": OVERLOADED,
    "internal": Raw(b"", 500),
    "unavailable": Raw(b"", 503),
    "timeout": Raw(b"", 408),
    "html as success": Raw(b"<html>login</html>"),
    "empty": Raw(b""),
    "no choices": Raw(b'{"choices": []}'),
    "choices of another type": Raw(b'{"choices": "none"}'),
    "no message": Raw(b'{"choices": [{}]}'),
    "content of another type": Raw(b'{"choices": [{"message": {"content": 5}}]}'),
    "negative tokens": Raw(completion("x", prompt=-5)),
    "absurd tokens": Raw(completion("x", prompt=10**12)),
    "list": Raw(b"[]"),
    "not utf-8": Raw(b'{"choices": [{"message": {"content": "\xff"}}]}'),
    "cut off": Raw(completion("x")[:40]),
    "less than announced": Raw(b"{", announced=500),
    "deep": Raw(b"[" * 100_000),
}


@pytest.mark.parametrize("name", [*HICCUPS, "closed"])
def test_a_hiccup_changes_no_answer(client, pauses, caplog, name):
    replies = iter([close if name == "closed" else HICCUPS[name], completion("stop")])

    def respond(request):
        reply = next(replies)
        return reply(request) if callable(reply) else Raw(reply) if isinstance(reply, bytes) else reply

    with caplog.at_level(logging.INFO, "itinera"), serving(respond) as server:
        assert client(server).ask(QUESTION).text == "stop"
        assert client(server).ask(QUESTION).text == "stop"
    assert server.calls == 2
    assert pauses == [7.0 if name == "too many requests" else 1.0]
    assert "retrying in" in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("name", [*HICCUPS, "closed"])
def test_a_server_that_never_answers_stops_the_run(client, pauses, name):
    with (
        serving(close if name == "closed" else lambda request: HICCUPS[name]) as server,
        pytest.raises(StopRun, match=r"The run stopped because the server at http.* \(the last of 3 tries\)"),
    ):
        client(server).ask(QUESTION)
    assert server.calls == 3
    assert len(pauses) == 2


def test_pauses_double(client, pauses):
    with (
        serving(lambda request: HTML) as server,
        pytest.raises(StopRun, match="status 502: <html><body>Bad Gateway"),
    ):
        client(server, retries=8, retry_seconds=0.5).ask(QUESTION)
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0]


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        ("7", 7, 7),
        ("0.5", 1, 1),  # the usual pause is longer
        ("100000", 300, 300),
        ("-5", 1, 1),
        ("nan", 1, 1),
        ("soon", 1, 1),
        ("in 5", 1, 1),
        ("a date", 100, 200),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 1, 1),
    ],
)
def test_a_server_may_ask_for_a_pause(client, pauses, value, low, high):
    if value == "a date":
        value = format_datetime(datetime.now(UTC) + timedelta(seconds=200), usegmt=True)
    replies = iter([Raw(b"", 429, {"Retry-After": value}), Raw(completion("stop"))])
    with serving(lambda request: next(replies)) as server:
        client(server).ask(QUESTION)
    assert low <= pauses[0] <= high


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_refused_prompt_fails_the_episode_at_once(client, status):
    body = json.dumps({"error": {"message": f"too long for {KEY}"}}).encode()
    with (
        serving(lambda request: Raw(body, status)) as server,
        pytest.raises(AgentFailure, match=f"refuses this prompt .status {status}.: .*too long") as caught,
    ):
        client(server).ask(QUESTION)
    assert KEY not in str(caught.value)
    assert server.calls == 1


@pytest.mark.parametrize(
    ("status", "remedy"),
    [(401, "Check the key in"), (403, "Check the key in"), (404, "ends in /v1"), (302, "302"), (418, "418")],
)
def test_other_refusals_stop_the_run_at_once(client, status, remedy):
    with (
        serving(lambda request: Raw(f"no {KEY}".encode(), status)) as server,
        pytest.raises(StopRun, match=remedy) as caught,
    ):
        client(server).ask(QUESTION)
    assert KEY not in str(caught.value)
    assert server.calls == 1


def test_a_missing_key_is_named(client, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with (
        serving(lambda request: Raw(b"", 401)) as server,
        pytest.raises(StopRun, match="Set the key in the environment variable OPENAI_API_KEY"),
    ):
        client(server).ask(QUESTION)


def test_a_slow_server_is_tried_again(client):
    replies = iter([Raw(completion("late"), pause=0.5), Raw(completion("stop"))])
    with serving(lambda request: next(replies)) as server:
        assert client(server, timeout=0.2).ask(QUESTION).text == "stop"


@pytest.mark.parametrize(
    ("content", "text"),
    [(None, ""), ([{"type": "text", "text": "st"}, {"type": "text", "text": "op"}], "stop"), ([{"type": "image"}], "")],
)
def test_contents_of_any_shape_are_texts(client, content, text):
    body = json.dumps({"choices": [{"message": {"content": content, "refusal": "no"}}]}).encode()
    with serving(lambda request: Raw(body)) as server:
        answer = client(server).ask(QUESTION)
    assert (answer.text, answer.model) == (text, "my/model")
    assert answer.usage.estimated
    assert answer.usage.completion_tokens == -(-len(text) // 4)


def test_a_huge_answer_is_kept_in_part(client):
    with serving(lambda request: "y" * 300_000) as server:
        assert len(client(server).ask(QUESTION).text) == 100_000


def test_a_limit_of_cost_stops_before_it_is_exceeded(client, tmp_path):
    priced = {"price": (0.0, 1000.0), "max_cost": 0.1, "max_tokens": 40, "bill": "b"}  # at most 4 cents; in fact 1 cent
    with serving(lambda request: "go") as server:
        asked = client(server, **priced)
        for k in range(7):
            asked.ask([Message("user", str(k))])
        with pytest.raises(StopRun, match=r"stopped at its limit: its calls have cost 0\.07 US dollars"):
            asked.ask([Message("user", "7")])
        assert asked.ask([Message("user", "3")]).text == "go"  # known answers cost nothing
        assert server.calls == 7
        client(server, **priced | {"max_cost": 0.2}).ask([Message("user", "7")])  # the bill goes on
        with pytest.raises(StopRun):
            client(server, **priced | {"max_cost": 0.11}).ask([Message("user", "8")])


def test_failed_requests_cost_nothing(client):
    with serving(lambda request: HTML) as server:
        asked = client(server, price=(0.0, 1000.0), max_cost=0.05, max_tokens=40, bill="b", retries=0)
        for _ in range(3):
            with pytest.raises(StopRun, match=r"Bad Gateway</body></html>\.$"):
                asked.ask(QUESTION)
