"""Requests to an application of the challenge server without a network."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette


def get(app: Starlette, path: str, token: str = "", host: str = "") -> tuple[int, dict[str, str], bytes]:
    """The status, headers and body of the reply to GET."""
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    raw, _, query = path.encode().partition(b"?")
    sent = [(b"authorization", f"Bearer {token}".encode())] if token else []
    sent += [(b"host", host.encode())] if host else []
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": unquote(raw.decode()), "raw_path": raw, "query_string": query, "root_path": "", "headers": sent,
        "server": ("host.example", 80), "client": ("127.0.0.1", 1), "app": app,
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    headers = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    return messages[0]["status"], headers, b"".join(message.get("body", b"") for message in messages)
