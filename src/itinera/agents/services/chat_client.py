"""Questions to a language model by the chat protocol of OpenAI, which most servers of models speak.

`ChatClient.ask` returns the answer of the store if there is one. Else it asks the server, as often as needed: what a
request has to go through never changes its answer. If there is no answer to get, it raises StopRun, because an error
of a server says nothing about the agent; only a server that refuses the content of a prompt fails the episode.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Annotated, Any

import msgspec

from itinera.agents.agent import StopRun
from itinera.agents.services.answers import (
    LONGEST_ANSWER,
    Answer,
    AnswerStore,
    Usage,
    request_key,
    without_images,
)
from itinera.agents.services.bill import Bill, CostLimit, cost, estimate_usage, most_tokens
from itinera.agents.services.connection import HttpConnection, HttpFailure, HttpReply
from itinera.agents.services.settings import ServiceSettings
from itinera.agents.transport import AgentFailure
from itinera.errors import BadArgument

RETRIED = frozenset({408, 409, 425, 429})  # and all from 500 on
REFUSED = frozenset({400, 413, 422})  # this prompt, not every one
LONGEST_WAIT = 60.0  # seconds, between two tries
LONGEST_RETRY_AFTER = 300.0  # seconds that a server may ask for
NO_KEY = "none"

_Count = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
_log = logging.getLogger("itinera")


class _Usage(msgspec.Struct):
    prompt_tokens: _Count
    completion_tokens: _Count


class _Message(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """The text, joined if it comes in parts; empty for an answer without any, such as a refusal."""
        if isinstance(self.content, list):
            return "".join(str(part.get("text", "")) for part in self.content)
        return self.content or ""


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: Annotated[list[_Choice], msgspec.Meta(min_length=1)]
    model: str | None = None
    usage: _Usage | None = None


_decoder = msgspec.json.Decoder(_Completion)


@dataclass(frozen=True)
class Message:
    """A message of a conversation: its text, and PNG images as data URLs after it."""

    role: str  # system, user or assistant
    text: str
    images: tuple[str, ...] = ()

    def encode(self, detail: str) -> dict[str, Any]:
        """The message as the protocol has it."""
        if not self.images:
            return {"role": self.role, "content": self.text}
        images = [{"type": "image_url", "image_url": {"url": url, "detail": detail}} for url in self.images]
        return {"role": self.role, "content": [{"type": "text", "text": self.text}, *images]}


class ChatClient:
    """A language model on a server, with its answers so far and its bill."""

    def __init__(self, model: str, settings: ServiceSettings, *, sleep: Callable[[float], None] = time.sleep) -> None:
        if not model:
            raise BadArgument("A language model is given as openai:MODEL, with the name its server knows it by.")
        self.model, self._settings, self._sleep = model, settings, sleep
        self._key = find_key(settings.key_variable)
        self._connection = HttpConnection(settings.base_url, seconds=settings.timeout, secret=self._key)
        self._answers = AnswerStore(settings.answers)
        path = settings.answers / "bills" / f"{settings.bill}.jsonl" if settings.bill else None
        self._bill = Bill(path, settings.max_cost)

    def ask(self, messages: Sequence[Message]) -> Answer:
        """The answer to a conversation; raises StopRun, or AgentFailure if the server refuses the prompt."""
        request = self._make_request(messages)
        key = request_key(request)
        return self._answers.find(key) or self._answers.keep(key, self._request(request, messages))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _make_request(self, messages: Sequence[Message]) -> dict[str, Any]:
        settings = self._settings
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [message.encode(settings.image_detail) for message in messages],
            settings.token_field: settings.max_tokens,
            "seed": settings.seed,
        }
        return request if settings.temperature is None else request | {"temperature": settings.temperature}

    def _request(self, request: dict[str, Any], messages: Sequence[Message]) -> Answer:
        price = self._settings.price
        if price is None:
            return self._try_request(request, messages)
        text_bytes = sum(len(message.text.encode()) for message in messages)
        most = cost(price, most_tokens(text_bytes, _count_images(messages), self._settings))
        try:
            self._bill.reserve(most)
        except CostLimit as limit:
            raise StopRun(f"The run stopped at its limit: {limit}.") from None
        try:
            answer = self._try_request(request, messages)
        except (StopRun, AgentFailure):  # after an interruption the reserve stays: the server may be at work
            self._bill.settle(most, 0.0)
            raise
        self._bill.settle(most, cost(price, answer.usage))
        return answer

    def _try_request(self, request: dict[str, Any], messages: Sequence[Message]) -> Answer:
        """The answer of the server, after as many retries as are needed and allowed."""
        body, wait = msgspec.json.encode(request), self._settings.retry_seconds
        for left in range(self._settings.retries, -1, -1):
            asked_wait = 0.0
            try:
                reply = self._connection.post("/chat/completions", body)
                if reply.status == 200:
                    return self._parse(reply, request, messages)
                problem = f"answered with status {reply.status}: {reply.quote()}"
                asked_wait = _retry_after(reply)
                if reply.status in REFUSED:
                    raise AgentFailure(f"The server refuses this prompt (status {reply.status}): {reply.quote()}")
                if reply.status not in RETRIED and reply.status < 500:
                    self._stop(f"{problem}{self._remedy(reply.status)}")
            except HttpFailure as failure:
                problem = str(failure)
            if not left:
                break
            pause = max(min(wait, LONGEST_WAIT), asked_wait)
            _log.info("The server %s; retrying in %.3g s.", problem, pause)
            self._sleep(pause)
            wait *= 2
        tries = self._settings.retries + 1
        return self._stop(problem if tries == 1 else f"{problem} (the last of {tries} tries)")

    def _parse(self, reply: HttpReply, request: dict[str, Any], messages: Sequence[Message]) -> Answer:
        try:
            found = _decoder.decode(reply.body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise HttpFailure(f"answered with something that is no completion ({error}): {reply.quote()}") from None
        text = found.choices[0].message.text
        if found.usage is None:
            characters = sum(len(message.text) for message in messages)
            usage = estimate_usage(characters, _count_images(messages), text, self._settings)
        else:
            usage = Usage(found.usage.prompt_tokens, found.usage.completion_tokens)
        return Answer(
            text[:LONGEST_ANSWER],
            found.model or self.model,
            usage,
            found.choices[0].finish_reason or "",
            without_images(request),
        )

    def _remedy(self, status: int) -> str:
        """What to do about a status that no retry changes."""
        if status == 404:
            return ". Check --base-url (base_url=), which usually ends in /v1, and the name of the model"
        if status not in (401, 403):
            return ""
        name = self._settings.key_variable
        if not self._key:
            return f". Set the key in the environment variable {name}"
        if not self._connection.sends_secret:
            return f". The key in {name} is sent to this machine or over https only"
        return f". Check the key in the environment variable {name}"

    def _stop(self, problem: str) -> Answer:
        raise StopRun(f"The run stopped because the server at {self._connection.url} {problem}.")


def find_key(variable: str) -> str:
    """The key in an environment variable; empty if it is not set."""
    key = "" if variable == NO_KEY else os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise BadArgument(f"The environment variable {variable} contains characters that no key has.")
    return key


def _count_images(messages: Sequence[Message]) -> int:
    return sum(len(message.images) for message in messages)


def _retry_after(reply: HttpReply) -> float:
    """The seconds that a server asks to wait; 0 if it does not."""
    value = reply.headers.get("retry-after", "").strip()
    if not value:
        return 0.0
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):  # neither form, or a date without a time zone
            return 0.0
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER) if seconds == seconds else 0.0  # not for NaN
