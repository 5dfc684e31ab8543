"""Settings files: a short TOML file whose keys are the fields of a dataclass. Start with `read_settings`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import UNDECODABLE, make_fault
from itinera.formats.io import read_bytes

MAX_BYTES = 1 << 20  # of a settings file

T = TypeVar("T")


def read_settings(file: Path, kind: type[T], *, noun: str, command: str) -> T:
    """The settings of a file as a dataclass; every unknown key and every wrong value is reported.

    `noun` ("a recipe") and `command` ("itinera train") occur in the messages.
    """
    assert is_dataclass(kind)
    values = read_toml(file, command=command)
    faults = list(find_setting_faults(values, kind, noun))
    if faults:
        raise BadFile(str(file), faults)
    try:
        return convert_settings(values, kind)
    except UNDECODABLE as error:  # a missing key
        raise BadFile(str(file), [make_fault(error, "")]) from None


def read_toml(file: Path, *, command: str) -> dict[str, Any]:
    """The keys and values of a TOML file."""
    try:
        return tomllib.loads(read_bytes(file, limit=MAX_BYTES).decode("utf-8"))
    except tomllib.TOMLDecodeError as error:
        remedy = f'Write key = "value" lines; see the documentation of `{command}`.'
        raise BadFile(str(file), [Fault("", f"is not TOML: {error}.", remedy)]) from None
    except UNDECODABLE as error:
        raise BadFile(str(file), [make_fault(error, "")]) from None


def convert_settings(values: dict[str, Any], kind: type[T]) -> T:
    """The values as a dataclass; raises one of `UNDECODABLE` for a wrong value or a missing key."""
    return msgspec.convert(values, kind, dec_hook=_decode_path)


def find_setting_faults(values: dict[str, Any], kind: type[Any], noun: str) -> Iterator[Fault]:
    """Every unknown key, and every value of the wrong type or out of range."""
    known, types = [one.name for one in fields(kind)], get_type_hints(kind, include_extras=True)
    for key, value in values.items():
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"Did you mean {near[0]}? " if near else ""
            yield Fault("", f"is not a key of {noun}.", f"{hint}The keys are {', '.join(known)}.", key)
            continue
        try:
            msgspec.convert({key: value}, msgspec.defstruct("Setting", [(key, types[key])]), dec_hook=_decode_path)
        except UNDECODABLE as error:
            yield make_fault(error, "")


def _decode_path(kind: type, value: Any) -> Any:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise ValueError(f"Expected `str`, got `{type(value).__name__}`")
