"""The web application of a challenge server. Start with `create_app`."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from sqlalchemy.exc import DBAPIError, TimeoutError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from itinera.errors import ItineraError
from itinera.server.live_play import LivePlay
from itinera.server.live_routes import TokenMemory, make_live_routes
from itinera.server.messages import ErrorReply
from itinera.server.openapi import make_description_route
from itinera.server.queue import expire_leases
from itinera.server.requests import GuessLimiter, call, refuse, reply
from itinera.server.routes import make_routes
from itinera.server.service import Service

HOUSEKEEPING_SECONDS = 10.0
# Their replies are complete; any other exception is also logged by the web server.
_EXPECTED = (ItineraError, OSError, DBAPIError, TimeoutError, ClientDisconnect)
logger = logging.getLogger("itinera")

# For JSON and files of this interface; pages have a policy of their own.
_HEADERS = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


def create_app(service: Service, *, pages: Sequence[BaseRoute] = (), guesses: GuessLimiter | None = None) -> Starlette:
    """The application: the JSON interface, and the routes of pages beside it."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(_keep_house(service, app.state.live))
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    interface = [*make_routes(), *make_live_routes()]
    app = Starlette(
        routes=[*interface, make_description_route(interface), *pages],
        middleware=[Middleware(_Headers)],
        exception_handlers={HTTPException: _refuse_path, **dict.fromkeys(_EXPECTED, refuse), Exception: refuse},
        lifespan=lifespan,
    )
    app.state.service = service
    app.state.guesses = GuessLimiter() if guesses is None else guesses
    app.state.replies = Counter()
    app.state.live = LivePlay(service)
    app.state.live_tokens, app.state.live_workers = TokenMemory("submit"), TokenMemory("worker")
    return app


async def _keep_house(service: Service, live: LivePlay) -> None:
    """Take back lost leases, end live sessions in time and remove stale uploads, for ever."""
    while True:
        try:
            await call(expire_leases, service.store)
            await live.close_expired()
            await call(service.blobs.remove_stale)
        except Exception as error:  # such as a database that restarts
            logger.error("Housekeeping failed, and is repeated: %s", error)
        await asyncio.sleep(HOUSEKEEPING_SECONDS)


async def _refuse_path(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = reply(ErrorReply(f"{error.detail}: {request.method} {request.url.path}"), error.status_code)
    response.headers.update(error.headers or {})
    return response


class _Headers:
    """Adds security headers where a route has none, and counts replies."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                scope["app"].state.replies[message["status"]] += 1
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(one for one in _HEADERS if one[0] not in present)]
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)
