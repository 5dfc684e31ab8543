"""Reading requests and writing replies: strict sizes, typed JSON, tokens, and one JSON shape for every refusal."""

from __future__ import annotations

import asyncio
import errno
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import msgspec
from sqlalchemy.exc import DataError, DBAPIError, TimeoutError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from itinera.errors import ItineraError
from itinera.server.messages import ErrorReply
from itinera.server.refusals import RefusedRequest, TooLarge, TooMany, UnknownToken
from itinera.server.service import Service
from itinera.server.teams import Identity, Scope

T = TypeVar("T")
MAX_JSON = 64 << 10  # bytes of a request of a participant
MAX_VERDICT = 8 << 20  # bytes of a worker's report
SILENCE_SECONDS = 30.0  # between two parts of a body
BODY_SECONDS = 600.0  # for a whole body; an upload that takes longer continues in another request
MAX_GUESSES = 10  # wrong tokens of an address per minute
GUESS_SECONDS = 60.0
_MAX_ADDRESSES = 10_000
logger = logging.getLogger("itinera")


class SlowRequest(RefusedRequest):
    """A body that does not arrive in time."""

    status = 408


class GuessLimiter:
    """Counts wrong tokens by address, so that guessing and flooding are refused without a look into the database."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, tuple[float, int]] = OrderedDict()  # address -> start of its minute, wrong tokens

    def check(self, address: str) -> None:
        """Raise TooMany if an address has sent too many wrong tokens in the last minute."""
        begun, wrong = self._wrong.get(address, (0.0, 0))
        if wrong >= MAX_GUESSES and self._clock() - begun < GUESS_SECONDS:
            raise TooMany(f"More than {MAX_GUESSES} wrong tokens: wait for {GUESS_SECONDS:g} seconds.")

    def count(self, address: str) -> None:
        """Count a wrong token."""
        now = self._clock()
        begun, wrong = self._wrong.pop(address, (now, 0))
        self._wrong[address] = (begun, wrong + 1) if now - begun < GUESS_SECONDS else (now, 1)
        while len(self._wrong) > _MAX_ADDRESSES:
            self._wrong.popitem(last=False)


def service(request: Request) -> Service:
    """The service of the application that received a request."""
    found = request.app.state.service
    assert isinstance(found, Service)
    return found


async def call(function: Callable[..., T], *arguments: Any) -> T:
    """The result of a function that waits for the database or the disk, in a thread."""
    return await run_in_threadpool(function, *arguments)


def read_token(request: Request) -> str:
    """The token of a request; raises UnknownToken without one."""
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not text.strip():
        raise UnknownToken("This request needs a token: send the header Authorization: Bearer TOKEN.")
    return text.strip()


async def authenticate(request: Request, *scopes: Scope) -> Identity:
    """Who sends a request; raises UnknownToken, Forbidden, or TooMany after too many wrong tokens."""
    limiter, address = request.app.state.guesses, request.client.host if request.client else ""
    limiter.check(address)
    try:
        return await call(service(request).identify, read_token(request), *scopes)
    except UnknownToken:
        limiter.count(address)
        raise


async def read_json(request: Request, kind: type[T], *, limit: int = MAX_JSON) -> T:
    """The typed JSON of a body."""
    parts, size = [], 0
    async for chunk in stream_body(request, limit):
        parts.append(chunk)
        size += len(chunk)
    try:
        return msgspec.json.decode(b"".join(parts), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise RefusedRequest(f"The body is not the JSON of this request: {error}.") from None


async def stream_body(request: Request, limit: int) -> AsyncIterator[bytes]:
    """The parts of a body, each in time; raises TooLarge beyond the limit, before it arrives if it is announced."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > limit:
        raise TooLarge(f"The body has more than {limit} bytes.")
    size, until = 0, time.monotonic() + BODY_SECONDS
    parts = aiter(request.stream())
    while True:
        try:
            remaining = min(SILENCE_SECONDS, until - time.monotonic())
            chunk = await asyncio.wait_for(anext(parts), max(remaining, 0.001))
        except StopAsyncIteration:
            return
        except asyncio.TimeoutError:  # noqa: UP041
            raise SlowRequest("The body arrives too slowly: continue the upload in another request.") from None
        size += len(chunk)
        if size > limit:
            raise TooLarge(f"The body has more than {limit} bytes.")
        if chunk:
            yield chunk


def reply(message: Any, status: int = 200) -> Response:
    """A message as JSON."""
    return Response(msgspec.json.encode(message), status, media_type="application/json")


async def refuse(request: Request, error: Exception) -> Response:
    """The reply to any exception: one JSON shape, and no traceback."""
    headers = {}
    if isinstance(error, RefusedRequest):
        status, message = error.status, str(error)
    elif isinstance(error, ItineraError):
        status, message = 400, str(error)
    elif isinstance(error, ClientDisconnect):
        status, message = 400, "The connection broke off."
    elif isinstance(error, DataError):  # such as NUL, which PostgreSQL does not store
        status, message = 400, "The request has a value that no text or number of the server can be."
    elif isinstance(error, DBAPIError | TimeoutError):  # the database restarts, is busy, or its disk is full
        logger.error("The database does not answer: %s", error)
        status, message, headers = 503, "The database does not answer. Try again.", {"Retry-After": "5"}
    elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        logger.error("The disk is full: %s", error)
        status, message = 507, "The disk of the server is full. Tell the host."
    else:
        logger.error("Unexpected error at %s %s", request.method, request.url.path, exc_info=error)
        status, message = 500, "Unexpected error of the server; the host finds it in the log."
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    response = reply(ErrorReply(message), status)
    response.headers.update(headers)
    return response
