"""Configurations of policies as training takes them: whole, or some fields of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import msgspec

from itinera.errors import BadArgument, validate_choice


def merge_config(default: Any, config: Any) -> Any:
    """The configuration that was given; some fields of it are merged into the default one."""
    if not isinstance(config, Mapping):
        return default if config is None else config
    names = [field.name for field in fields(default)]
    for name in config:
        validate_choice(f"A field of {type(default).__name__}", str(name), names)
    try:
        return msgspec.convert({**asdict(default), **config}, type(default))
    except msgspec.ValidationError as error:
        raise BadArgument(f"config is not a {type(default).__name__}: {error}.") from None
