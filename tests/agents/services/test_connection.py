"""HTTP with limits: slow, huge and broken servers, and a key that goes nowhere else."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from chat_server import Raw, serving
from itinera.agents.services import connection as module
from itinera.agents.services.connection import HttpConnection, HttpFailure
from itinera.agents.services.urls import is_local, parse_url
from itinera.errors import BadArgument

KEY = "sk-secret-0123456789"


def connect(server, **options) -> HttpConnection:
    return HttpConnection(server.url, **{"seconds": 5.0, "secret": KEY, **options})


def test_a_request_reaches_the_server_with_the_key():
    with serving(lambda request: Raw(b"{}", headers={"X-More": "1"})) as server:
        reply = connect(server).post("/chat/completions", b'{"a": 1}')
    assert (reply.status, reply.body, reply.headers["x-more"]) == (200, b"{}", "1")
    assert server.requests == [{"a": 1}]
    assert server.paths == ["/v1/chat/completions"]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_one_connection_serves_many_requests():
    with serving(lambda request: Raw(b"{}")) as server:
        connection = connect(server)
        assert [connection.post("", b"1").status for _ in range(3)] == [200] * 3
        connection.close()
        assert connection.post("", b"1").status == 200


def test_the_key_is_removed_from_replies():
    with serving(lambda request: Raw(f"Incorrect key: {KEY}".encode(), status=401)) as server:
        assert connect(server).post("", b"1").quote() == "Incorrect key: [key]"


def test_a_placeholder_of_a_key_is_no_secret():
    with serving(lambda request: Raw(b"EMPTY room")) as server:
        assert connect(server, secret="EMPTY").post("", b"1").body == b"EMPTY room"


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://api.example.com/v1", True),
        ("http://localhost:8000", True),
        ("http://[::1]:8000", True),
        ("http://api.example.com/v1", False),
        ("http://192.168.0.7:8000", False),
    ],
)
def test_the_key_is_sent_where_nobody_reads_it(url, sent):
    assert HttpConnection(url, seconds=1.0, secret=KEY).sends_secret is sent


def test_redirections_are_not_followed():
    with serving(lambda request: Raw(status=307, headers={"Location": "http://127.0.0.1:1/"})) as server:
        assert connect(server).post("", b"1").status == 307


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (Raw(b"{}", announced=1000), "in the middle"),
        (Raw(b"{}", pause=0.6), "did not answer within 0.3 s"),
        (Raw(b"x" * 40, drip=0.05), "did not answer within 0.3 s"),  # a byte now and then is no answer in time
    ],
)
def test_broken_replies_are_failures(raw, problem):
    started = time.monotonic()
    with serving(lambda request: raw) as server, pytest.raises(HttpFailure, match=problem):
        connect(server, seconds=0.3).post("", b"1")
    assert time.monotonic() - started < 5


def test_a_huge_reply_is_cut_off(monkeypatch):
    monkeypatch.setattr(module, "LONGEST_BODY", 1 << 20)
    with serving(lambda request: Raw(b"x" * (2 << 20))) as server, pytest.raises(HttpFailure, match="more than 1 MB"):
        connect(server).post("", b"1")


def test_a_closed_connection_is_a_failure():
    def close(request):
        raise ConnectionAbortedError

    with serving(close) as server, pytest.raises(HttpFailure, match="closed the connection without an answer"):
        connect(server).post("", b"1")


def test_nobody_listening_is_a_failure():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(HttpFailure, match="refuses connections"):
            HttpConnection(url, seconds=1.0).post("", b"1")


def test_a_server_of_something_else_is_a_failure():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet():
            other, _ = listener.accept()
            other.sendall(b"220 mail.example.com ESMTP\r\n")
            other.close()

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(HttpFailure, match=r"does not speak HTTP|closed"):
            HttpConnection(f"http://127.0.0.1:{listener.getsockname()[1]}", seconds=2.0).post("", b"1")
        thread.join()


@pytest.mark.parametrize("url", ["http://h/v1/", "https://h:8443/v1", "http://[::1]:8000/v1"])
def test_urls_of_servers_are_accepted(url):
    assert parse_url(url) == url.rstrip("/")


@pytest.mark.parametrize(
    "url", ["", "h:8000", "ftp://h", "http://", "http://h:x", "http://h:99999", "http://h/a b", "http://h\n"]
)
def test_other_urls_are_refused(url):
    with pytest.raises(BadArgument, match="is not the URL of a server"):
        parse_url(url)


@pytest.mark.parametrize("url", [f"http://me:{KEY}@h/v1", f"http://h/v1?key={KEY}", f"http://h/v1#{KEY}"])
def test_a_key_in_a_url_is_refused_without_repeating_it(url):
    with pytest.raises(BadArgument) as caught:
        parse_url(url)
    assert KEY not in str(caught.value)
    assert "environment variable" in str(caught.value)


def test_this_machine_is_known():
    assert [is_local(host) for host in ("localhost", "127.0.0.9", "::1", "example.com", "10.0.0.1")] == [True] * 3 + [
        False
    ] * 2
