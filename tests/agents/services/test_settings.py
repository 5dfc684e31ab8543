"""The settings of language models: every option in range, and which of them decide a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from itinera.agents.services.settings import (
    OPTIONS,
    ServiceSettings,
    is_chat,
    is_web_agent,
    make_settings,
    parse_price,
    parse_size,
)
from itinera.errors import BadArgument

URL = "http://localhost:8000/v1"


def test_options_become_settings():
    options = {"temperature": 0.5, "max_tokens": 50, "unparsable": "random", "images": True, "image_size": "64x48"}
    settings = make_settings(options, base_url=URL + "/", prompt="words", price=(1.0, 2.0), max_cost=3.0, seed=7)
    assert settings.base_url == URL
    assert (settings.temperature, settings.max_tokens, settings.unparsable, settings.seed) == (0.5, 50, "random", 7)
    assert settings.answers == Path("itinera-answers")
    assert make_settings({"temperature": "none"}, base_url=URL).temperature is None


def test_every_option_is_documented():
    text = (Path(__file__).parents[3] / "docs" / "language-models.md").read_text(encoding="utf-8")
    assert [name for name in OPTIONS if f"`{name}" not in text] == []


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"tempratur": 0.5}, "Did you mean temperature"),
        ({"temperature": -1}, "0 to 10"),
        ({"temperature": True}, "0 to 10"),
        ({"temperature": float("nan")}, "0 to 10"),
        ({"max_tokens": 0}, "1 to"),
        ({"max_tokens": 2.5}, "whole number"),
        ({"repeats": True}, "whole number"),
        ({"retries": -1}, "0 to"),
        ({"timeout": 0}, "above 0 s"),
        ({"timeout": "long"}, "above 0 s"),
        ({"retry_seconds": float("inf")}, "above 0 s"),
        ({"unparsable": "ignore"}, "fail, random, forward, stop"),
        ({"token_field": "n"}, "max_completion_tokens"),
        ({"image_detail": "best"}, "low, high, auto"),
        ({"images": 1}, "true or false"),
        ({"image_size": "640"}, "WIDTHxHEIGHT"),
        ({"image_size": "0x5"}, "WIDTHxHEIGHT"),
        ({"image_size": "9999x5"}, "WIDTHxHEIGHT"),
        ({"key_variable": "sk-secret"}, "never the key itself"),
    ],
)
def test_options_out_of_range_are_refused(options, problem):
    with pytest.raises(BadArgument, match=problem) as caught:
        make_settings(options, base_url=URL)
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"base_url": None}, "needs its server"),
        ({"base_url": "localhost:8000"}, "not the URL"),
        ({"base_url": URL, "prompt": "chat"}, "choices, words, pixel"),
        ({"base_url": URL, "max_cost": 1.0}, "needs the price"),
        ({"base_url": URL, "price": (-1.0, 1.0)}, "0 or more"),
        ({"base_url": URL, "price": (1.0, float("nan"))}, "0 or more"),
        ({"base_url": URL, "price": (1.0, 1.0), "max_cost": -1.0}, "≥ 0"),
    ],
)
def test_other_arguments_are_checked(given, problem):
    with pytest.raises(BadArgument, match=problem):
        make_settings({}, **given)


def test_where_and_how_often_is_asked_does_not_decide_a_run():
    one = ServiceSettings(URL, "words", (1.0, 1.0), seed=1)
    other = ServiceSettings("http://h", "words", (1.0, 1.0), 5.0, Path("a"), 1, "b", timeout=1.0, retries=0)
    assert one.decisive == other.decisive
    assert one.decisive != ServiceSettings(URL, "words", (1.0, 1.0), seed=2).decisive
    assert one.decisive != ServiceSettings(URL, "words", (1.0, 2.0), seed=1).decisive


def test_names_of_agents_behind_services_are_known():
    assert [is_chat(name) for name in ("openai:m", "openai", "m:openai", object())] == [True, False, False, False]
    assert [is_web_agent(name) for name in ("http://h", "https://h", "localhost:5000", None)] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("text", ["2.5", "1,2,3", "a,b", ""])
def test_other_prices_are_refused(text):
    with pytest.raises(BadArgument, match="INPUT,OUTPUT"):
        parse_price(text)


def test_sizes_are_parsed():
    assert parse_size("320x240") == (320, 240)
