"""A server on loopback that speaks the chat protocol of OpenAI, and one of a policy; both count what they receive."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Respond = Callable[[dict[str, Any]], "Raw | str"]  # the answer to a request: its text, or a whole reply


@dataclass(frozen=True)
class Raw:
    """A reply as it is, for servers that misbehave."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: float = 0.0  # seconds before it
    announced: int | None = None  # bytes, if not those of the body
    drip: float = 0.0  # seconds between two bytes


@dataclass
class Server:
    """A running server: where it is, and what it has received."""

    port: int
    path: str = "/v1"
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"

    @property
    def calls(self) -> int:
        return len(self.requests)


def completion(text: str, *, prompt: int = 100, answer: int = 10, model: str = "served-model", **more: Any) -> bytes:
    """The body of a completion."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return json.dumps(
        {"id": "1", "object": "chat.completion", "model": model, "choices": choices, "usage": usage} | more
    ).encode()


@contextmanager
def serving(respond: Respond, *, port: int = 0, path: str = "/v1", chat: bool = True) -> Iterator[Server]:
    """A server in a thread; `respond` may end it by raising ConnectionAbortedError, which closes the connection."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            is_json = self.headers["Content-Type"] == "application/json"
            request = json.loads(body) if is_json else {"form": body}
            with lock:
                server.requests.append(request)
                server.headers.append(dict(self.headers))
                server.paths.append(self.path)
                try:
                    answer = respond(request)
                except ConnectionAbortedError:
                    self.close_connection = True
                    return
            raw = Raw(completion(answer) if chat else answer.encode()) if isinstance(answer, str) else answer
            time.sleep(raw.pause)
            self.send_response(raw.status)
            for name, value in raw.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw.body) if raw.announced is None else raw.announced))
            self.end_headers()
            if raw.announced is not None:
                self.close_connection = True
            for piece in [raw.body[k : k + 1] for k in range(len(raw.body))] if raw.drip else [raw.body]:
                self.wfile.write(piece)
                time.sleep(raw.drip)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

        def handle(self) -> None:
            with suppress(OSError):  # the client has gone
                super().handle()

    httpd = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    httpd.daemon_threads = True
    server = Server(httpd.server_port, path)
    thread = threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()


def last_text(request: dict[str, Any]) -> str:
    """The text of the last message of a request."""
    content = request["messages"][-1]["content"]
    return content if isinstance(content, str) else content[0]["text"]


def images(request: dict[str, Any]) -> list[str]:
    """The data URLs of all images of a request."""
    parts = [part for message in request["messages"] for part in message["content"] if isinstance(part, dict)]
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
