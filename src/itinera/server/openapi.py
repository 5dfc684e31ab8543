"""The OpenAPI description of the JSON interface, made from its routes and its message types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from itinera.records.provenance import itinera_version
from itinera.server import live_routes, routes
from itinera.server.live_messages import OpenRequest, SessionReport
from itinera.server.messages import (
    ChallengeReport,
    EndMessage,
    EntryChange,
    EntryReport,
    EntryRequest,
    ErrorReply,
    FinishMessage,
    JoinReply,
    JoinRequest,
    LeaseMessage,
    LeaseReply,
    LeaseRequest,
    NewEntry,
    QueueReport,
    UploadState,
    WriteReply,
)
from itinera.server.requests import reply

_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}


@dataclass(frozen=True)
class Operation:
    """What a route takes and gives, besides its address."""

    gives: Any = None  # type of the reply; None: text or bytes
    takes: Any = None  # type of the body; None: no body; bytes: a part of a file
    status: int = 200
    token: str = ""  # whose token it needs; "?": a team's is optional
    query: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()  # numbers of bytes


OPERATIONS = {
    routes.health: Operation(dict[str, str]),
    routes.metrics: Operation(),
    routes.status: Operation(QueueReport),
    routes.challenge: Operation(ChallengeReport, token="?"),
    routes.join: Operation(JoinReply, JoinRequest, 201, "invitation"),
    routes.upload_state: Operation(UploadState, token="team or worker"),
    routes.upload: Operation(
        UploadState, bytes, token="team or worker", query=("phase",), headers=("Upload-Offset", "Upload-Length")
    ),
    routes.submit: Operation(NewEntry, EntryRequest, 201, "team"),
    routes.entries: Operation(list[EntryReport], token="?", query=("phase",)),
    routes.entry: Operation(EntryReport, token="?"),
    routes.change_entry: Operation(EntryReport, EntryChange, token="team"),
    routes.lease: Operation(LeaseReply, LeaseRequest, token="worker"),
    routes.renew: Operation(WriteReply, LeaseMessage, token="worker"),
    routes.finish: Operation(WriteReply, FinishMessage, token="worker"),
    routes.end: Operation(WriteReply, EndMessage, token="worker"),
    routes.worker_blob: Operation(token="worker"),
    live_routes.open_session: Operation(SessionReport, OpenRequest, 201, "team"),
    live_routes.session: Operation(SessionReport, token="team"),
    live_routes.close_session: Operation(dict[str, str], token="team"),
    live_routes.turns: Operation(token="team"),
    live_routes.poll: Operation(token="worker"),
}


def describe_interface(served: Sequence[BaseRoute]) -> dict[str, Any]:
    """The description of the routes in OpenAPI 3.1."""
    typed = [one for operation in OPERATIONS.values() for one in (operation.gives, operation.takes)]
    kinds = [ErrorReply, *(one for one in typed if one is not None and one is not bytes)]
    found, components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(map(str, kinds), found, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in (one for one in served if isinstance(one, Route)):
        for method in sorted((route.methods or set()) - {"HEAD"}):
            described = _describe_operation(route, OPERATIONS.get(route.endpoint, Operation()), schemas)
            paths.setdefault(route.path, {})[method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {"title": "Itinera challenge server", "version": itinera_version()},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def make_description_route(served: Sequence[BaseRoute]) -> Route:
    """The route that gives the description of others."""
    described = describe_interface(served)

    async def openapi(request: Request) -> Response:
        return reply(described)

    return Route("/openapi.json", openapi)


def _describe_operation(route: Route, operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    summary = (route.endpoint.__doc__ or "").strip()
    if operation.token not in ("", "?"):
        summary += f" Needs the token of a {operation.token}."
    described: dict[str, Any] = {
        "operationId": route.endpoint.__name__,
        "summary": summary,
        "parameters": _describe_parameters(route, operation),
        "responses": _describe_replies(operation, schemas),
    }
    if operation.takes is bytes:
        described["requestBody"] = {"required": True, "content": _BYTES}
    elif operation.takes is not None:
        content = {"application/json": {"schema": schemas[str(operation.takes)]}}
        described["requestBody"] = {"required": True, "content": content}
    if operation.token:
        described["security"] = [{"token": []}, *([{}] if operation.token == "?" else [])]
    return described


def _describe_parameters(route: Route, operation: Operation) -> list[dict[str, Any]]:
    text, number = {"type": "string"}, {"type": "integer", "minimum": 0, "maximum": 10**15 - 1}
    names = re.findall(r"{(\w+)}", route.path)
    found: list[dict[str, Any]] = [{"name": one, "in": "path", "required": True, "schema": text} for one in names]
    found += [{"name": one, "in": "query", "required": False, "schema": text} for one in operation.query]
    return found + [{"name": one, "in": "header", "required": True, "schema": number} for one in operation.headers]


def _describe_replies(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    replies = {}
    statuses = (200, 201) if operation.takes is bytes else (operation.status,)  # 201: the file is complete
    for status in statuses:
        done: dict[str, Any] = {"description": "Done."}
        if operation.gives is not None:
            done["content"] = {"application/json": {"schema": schemas[str(operation.gives)]}}
        replies[str(status)] = done
    error = {"application/json": {"schema": schemas[str(ErrorReply)]}}
    return replies | {"default": {"description": "A refusal, with its reason.", "content": error}}
