"""A challenge server on a free port of this machine, in a thread of the test or in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


class Served:
    """`itinera serve` in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-m", "itinera", "serve", str(folder), "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        self.url = self.line.split(" at ")[1].strip()

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code
