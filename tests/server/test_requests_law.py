"""Whatever is sent, the server answers with a refusal in JSON and never with an error of its own."""

from __future__ import annotations

import http.client
import json
import os
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from itinera.formats.hosted_challenge import read_hosted_challenge
from itinera.server.blobs import BlobFolder
from itinera.server.phases import store_challenge
from itinera.server.requests import GuessLimiter
from itinera.server.service import Service
from itinera.server.store import Store, now_ms
from itinera.server.teams import create_team, make_token
from live_server import live_server

PATHS = (
    "/healthz",
    "/metrics",
    "/api/status",
    "/api/challenge",
    "/api/teams",
    "/api/blobs/{}",
    "/api/entries",
    "/api/entries/{}",
    "/api/worker/lease",
    "/api/worker/renew",
    "/api/worker/finish",
    "/api/worker/end",
    "/api/worker/blobs/{}",
    "/{}",
)
names = st.text(max_size=30) | st.sampled_from(["\0", "0" * 64, "dev", "..", "%00", "'; DROP TABLE team; --"])
numbers = st.integers(-(2**70), 2**70) | st.integers(-2, 20)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.floats() | names, lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
FIELDS = (
    *("team", "phase", "bundle", "method", "request", "notes", "visibility", "worker", "phases", "judgement"),
    *("attempt", "verdict", "rows", "outcome", "reason"),
)
bodies = st.dictionaries(st.sampled_from(FIELDS), values, max_size=8).map(lambda one: json.dumps(one).encode())
ENTRY = {"phase": "dev", "bundle": "0" * 64, "method": "m", "request": "12345678"}
LEASE = {"judgement": 1, "attempt": 1, "outcome": "refused", "reason": "", "worker": "w", "phases": {}}
near = st.builds(lambda base, change: json.dumps(base | change).encode(), st.sampled_from([ENTRY, LEASE]),
                 st.dictionaries(st.sampled_from(FIELDS), values, max_size=2))  # fmt: skip


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def served(request, tmp_path_factory):
    """A server, and a token of each kind."""
    folder = tmp_path_factory.mktemp("challenge")
    if request.param == "sqlite":
        store = Store(folder / "itinera.db")
    else:
        cluster = request.getfixturevalue("cluster")
        store = Store(cluster.create(f"law_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"))
    store.migrate()
    (folder / "challenge.toml").write_text("tasks = 'a'\nworlds = 'b'\n[phases.dev]\n")
    with store.write() as db:
        store_challenge(db, read_hosted_challenge(folder), time=now_ms())
        team_id = create_team(db, "Blue", time=now_ms())
        tokens = [make_token(db, "submit", time=now_ms(), team_id=team_id)]
        tokens += [make_token(db, scope, time=now_ms()) for scope in ("worker", "invite")]
    limiter = GuessLimiter()
    limiter.count = lambda address: None  # so that wrong tokens do not end the test
    with live_server(Service(store, BlobFolder(folder)), limiter) as url:
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        yield connection, tokens
        connection.close()
    store.close()


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD"]),
    path=st.sampled_from(PATHS),
    name=names,
    sender=st.integers(0, 4),
    body=bodies | near | st.binary(max_size=200),
    offset=numbers,
    query=names,
)
def test_no_request_makes_an_error_of_the_server(served, method, path, name, sender, body, offset, query):
    connection, tokens = served
    headers = {"Upload-Offset": str(offset), "Upload-Length": str(len(body))}
    if sender < 4:
        headers["Authorization"] = "Bearer " + [*tokens, "itn_wrong"][sender]
    target = (
        path.replace("{}", quote(name.encode("utf-8", "replace"), safe=""))
        + "?phase="
        + quote(query.encode("utf-8", "replace"), safe="")
    )
    connection.request(method, target, body=body, headers=headers)
    reply = connection.getresponse()
    content = reply.read()
    assert reply.status < 500, (method, target, body, content)
    if reply.status >= 400 and method != "HEAD":
        assert json.loads(content)["error"]
    if reply.will_close:
        connection.close()
