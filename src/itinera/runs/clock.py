"""The clock of a run: how many seconds an agent thinks before each action. Start with `parse_clock`.

Without a clock, no time passes while an agent thinks, and no record depends on the speed of a machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itinera.errors import BadArgument
from itinera.formats.thinking_rates import read_rates
from itinera.records.thinking import MAX_SECONDS

ACT = "act"  # the rate of a table for every action, whatever the agent reports
DIGITS = 6  # of seconds


@dataclass(frozen=True)
class Clock:
    """Seconds of thinking before each action, and whether the body moves on meanwhile."""

    text: str  # as it was given: wall, fixed:SECONDS or table:FILE
    fixed: float | None = None  # seconds of every action
    rates: tuple[tuple[str, float], ...] = ()  # of a table: seconds for a unit of usage, by its name
    overlap: bool = False  # the body goes on with its last action while the agent thinks; else it stands still

    @property
    def is_wall(self) -> bool:
        """Whether it measures, so that no two runs are the same."""
        return self.fixed is None and not self.rates

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the rows, by name."""
        rates = {"rates": dict(self.rates)} if self.rates else {}
        return {"clock": self.text.partition(":")[0] if rates else self.text, **rates, "overlap": self.overlap}

    def seconds(self, measured: float, before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
        """The seconds of an action that took `measured` seconds, by the agent's usage before and after it."""
        if self.fixed is not None:
            return self.fixed
        if not self.rates:
            return round(measured, DIGITS)
        spent = sum(rate * (_amount(after, name) - _amount(before, name)) for name, rate in self.rates if name != ACT)
        return round(min(max(0.0, dict(self.rates).get(ACT, 0.0) + spent), MAX_SECONDS), DIGITS)


def _amount(usage: Mapping[str, Any], name: str) -> float:
    value = usage.get(name, 0.0)
    return float(value) if isinstance(value, int | float) else 0.0


def parse_clock(text: str | None, *, overlap: bool = False) -> Clock | None:
    """The clock of "wall", "fixed:SECONDS" or "table:FILE"; None for none.

    >>> parse_clock("fixed:0.5").seconds(0.01, {}, {})
    0.5
    """
    if text is None:
        if overlap:
            raise BadArgument("--overlap (overlap=True) needs the seconds of thinking: give --clock (clock=).")
        return None
    kind, _, value = text.partition(":")
    if kind == "wall" and not value:
        return Clock(text, overlap=overlap)
    if kind == "fixed":
        return Clock(text, fixed=_parse_seconds(value), overlap=overlap)
    if kind == "table" and value:
        return Clock(text, rates=read_rates(Path(value)), overlap=overlap)
    raise BadArgument(f"clock (--clock) is wall, fixed:SECONDS or table:FILE.json, not {text}.")


def _parse_seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= MAX_SECONDS:
        raise BadArgument(f"fixed (--clock fixed:SECONDS) takes 0 to {MAX_SECONDS:.0f} seconds, not {value!r}.")
    return seconds
