"""HTTP requests with limits of time and size, by the standard library. Start with `HttpConnection`.

Redirects are not followed, and proxies are not used: a request, and the key in it, goes to the named host only.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from itinera.agents.services.urls import is_local, parse_url
from itinera.errors import shorten

LONGEST_BODY = 16 << 20  # bytes
LONGEST_QUOTE = 300  # characters of a reply that a message quotes
SHORTEST_SECRET = 8  # characters; shorter keys, such as "EMPTY", are placeholders and occur in ordinary text


class HttpFailure(Exception):
    """There was no whole reply: another try may get one. Says what happened, after "the server"."""


@dataclass(frozen=True)
class HttpReply:
    """A reply of any status."""

    status: int
    headers: Mapping[str, str]  # by name in lower case
    body: bytes

    def quote(self) -> str:
        """The beginning of the body, on one line."""
        text = " ".join(self.body[: 4 * LONGEST_QUOTE].decode(errors="replace").split())
        return shorten(text, LONGEST_QUOTE)


class HttpConnection:
    """Requests to one server, one after another.

    `secret` is sent as a bearer token, over HTTPS or to this machine only, and is removed from every reply. Without
    `keep_alive` each request has a connection of its own, so that none can be lost with one that the server closed.
    """

    _connection: http.client.HTTPConnection | None = None

    def __init__(self, url: str, *, seconds: float, secret: str = "", keep_alive: bool = True) -> None:
        self.url = parse_url(url)
        parts = urlsplit(self.url)
        self._is_tls, self._host, self._path = parts.scheme == "https", parts.hostname or "", parts.path
        self._port = parts.port
        self._seconds, self._secret, self._keep_alive = seconds, secret, keep_alive

    @property
    def sends_secret(self) -> bool:
        """Whether the secret may be sent: nobody between here and there can read it."""
        return bool(self._secret) and (self._is_tls or is_local(self._host))

    def post(self, path: str, body: bytes, content_type: str = "application/json") -> HttpReply:
        """The reply to a POST request to a path below the URL; raises HttpFailure."""
        headers = {"Content-Type": content_type, "Accept": "application/json", "User-Agent": "itinera"}
        if self.sends_secret:
            headers["Authorization"] = f"Bearer {self._secret}"
        connection = self._connection = self._connection or self._connect()
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            with suppress(OSError, AttributeError):  # it may be closed, or not open yet
                connection.sock.shutdown(socket.SHUT_RDWR)

        # The time limit of a socket is that of each read: a server that sends a byte now and then would never end.
        timer = threading.Timer(self._seconds, expire)
        timer.daemon = True
        timer.start()
        try:
            connection.request("POST", f"{self._path}{path}", body, headers)
            response = connection.getresponse()
            content = response.read(LONGEST_BODY + 1)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if expired.is_set() or isinstance(error, TimeoutError):
                raise HttpFailure(f"did not answer within {self._seconds:g} s") from None
            raise HttpFailure(_describe(error)) from None
        finally:
            timer.cancel()
        if not self._keep_alive or len(content) > LONGEST_BODY or expired.is_set():
            self.close()
        if expired.is_set():
            raise HttpFailure(f"did not answer within {self._seconds:g} s")
        if len(content) > LONGEST_BODY:
            raise HttpFailure(f"answered with more than {LONGEST_BODY >> 20} MB")
        if response.length:  # `read` with a limit does not say that there was less than announced
            self.close()
            raise HttpFailure("closed the connection in the middle of its answer")
        headers = {name.lower(): value for name, value in response.getheaders()}
        return HttpReply(response.status, headers, self._redact(content))

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        self.close()

    def _connect(self) -> http.client.HTTPConnection:
        if self._is_tls:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(self._host, self._port, timeout=self._seconds, context=context)
        return http.client.HTTPConnection(self._host, self._port, timeout=self._seconds)

    def _redact(self, content: bytes) -> bytes:
        """The content without the secret, which some servers quote in their messages."""
        if len(self._secret) < SHORTEST_SECRET:
            return content
        return content.replace(self._secret.encode(), b"[key]")


def _describe(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "refuses connections"
    if isinstance(error, socket.gaierror):
        return f"has an unknown name ({error.strerror})"
    if isinstance(error, ssl.SSLError):
        return f"does not speak HTTPS as it should ({error.reason or error.strerror})"
    if isinstance(error, (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)):
        return "closed the connection without an answer"
    if isinstance(error, http.client.IncompleteRead):
        return "closed the connection in the middle of its answer"
    if isinstance(error, OSError):
        return f"cannot be reached ({error.strerror or error})"
    return f"does not speak HTTP as it should ({type(error).__name__})"
