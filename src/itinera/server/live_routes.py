"""The routes of live phases: sessions and turns for participants, questions for workers."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Sequence

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from itinera.formats.live_turns import TurnLine
from itinera.server.live_messages import LivePoll, LiveWork, OpenRequest
from itinera.server.live_play import LivePlay
from itinera.server.refusals import RefusedRequest, TooLarge
from itinera.server.requests import (
    MAX_JSON,
    SILENCE_SECONDS,
    SlowRequest,
    authenticate,
    read_json,
    reply,
    stream_body,
)
from itinera.server.teams import Identity, Scope

MAX_LINES = 64  # turns of one request
MAX_POLL = 1 << 28  # bytes of a worker's answers
KNOWN_SECONDS = 5.0  # that a token of a session counts as valid without a look into the database
_turn_decoder = msgspec.json.Decoder(TurnLine)
_poll_decoder = msgspec.msgpack.Decoder(LivePoll)


class TokenMemory:
    """Tokens of a scope that were valid a moment ago."""

    def __init__(self, scope: Scope) -> None:
        self._scope: Scope = scope
        self._known: OrderedDict[str, tuple[Identity, float]] = OrderedDict()

    async def identify(self, request: Request) -> Identity:
        """Who sends a request."""
        header, now = request.headers.get("authorization", ""), time.monotonic()
        found = self._known.get(header)
        if found is not None and now < found[1]:
            return found[0]
        identity = await authenticate(request, self._scope)
        self._known[header] = identity, now + KNOWN_SECONDS
        self._known.move_to_end(header)
        while len(self._known) > 1000:
            self._known.popitem(last=False)
        return identity


def live(request: Request) -> LivePlay:
    """The sessions of the application that received a request."""
    found = request.app.state.live
    assert isinstance(found, LivePlay)
    return found


async def open_session(request: Request) -> Response:
    """Open a session, or continue the one that is open."""
    sender = await authenticate(request, "submit")
    return reply(await live(request).open(await read_json(request, OpenRequest), sender), 201)


async def session(request: Request) -> Response:
    """How far a session has been played."""
    sender = await authenticate(request, "submit")
    return reply(await live(request).describe(request.path_params["entry"], sender))


async def close_session(request: Request) -> Response:
    """End a session, which is judged then."""
    sender = await authenticate(request, "submit")
    await live(request).close(request.path_params["entry"], sender)
    return reply({})


async def turns(request: Request) -> Response:
    """Answers of an agent in some tours, and what it must answer next."""
    sender = await request.app.state.live_tokens.identify(request)
    lines = _decode_turns(await _read_body(request, MAX_JSON))
    wants = _read_wants(request)
    play, entry_id = live(request), request.path_params["entry"]

    async def take(some: list[TurnLine]) -> dict[int, tuple[bytes, bytes]]:
        found = await asyncio.gather(*(play.turn(entry_id, line, wants, sender) for line in some))
        replies = [(msgspec.json.encode(head), payload) for head, payload in found]
        return dict(zip(map(id, some), replies, strict=True))

    # A tour that ends makes room for one that begins.
    done = await take([line for line in lines if line.end]) if any(line.end for line in lines) else {}
    done |= await take([line for line in lines if not line.end])
    content = b"".join(part for line in lines for part in (done[id(line)][0], b"\n", done[id(line)][1]))
    return Response(content, media_type="application/octet-stream")


async def poll(request: Request) -> Response:
    """A worker brings answers and takes questions."""
    await request.app.state.live_workers.identify(request)
    try:
        message = _poll_decoder.decode(await _read_body(request, MAX_POLL))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RefusedRequest(f"The body is no message of a worker: {error}.") from None
    relay = live(request).relay
    asked = asyncio.ensure_future(relay.poll(message))
    gone = asyncio.ensure_future(request.receive())
    await asyncio.wait([asked, gone], return_when=asyncio.FIRST_COMPLETED)
    if not asked.done():  # the worker has been killed
        asked.cancel()
        relay.lose(message.worker)
        return reply({})
    gone.cancel()
    return Response(msgspec.msgpack.encode(LiveWork(asked.result())), media_type="application/msgpack")


def make_live_routes() -> Sequence[BaseRoute]:
    """The routes of live phases."""
    return [
        Route("/api/live", open_session, methods=["POST"]),
        Route("/api/live/{entry}", session, methods=["GET"]),
        Route("/api/live/{entry}/turns", turns, methods=["POST"]),
        Route("/api/live/{entry}/close", close_session, methods=["POST"]),
        Route("/api/worker/live", poll, methods=["POST"]),
    ]


async def _read_body(request: Request, limit: int) -> bytes:
    announced = request.headers.get("content-length", "")
    if not announced.isdecimal():
        return b"".join([chunk async for chunk in stream_body(request, limit)])
    if int(announced[:20]) > limit:
        raise TooLarge(f"The body has more than {limit} bytes.")
    try:
        return await asyncio.wait_for(request.body(), SILENCE_SECONDS)
    except asyncio.TimeoutError:  # noqa: UP041
        raise SlowRequest("The body arrives too slowly.") from None


def _decode_turns(body: bytes) -> list[TurnLine]:
    lines = body.split(b"\n")
    if not lines[-1]:
        lines.pop()
    if not 1 <= len(lines) <= MAX_LINES:
        raise RefusedRequest(f"Send 1 to {MAX_LINES} turns, a line of JSON each.")
    try:
        found = [_turn_decoder.decode(line) for line in lines]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise RefusedRequest(f"A line is no turn: {error}.") from None
    for one in found:
        if not (one.turn == 0 or one.end or one.replay) and (one.action is None) == (one.failed is None):
            raise RefusedRequest('A turn after 0 has an "action", or the reason why there is none in "failed".')
    return found


def _read_wants(request: Request) -> list[str] | None:
    """The parts of an observation that an agent wants; None for all."""
    text = request.query_params.get("wants")
    if text is None:
        return None
    if len(text) > 200:
        raise RefusedRequest("wants names too many things.")
    return sorted({name for name in text.split(",") if name})
