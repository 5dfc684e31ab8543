"""The JSON interface: each route reads a request, calls the service, and replies."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from itinera.server.messages import (
    EndMessage,
    EntryChange,
    EntryRequest,
    FinishMessage,
    JoinRequest,
    LeaseMessage,
    LeaseRequest,
    NewEntry,
    UploadState,
    WriteReply,
)
from itinera.server.refusals import RefusedRequest, TooLarge
from itinera.server.requests import (
    MAX_VERDICT,
    authenticate,
    call,
    read_json,
    read_token,
    reply,
    service,
    stream_body,
)
from itinera.server.visibility import PUBLIC, Viewer


async def health(request: Request) -> Response:
    """Whether the server and its database answer."""
    await call(service(request).describe_queue)
    return reply({"status": "ok"})


async def metrics(request: Request) -> Response:
    """Numbers for Prometheus."""
    queue = await call(service(request).describe_queue)
    states = await call(service(request).count_states)
    lines = ["# TYPE itinera_judgements gauge"]
    lines += [f'itinera_judgements{{state="{state}"}} {count}' for state, count in sorted(states.items())]
    oldest = queue.oldest_seconds or 0.0
    lines += ["# TYPE itinera_queue_oldest_seconds gauge", f"itinera_queue_oldest_seconds {oldest}"]
    lines += ["# TYPE itinera_workers gauge", f"itinera_workers {queue.workers}"]
    lines += ["# TYPE itinera_requests_total counter"]
    counted = sorted(request.app.state.replies.items())
    lines += [f'itinera_requests_total{{status="{status}"}} {count}' for status, count in counted]
    return Response("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


async def status(request: Request) -> Response:
    """The state of the queue."""
    return reply(await call(service(request).describe_queue))


async def challenge(request: Request) -> Response:
    """The phases; with a token, also the shots of its team."""
    return reply(await call(service(request).describe_challenge, await _viewer(request)))


async def join(request: Request) -> Response:
    """Found a team with an invitation."""
    await authenticate(request, "invite")
    message = await read_json(request, JoinRequest)
    return reply(await call(service(request).join, read_token(request), message.team), 201)


async def upload_state(request: Request) -> Response:
    """How much of a file has arrived."""
    sender = await authenticate(request, "submit", "worker")
    received, complete = await call(service(request).find_upload, request.path_params["digest"], sender)
    return reply(UploadState(received, complete))


async def upload(request: Request) -> Response:
    """Continue a file at a byte; complete when all bytes that it declared have arrived."""
    sender = await authenticate(request, "submit", "worker")
    digest, phase = request.path_params["digest"], request.query_params.get("phase", "")
    offset, total = _number(request, "Upload-Offset"), _number(request, "Upload-Length")
    received, complete = await call(service(request).find_upload, digest, sender)
    if complete:
        return reply(UploadState(received, True))
    await call(service(request).check_upload, sender, phase, total)
    if offset > total:
        raise TooLarge("Upload-Offset is beyond Upload-Length.")
    owner = "worker" if sender.team_id is None else f"team{sender.team_id}"
    with service(request).blobs.append(digest, owner, offset=offset, total=total) as target:
        async for chunk in stream_body(request, total - offset):
            target.write(chunk)
        received = target.received
    if received == total:
        received, complete = await call(service(request).complete_upload, digest, sender), True
    return reply(UploadState(received, complete), 201 if complete else 200)


async def submit(request: Request) -> Response:
    """Submit an uploaded file."""
    sender = await authenticate(request, "submit")
    message = await read_json(request, EntryRequest)
    return reply(NewEntry(await call(service(request).submit, message, sender)), 201)


async def entries(request: Request) -> Response:
    """The entries of a team, or with no token the public ones."""
    viewer = await _viewer(request)
    return reply(await call(service(request).list_entries, viewer, request.query_params.get("phase")))


async def entry(request: Request) -> Response:
    """An entry: its place in the queue, or its scores."""
    viewer = await _viewer(request)
    return reply(await call(service(request).describe_entry, request.path_params["entry"], viewer))


async def change_entry(request: Request) -> Response:
    """Change who may see an entry."""
    sender = await authenticate(request, "submit")
    message = await read_json(request, EntryChange)
    await call(service(request).change_visibility, request.path_params["entry"], message.visibility, sender)
    return await entry(request)


async def lease(request: Request) -> Response:
    """A judgement for a worker."""
    await authenticate(request, "worker")
    return reply(await call(service(request).lease, await read_json(request, LeaseRequest)))


async def renew(request: Request) -> Response:
    """A worker keeps its lease."""
    await authenticate(request, "worker")
    return reply(WriteReply(await call(service(request).renew, await read_json(request, LeaseMessage))))


async def finish(request: Request) -> Response:
    """A worker has scores."""
    await authenticate(request, "worker")
    message = await read_json(request, FinishMessage, limit=MAX_VERDICT)
    return reply(WriteReply(await call(service(request).finish, message)))


async def end(request: Request) -> Response:
    """A worker has no scores."""
    await authenticate(request, "worker")
    return reply(WriteReply(await call(service(request).end, await read_json(request, EndMessage))))


async def worker_blob(request: Request) -> Response:
    """The file of an entry, for a worker."""
    await authenticate(request, "worker")
    digest = request.path_params["digest"]
    (await call(service(request).blobs.open, digest)).close()
    return FileResponse(service(request).blobs.path(digest), media_type="application/octet-stream")


def make_routes() -> Sequence[BaseRoute]:
    """The routes of the JSON interface."""
    return [
        Route("/healthz", health),
        Route("/metrics", metrics),
        Route("/api/status", status),
        Route("/api/challenge", challenge),
        Route("/api/teams", join, methods=["POST"]),
        Route("/api/blobs/{digest}", upload_state, methods=["GET"]),
        Route("/api/blobs/{digest}", upload, methods=["PUT"]),
        Route("/api/entries", entries, methods=["GET"]),
        Route("/api/entries", submit, methods=["POST"]),
        Route("/api/entries/{entry}", entry, methods=["GET"]),
        Route("/api/entries/{entry}", change_entry, methods=["POST"]),
        Route("/api/worker/lease", lease, methods=["POST"]),
        Route("/api/worker/renew", renew, methods=["POST"]),
        Route("/api/worker/finish", finish, methods=["POST"]),
        Route("/api/worker/end", end, methods=["POST"]),
        Route("/api/worker/blobs/{digest}", worker_blob),
    ]


async def _viewer(request: Request) -> Viewer:
    """Who looks: everybody without a token, else its team."""
    if "authorization" not in request.headers:
        return PUBLIC
    return Viewer((await authenticate(request, "submit", "read")).team_id)


def _number(request: Request, header: str) -> int:
    text = request.headers.get(header, "")
    if not re.fullmatch("[0-9]{1,15}", text):
        raise RefusedRequest(f"The header {header} must be a number of bytes.")
    return int(text)
