"""Attacks that need a whole server: forged requests of other sites, guessing through a proxy, bombs as entries."""

from __future__ import annotations

import gzip
import http.client
from urllib.parse import urlsplit

import pytest

import itinera as it
import tiny
from itinera.server.client import Client
from itinera.server.folder import ServerFolder
from itinera.server.messages import EntryReport, EntryRequest, NewEntry
from itinera.server.requests import MAX_GUESSES
from itinera.server.service import Service
from live_server import live_server


@pytest.fixture
def served(tmp_path):
    """The URL of a server, the folder of its challenge, and the tokens of a team and a worker."""
    files = tiny.on_graphs(tmp_path)
    folder = tmp_path / "may"
    it.create_challenge(folder, tasks=files.tasks, worlds=files.worlds, protocol="r2r", shots=3)
    with it.host(folder) as host:
        tokens = host.make_token("submit", team_name="Blue"), host.make_token("worker")
    server = ServerFolder(folder)
    with live_server(Service(server.store, server.blobs)) as url:
        yield url, folder, *tokens
    server.close()


def send(url, method, path, body=b"", **headers):
    """The status, headers and body of a reply; an underscore in the name of a header is a hyphen."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    return reply.status, reply.headers, content


def test_a_form_of_another_site_changes_nothing(served):
    url, _, token, _ = served
    foreign = {"Origin": "https://evil.example", "Sec_Fetch_Site": "cross-site"}
    entry = b'{"phase": "test", "bundle": "", "method": "m", "request": "12345678"}'
    for method, path in (("POST", "/api/entries"), ("POST", "/api/entries/e1"), ("PUT", f"/api/blobs/{'0' * 64}")):
        # Nothing that a browser sends by itself identifies a team, a cookie included.
        status, _, _ = send(url, method, path, entry, Content_Type="text/plain", Cookie=f"token={token}", **foreign)
        assert status == 401
    # A header that scripts must ask for is granted to no other site.
    asked = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "authorization"}
    status, headers, _ = send(url, "OPTIONS", "/api/entries", **foreign, **asked)
    assert status == 405
    for path in ("/", "/submit", "/phases/test", "/api/challenge", "/api/entries"):
        _, found, _ = send(url, "GET", path, **foreign)
        headers = {*headers, *found}
    assert not [name for name in headers if name.lower().startswith(("access-control", "set-cookie"))]


def test_wrong_tokens_are_counted_by_the_address_that_a_proxy_names(served):
    url, _, token, _ = served

    def ask(address, text):
        return send(url, "GET", "/api/entries", Authorization=f"Bearer {text}", X_Forwarded_For=address)[0]

    assert [ask("192.0.2.1", "itn_wrong") for _ in range(MAX_GUESSES + 1)] == [401] * MAX_GUESSES + [429]
    assert ask("192.0.2.1", token) == 429
    assert ask("192.0.2.2", token) == 200


@pytest.mark.parametrize("end", [b" ", b"["], ids=["spaces", "brackets"])
@pytest.mark.parametrize("start", [b'{"itinera": "predictions", "tasks": "', b'[{"instr_id": "1_0", "trajectory": '])
def test_a_bomb_is_refused_and_costs_no_shot(served, tmp_path, start, end):
    url, folder, token, worker_token = served
    bomb = tmp_path / "bomb"
    bomb.write_bytes(gzip.compress(start + end * (40 << 20)))
    client = Client(url, token)
    request = EntryRequest("test", client.upload(bomb, phase="test"), "Bomb", "request-1")
    name = client.post("/api/entries", request, NewEntry).entry
    assert it.work(url, folder, token=worker_token).judge_next()
    report = client.get(f"/api/entries/{name}", EntryReport)
    assert (report.state, report.shot) == ("refused", "returned")
    assert "once unpacked" in report.reason


PATHS = (
    *("/static/..%2fboard.html", "/static/%2e%2e/%2e%2e/tables.py", "/phases/..%2f..%2fitinera.db", "//etc/passwd"),
    *("/entries/%2e%2e%2fitinera.db", "/teams/../../challenge.toml", "/phases/test/..%2f..%2fchallenge.toml"),
)


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leads_out_of_the_pages(served, path):
    status, _, content = send(served[0], "GET", path)
    assert status == 404
    assert b"root:" not in content
    assert b"SQLite" not in content
