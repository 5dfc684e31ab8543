"""A challenge server on a free port of this machine, in a thread of the test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from itinera.server.app import create_app
from itinera.server.requests import GuessLimiter
from itinera.server.service import Service


@contextmanager
def live_server(service: Service, guesses: GuessLimiter | None = None) -> Iterator[str]:
    """The URL of a server that runs until the block ends."""
    config = uvicorn.Config(create_app(service, guesses=guesses), port=0, log_level="critical", lifespan="on")
    socket = config.bind_socket()
    socket.listen()
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        socket.close()
