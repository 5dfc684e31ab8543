"""Requests to a challenge server: JSON, and uploads that continue where they broke off. Standard library only."""

from __future__ import annotations

import hashlib
import http.client
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from itinera.errors import BadArgument, ItineraError, shorten
from itinera.server.messages import ErrorReply, UploadState

T = TypeVar("T")
TIMEOUT = 60.0  # seconds of silence
MAX_REPLY = 64 << 20  # bytes of a JSON reply
ATTEMPTS = 5  # of an upload or a repeatable request
_CHUNK = 1 << 20


class Unreachable(ItineraError):
    """The server does not answer: try again later."""


class Refusal(ItineraError):
    """The server has refused a request; `status` is that of HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """A server and the token that it is asked with.

    url: such as `https://host.example/`. pause: seconds before the first repetition; it doubles with each. keep: use
    one connection for all requests but uploads and downloads, which then come from one thread.
    """

    def __init__(self, url: str, token: str = "", *, pause: float = 0.2, keep: bool = False) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadArgument(f"{url!r} is not the address of a server: give http(s)://HOST[:PORT].")
        self.url = url.rstrip("/")
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._path = parts.path.rstrip("/")
        self._token, self._pause, self._keep = token, pause, keep
        self._kept: http.client.HTTPConnection | None = None

    def close(self) -> None:
        """Close the connection that is kept."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def get(self, path: str, kind: type[T]) -> T:
        """The decoded reply to GET."""
        return self._decode(self._repeat("GET", path), kind)

    def post(self, path: str, message: object, kind: type[T], *, repeat: bool = True) -> T:
        """The decoded reply to POST; repeated if the connection fails, which must do no harm."""
        body = msgspec.json.encode(message)
        headers = {"Content-Type": "application/json"}
        send = self._repeat if repeat else self._send
        return self._decode(send("POST", path, body, headers), kind)

    def exchange(self, path: str, body: bytes, kind: str, *, repeat: bool = True) -> bytes:
        """The content of the reply to POST of other content than JSON, which must do no harm when it is repeated."""
        send = self._repeat if repeat else self._send
        return send("POST", path, body, {"Content-Type": kind})

    def upload(self, file: Path, *, phase: str = "") -> str:
        """The SHA-256 of a file that is on the server now; an upload that broke off continues where it stands."""
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            total = stream.seek(0, 2)
            path = f"/api/blobs/{digest}" + (f"?phase={quote(phase)}" if phase else "")
            for attempt in range(ATTEMPTS):
                try:
                    state = self.get(path, UploadState)
                    if state.complete:
                        return digest
                    self._send_rest(path, stream, state.received, total)
                    return digest
                except (Unreachable, Refusal) as error:
                    conflict = isinstance(error, Refusal) and error.status in (408, 409, 503)
                    if attempt == ATTEMPTS - 1 or (isinstance(error, Refusal) and not conflict):
                        raise
                time.sleep(self._pause * 2**attempt)
        raise AssertionError("unreachable")

    def download(self, path: str, file: Path, digest: str) -> None:
        """Write the content at a path to a file; raises Unreachable unless it has the digest."""
        found = hashlib.sha256()
        connection = self._connect()
        try:
            connection.request("GET", self._path + path, headers=self._headers())
            reply = connection.getresponse()
            if reply.status != 200:
                raise self._refusal(reply.status, reply.read(1 << 16))
            with file.open("wb") as stream:
                while chunk := reply.read(_CHUNK):
                    found.update(chunk)
                    stream.write(chunk)
        except (OSError, http.client.HTTPException) as error:
            raise self._silent(error) from None
        finally:
            connection.close()
        if found.hexdigest() != digest:
            raise Unreachable(f"{self.url} sent other bytes than {digest}; the connection may have broken off.")

    def _send_rest(self, path: str, stream: IO[bytes], offset: int, total: int) -> None:
        stream.seek(offset)
        headers = {"Upload-Offset": str(offset), "Upload-Length": str(total), "Content-Length": str(total - offset)}
        self._send("PUT", path, stream, headers)

    def _repeat(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> bytes:
        for attempt in range(ATTEMPTS):
            try:
                return self._send(method, path, body, headers)
            except (Unreachable, Refusal) as error:
                if attempt == ATTEMPTS - 1 or (isinstance(error, Refusal) and error.status != 503):
                    raise
            time.sleep(self._pause * 2**attempt)
        raise AssertionError("unreachable")

    def _send(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> bytes:
        kept, self._kept = self._kept, None
        if kept is not None:
            with suppress(OSError, http.client.HTTPException):  # the server closes connections that have been idle
                return self._send_over(kept, method, path, body, headers)
        try:
            return self._send_over(self._connect(), method, path, body, headers)
        except (OSError, http.client.HTTPException) as error:
            raise self._silent(error) from None

    def _send_over(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: Any,
        headers: Mapping[str, str] | None,
    ) -> bytes:
        keep = False
        try:
            # A refusal may arrive before all of a body has left; then it explains the broken pipe.
            with suppress(BrokenPipeError):
                connection.request(method, self._path + path, body=body, headers=self._headers() | dict(headers or {}))
            reply = connection.getresponse()
            content = reply.read(MAX_REPLY)
            keep = self._keep and not reply.will_close
        finally:
            if keep:
                self._kept = connection
            else:
                connection.close()
        if reply.status >= 400:
            raise self._refusal(reply.status, content)
        return content

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        return kind(self._host, self._port, timeout=TIMEOUT)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    def _silent(self, error: Exception) -> Unreachable:
        return Unreachable(f"{self.url} does not answer ({error or type(error).__name__}). Try again later.")

    def _refusal(self, status: int, content: bytes) -> Refusal:
        try:
            message = msgspec.json.decode(content, type=ErrorReply).error
        except msgspec.DecodeError:
            message = f"status {status}, {shorten(content.decode('utf-8', 'replace'), 200)!r}"
        return Refusal(status, f"{self.url}: {message}")

    def _decode(self, content: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(content, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Unreachable(f"{self.url} does not answer like a challenge server: {error}.") from None
