"""A challenge server on a free port of this machine, in a thread of the test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from itinera.server.app import create_app
from itinera.server.page_routes import make_page_routes
from itinera.server.public_pages import PublicPages
from itinera.server.requests import GuessLimiter
from itinera.server.service import Service
from itinera.server.serving import open_socket


@contextmanager
def live_server(service: Service, guesses: GuessLimiter | None = None) -> Iterator[str]:
    """The URL of a server that runs until the block ends."""
    app = create_app(service, pages=make_page_routes(PublicPages(service)), guesses=guesses)
    config = uvicorn.Config(app, log_level="critical", lifespan="on")
    socket = open_socket("127.0.0.1", 0)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        socket.close()
