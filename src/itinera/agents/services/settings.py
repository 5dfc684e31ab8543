"""The settings of an agent behind a web service, checked: `ServiceSettings` and `make_settings`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from itinera.agents.services.urls import parse_url
from itinera.errors import BadArgument, validate_choice

CHAT = "openai:"  # before the name of a model
STYLES = ("choices", "words", "pixel")
UNPARSABLE = ("fail", "random", "forward", "stop")
DETAILS = ("low", "high", "auto")
TOKEN_FIELDS = ("max_tokens", "max_completion_tokens")
ANSWERS = Path("itinera-answers")
MAX_IMAGE = 4096  # pixels of a side


@dataclass(frozen=True)
class ServiceSettings:
    """Everything that an agent behind a web service is told besides its name."""

    base_url: str = ""  # of the chat protocol, such as http://localhost:8000/v1
    prompt: str | None = None  # one of STYLES; by default choices where there are candidates, else words
    price: tuple[float, float] | None = None  # US dollars per million tokens: of the prompt, of the answer
    max_cost: float | None = None  # US dollars
    answers: Path = ANSWERS  # the folder of answers
    seed: int = 0
    bill: str = ""  # the name of the run's bill in that folder; empty: not kept on disk
    # The options of `--agent-option`:
    temperature: float | None = 0.0  # None: not sent
    max_tokens: int = 1000  # of an answer
    token_field: str = "max_tokens"  # the name of that limit in a request
    unparsable: str = "fail"  # what happens after the last answer that names no action
    repeats: int = 2  # how often a question is repeated after such an answer
    history: int = 7  # earlier images in a prompt
    images: bool = False  # choices: an image of every option, rendered
    image_size: str = "320x240"  # of these images
    image_detail: str = "low"
    image_tokens: int = 1000  # of an image, for the bill
    timeout: float = 120.0  # seconds, of a request
    retries: int = 5  # of a request
    retry_seconds: float = 1.0  # before the first retry; doubled before each other
    key_variable: str = "OPENAI_API_KEY"  # the environment variable with the key; "none" for no key

    @property
    def decisive(self) -> dict[str, Any]:
        """What decides the rows of a run, by name. Where the model is served and how often is retried does not."""
        names = (
            *("prompt", "temperature", "max_tokens", "token_field", "seed", "unparsable", "repeats", "history"),
            *("images", "image_size", "image_detail", "price"),
        )
        return {name: getattr(self, name) for name in names}


# The options by name, with what they may be.
_COUNTS = {"max_tokens": 1, "repeats": 0, "history": 0, "image_tokens": 0, "retries": 0}
_LIMITS = {"max_tokens": 1_000_000, "repeats": 100, "history": 100, "image_tokens": 1_000_000, "retries": 1000}
_CHOICES = {"token_field": TOKEN_FIELDS, "unparsable": UNPARSABLE, "image_detail": DETAILS}
_SECONDS = ("timeout", "retry_seconds")
OPTIONS = tuple(field.name for field in fields(ServiceSettings))[7:]


def is_chat(agent: object) -> bool:
    """Whether a name is that of a language model."""
    return isinstance(agent, str) and agent.startswith(CHAT)


def is_web_agent(agent: object) -> bool:
    """Whether a name is the URL of a policy server."""
    return isinstance(agent, str) and agent.startswith(("http://", "https://"))


def make_settings(
    options: Mapping[str, bool | int | float | str],
    *,
    base_url: str | None = None,
    prompt: str | None = None,
    price: tuple[float, float] | None = None,
    max_cost: float | None = None,
    answers: Path | None = None,
    seed: int = 0,
) -> ServiceSettings:
    """The settings of a language model; `options` are those of `--agent-option`."""
    if base_url is None:
        raise BadArgument(
            "A language model needs its server: --base-url (base_url=), such as http://localhost:8000/v1."
        )
    if prompt is not None:
        validate_choice("prompt", prompt, STYLES)
    if max_cost is not None and price is None:
        raise BadArgument("--max-cost (max_cost=) needs the price of tokens: --price (price=).")
    if price is not None and not all(0 <= dollars < math.inf for dollars in price):
        raise BadArgument(f"A price is in dollars per million tokens, 0 or more (got {price[0]:g},{price[1]:g}).")
    if max_cost is not None and not 0 <= max_cost < math.inf:
        raise BadArgument(f"max_cost must be ≥ 0 (got {max_cost:g}).")
    settings = ServiceSettings(parse_url(base_url), prompt, price, max_cost, answers or ANSWERS, seed)
    return replace(settings, **{name: _parse_option(name, value) for name, value in options.items()})


def _parse_option(name: str, value: bool | int | float | str) -> Any:
    """The value of an option, in range."""
    validate_choice("--agent-option (agent_options=)", name, OPTIONS)
    if name in _CHOICES:
        return validate_choice(name, str(value), _CHOICES[name])
    if name in _COUNTS:
        low, high = _COUNTS[name], _LIMITS[name]
        if type(value) is not int or not low <= value <= high:
            raise BadArgument(f"{name} must be a whole number from {low} to {high} (got {value!r}).")
        return value
    if name in _SECONDS:
        if isinstance(value, bool | str) or not 0 < value < math.inf:
            raise BadArgument(f"{name} must be above 0 s (got {value!r}).")
        return float(value)
    if name == "temperature":
        if value == "none":
            return None
        if isinstance(value, bool | str) or not 0 <= value <= 10:
            raise BadArgument(
                f"temperature must be a number from 0 to 10, or none for that of the server (got {value!r})."
            )
        return float(value)
    if name == "images":
        if not isinstance(value, bool):
            raise BadArgument(f"images must be true or false (got {value!r}).")
        return value
    if name == "image_size":
        parse_size(str(value))
    elif not str(value).isidentifier():
        raise BadArgument("key_variable is the name of an environment variable, or none; never the key itself.")
    return str(value)


def parse_size(size: str) -> tuple[int, int]:
    """Width and height in pixels."""
    width, _, height = size.partition("x")
    if width.isdecimal() and height.isdecimal() and 0 < int(width) <= MAX_IMAGE and 0 < int(height) <= MAX_IMAGE:
        return int(width), int(height)
    raise BadArgument(f"image_size is WIDTHxHEIGHT in pixels, such as 320x240 (got {size!r}).")


def parse_price(text: str) -> tuple[float, float]:
    """The two prices of INPUT,OUTPUT, in dollars per million tokens.

    >>> parse_price("2.5,10")
    (2.5, 10.0)
    """
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError:
        raise BadArgument(
            f"--price is INPUT,OUTPUT in dollars per million tokens, such as 2.5,10 (got {text!r})."
        ) from None
    return first, second
