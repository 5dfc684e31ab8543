"""What a run of a language model costs: the price of a request, an estimate beforehand, and a bill with a limit.

The bill of a run is a file that its processes share. Before a request, the most that it can cost is reserved there;
after it, the real cost takes its place. So the limit holds however many processes ask at once, and also after a kill.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from itinera.agents.services.answers import Usage
from itinera.agents.services.settings import ServiceSettings

MILLION = 1_000_000
CHARACTERS_PER_TOKEN = 4  # of English, on average
MESSAGE_TOKENS = 50  # of the frame of a request
# Tokens of the first prompt of an episode, and those that each later one adds; without images.
FIRST_TOKENS = {"choices": 800, "words": 450, "pixel": 450}
MORE_TOKENS = {"choices": 40, "words": 10, "pixel": 10}
METERS_PER_ANSWER = {"words": 0.75, "pixel": 1.5}
TURNS_PER_MOVE = 1.5  # answers on the ground that turn, for each that moves
ANSWER_TOKENS = 80
VIEW_OPTIONS = 4  # candidates of a typical viewpoint
USD_DIGITS = 9  # of costs in files


class CostLimit(Exception):
    """The next request could cost more than is left. Says what was spent."""


def cost(price: tuple[float, float], usage: Usage) -> float:
    """US dollars.

    >>> cost((2.5, 10.0), Usage(1000, 100))
    0.0035
    """
    return round((price[0] * usage.prompt_tokens + price[1] * usage.completion_tokens) / MILLION, USD_DIGITS)


def most_tokens(text_bytes: int, images: int, settings: ServiceSettings) -> Usage:
    """More tokens than a request can have: a token of text is at least a byte."""
    return Usage(MESSAGE_TOKENS + text_bytes + images * settings.image_tokens, settings.max_tokens)


def estimate_usage(characters: int, images: int, answer: str, settings: ServiceSettings) -> Usage:
    """The tokens of a request of which the server does not say them."""
    prompt = MESSAGE_TOKENS + -(-characters // CHARACTERS_PER_TOKEN) + images * settings.image_tokens
    return Usage(prompt, -(-len(answer) // CHARACTERS_PER_TOKEN), estimated=True)


@dataclass(frozen=True)
class Estimate:
    """The bill of a run before it starts, from averages of prompts and the lengths of the references."""

    episodes: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None  # US dollars; None without a price

    def __str__(self) -> str:
        text = (
            f"Estimate: {self.episodes} episodes, {self.calls} calls, {self.prompt_tokens:,} + "
            f"{self.completion_tokens:,} tokens"
        )
        return f"{text}." if self.cost is None else f"{text}, about {self.cost:.2f} US dollars."


def estimate_bill(style: str, lengths: Sequence[float], settings: ServiceSettings, *, images: bool) -> Estimate:
    """The bill of episodes with these lengths of their references: moves for choices, metres else.

    images: whether questions have images: of the options for choices, else of the camera, now and earlier.
    """
    calls = prompt = 0
    for length in lengths:
        moves = length if style == "choices" else length / METERS_PER_ANSWER[style] * (1 + TURNS_PER_MOVE)
        questions = round(moves) + 1  # the last one stops
        calls += questions
        prompt += questions * FIRST_TOKENS[style] + MORE_TOKENS[style] * questions * (questions - 1) // 2
        if images and style == "choices":
            prompt += questions * VIEW_OPTIONS * settings.image_tokens
        elif images:
            prompt += sum(1 + min(k, settings.history) for k in range(questions)) * settings.image_tokens
    usage = Usage(prompt, calls * ANSWER_TOKENS)
    total = None if settings.price is None else cost(settings.price, usage)
    return Estimate(len(lengths), calls, usage.prompt_tokens, usage.completion_tokens, total)


class _Entry(msgspec.Struct, array_like=True):
    """A line of a bill: a change of what is spent, US dollars."""

    change: float


_encoder, _decoder = msgspec.json.Encoder(), msgspec.json.Decoder(_Entry)


class Bill:
    """The costs of a run so far, and their limit. Without a file, those of this process."""

    def __init__(self, path: Path | None, limit: float | None) -> None:
        self._path, self._limit = path, limit
        self._spent, self._position = 0.0, 0

    @property
    def spent(self) -> float:
        """US dollars, as far as this process knows; what is reserved counts as spent."""
        return round(self._spent, USD_DIGITS)

    def reserve(self, upper: float) -> None:
        """Add the most that a request can cost; raises CostLimit if that could exceed the limit."""
        with self._open() as stream:
            self._refresh(stream)
            if self._limit is not None and round(self._spent + upper, USD_DIGITS) > self._limit:
                raise CostLimit(
                    f"its calls have cost {self.spent:.4g} US dollars, and the next one could exceed --max-cost "
                    f"{self._limit:g} (max_cost=)"
                )
            self._add(stream, upper)

    def settle(self, upper: float, real: float) -> None:
        """Replace what was reserved by the real cost."""
        with self._open() as stream:
            self._refresh(stream)
            self._add(stream, real - upper)

    def _add(self, stream: int | None, change: float) -> None:
        self._spent += change
        if stream is not None:
            # A line of its own even if the one before was cut off.
            line = b"\n%b\n" % _encoder.encode(_Entry(round(change, USD_DIGITS)))
            self._position += os.write(stream, line)

    def _refresh(self, stream: int | None) -> None:
        """Read what other processes have added."""
        if stream is None:
            return
        size = os.fstat(stream).st_size
        content = os.pread(stream, size - self._position, self._position)
        self._position = size
        for line in content.splitlines():
            try:
                self._spent += _decoder.decode(line).change
            except msgspec.DecodeError:  # empty, or cut off when the machine failed
                continue

    @contextmanager
    def _open(self) -> Iterator[int | None]:
        """The file, locked."""
        if self._path is None:
            yield None
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        stream = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _lock(stream)
            yield stream
        finally:
            os.close(stream)  # which releases the lock


def _lock(stream: int) -> None:
    try:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX)
    except (ImportError, OSError):  # this system, or file system, has no such locks
        return
