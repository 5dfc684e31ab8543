"""The server process: the web application on uvicorn, workers as processes of their own, and hourly backups."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from socket import AF_INET, AF_INET6, IPPROTO_TCP, TCP_NODELAY, create_server, socket
from types import FrameType

import uvicorn

from itinera.errors import BadArgument, ItineraError
from itinera.server.app import create_app
from itinera.server.backup import back_up
from itinera.server.folder import ServerFolder
from itinera.server.page_routes import make_page_routes
from itinera.server.public_pages import PublicPages
from itinera.server.service import Service
from itinera.server.teams import make_token, revoke_tokens_labelled

TOKEN_VARIABLE = "ITINERA_TOKEN"  # read by `itinera work` and `itinera submit`
GRACE_SECONDS = 15
BACKUP_SECONDS = 3600.0
_BACKLOG = 2048
_LABEL = "embedded worker"
logger = logging.getLogger("itinera")


def run_server(
    server: ServerFolder,
    *,
    host: str = "127.0.0.1",
    port: int = 8321,
    workers: int = 1,
    backup: Path | None = None,
    lease_seconds: float = 60.0,
    on_start: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until SIGINT or SIGTERM: then requests in progress end, workers stop, and nothing accepted is lost.

    port: 0 for any free one. on_start: called with the URL once the port is open.
    """
    service = Service(server.store, server.blobs, lease_ms=round(lease_seconds * 1000))
    config = uvicorn.Config(
        create_app(service, pages=make_page_routes(PublicPages(service))),
        log_level="warning",
        timeout_graceful_shutdown=GRACE_SECONDS,
        server_header=False,
        access_log=False,
    )
    listening = open_socket(host, port)
    address = f"[{host}]" if ":" in host else host
    url = f"http://{address}:{listening.getsockname()[1]}"
    stopping = threading.Event()
    threads = [threading.Thread(target=_back_up_hourly, args=(server, backup, stopping))] if backup is not None else []
    if workers:
        arguments = (url, server.folder, _make_worker_token(server), stopping)
        threads += [threading.Thread(target=_supervise, args=arguments) for _ in range(workers)]
    for thread in threads:
        thread.start()
    try:
        on_start(url)
        _Server(config, stopping, threads).run(sockets=[listening])
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
        listening.close()


def open_socket(host: str, port: int) -> socket:
    """A socket on which connections wait from now on; raises BadArgument if another program uses the port."""
    try:
        made = create_server((host, port), family=AF_INET6 if ":" in host else AF_INET, backlog=_BACKLOG)
    except OSError:
        raise BadArgument(f"Cannot listen on {host}:{port}: another program may use the port. Choose --port.") from None
    # asyncio does so only for sockets that it makes; without, each reply on an open connection waits 40 ms for an ACK.
    made.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    return made


class _Server(uvicorn.Server):
    """Stops in two steps: the workers finish and report what they judge, then the server answers no more."""

    def __init__(self, config: uvicorn.Config, stopping: threading.Event, threads: Sequence[threading.Thread]) -> None:
        super().__init__(config)
        self._stopping, self._threads = stopping, threads

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._stopping.is_set():  # the second signal: at once
            self.should_exit = self.force_exit = True
            return
        self._stopping.set()
        threading.Thread(target=self._wait_for_workers).start()

    def _wait_for_workers(self) -> None:
        for thread in self._threads:
            thread.join()
        self.should_exit = True


def _make_worker_token(server: ServerFolder) -> str:
    """A token for the workers of this process; those of an earlier one end."""
    with server.store.write() as db:
        time = server.store.clock()
        revoke_tokens_labelled(db, _LABEL, time=time)
        return make_token(db, "worker", time=time, label=_LABEL)


def _supervise(url: str, folder: Path, token: str, stopping: threading.Event) -> None:
    """Run a worker until the server stops, again if it ends."""
    command = [sys.executable, "-m", "itinera", "--quiet", "work", url, "--challenge", str(folder)]
    command += ["--give-up", "60"]  # so that it ends if this process is killed
    pause = 1.0
    while not stopping.is_set():
        # The token is in the environment, where other users cannot read it, unlike arguments.
        process = subprocess.Popen(command, env=os.environ | {TOKEN_VARIABLE: token}, stdin=subprocess.DEVNULL)
        while process.poll() is None and not stopping.wait(0.2):
            pass
        if process.poll() is None:
            _end(process)
            return
        if not stopping.is_set():
            logger.error(f"A worker ended with exit code {process.returncode}; another one begins in {pause:g} s.")
            stopping.wait(pause)
            pause = min(pause * 2, 60.0)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:  # its lease returns to the queue
        process.kill()
        process.wait()


def _back_up_hourly(server: ServerFolder, target: Path | None, stopping: threading.Event) -> None:
    assert target is not None
    while True:
        try:
            back_up(server.store, server.folder, target)
        except (ItineraError, OSError) as error:
            logger.error(f"The backup failed: {error}")
        if stopping.wait(BACKUP_SECONDS):
            return
