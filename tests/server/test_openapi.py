"""The description of the interface is true of every route, and no request by it makes an error of the server."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.routing import Route

from itinera.formats.hosted_challenge import read_hosted_challenge
from itinera.server.blobs import BlobFolder
from itinera.server.live_routes import make_live_routes
from itinera.server.openapi import OPERATIONS, describe_interface
from itinera.server.phases import store_challenge
from itinera.server.requests import GuessLimiter
from itinera.server.routes import make_routes
from itinera.server.service import Service
from itinera.server.store import Store, now_ms
from itinera.server.teams import create_team, make_token
from live_server import live_server

CHECKS = (not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance)
ROUTES = [*make_routes(), *make_live_routes()]
PATHS = describe_interface(ROUTES)["paths"]
OPERATION_NAMES = [(path, method.upper()) for path in PATHS for method in PATHS[path]]


@pytest.fixture(scope="module")
def tokens():
    return {}


@pytest.fixture(scope="module")
def api(tmp_path_factory, tokens):
    """A server with a team, and its description as it is served."""
    folder = tmp_path_factory.mktemp("challenge")
    store = Store(folder / "itinera.db")
    store.migrate()
    (folder / "challenge.toml").write_text("tasks = 'a'\nworlds = 'b'\n[phases.dev]\n")
    with store.write() as db:
        now = now_ms()
        store_challenge(db, read_hosted_challenge(folder), time=now)
        team_id = create_team(db, "Blue", time=now)
        tokens["team"] = make_token(db, "submit", time=now, team_id=team_id)
        tokens |= {"worker": make_token(db, "worker", time=now), "invitation": make_token(db, "invite", time=now)}
    limiter = GuessLimiter()
    limiter.count = lambda address: None  # so that wrong tokens do not end the test
    with live_server(Service(store, BlobFolder(folder)), limiter) as url:
        yield schemathesis.openapi.from_url(f"{url}/openapi.json")
    store.close()


@pytest.mark.parametrize(("path", "method"), OPERATION_NAMES)
def test_every_reply_is_one_that_the_description_has(api, tokens, path, method):
    operation = api[path][method]
    summary = operation.definition.raw["summary"]
    kind = next((one for one in tokens if f"token of a {one}" in summary), "team")

    @settings(max_examples=15, suppress_health_check=list(HealthCheck), deadline=None)
    @given(case=operation.as_strategy())
    def send(case):
        headers = {**(case.headers or {}), "Authorization": f"Bearer {tokens[kind]}"}
        case.call_and_validate(headers=headers, checks=CHECKS)

    send()


def test_every_route_is_described():
    routes = [one for one in ROUTES if isinstance(one, Route)]
    assert {one.endpoint for one in routes} == set(OPERATIONS)
    assert set(OPERATION_NAMES) == {(one.path, method) for one in routes for method in one.methods - {"HEAD"}}
    names = [operation["operationId"] for path in PATHS.values() for operation in path.values()]
    assert len(set(names)) == len(names)
