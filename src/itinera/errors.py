"""What can go wrong, sorted by what the reader must do: mend a file, change an argument, install an extra.

Everything Itinera raises on purpose is an `ItineraError`; the command line prints it plainly and leaves with its
`exit_code`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class ItineraError(Exception):
    """The one base of every error raised on purpose."""

    exit_code = 1


class BadArgument(ItineraError):
    """An argument is out of range or does not fit the others: change the call."""

    exit_code = 2


class MissingExtra(ItineraError):
    """An optional package is not installed: install the named extra."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f'{what} need {package}. Install it with: pip install "itinera[{extra}]"')


class NoRoute(ItineraError):
    """No way leads from one place to another."""


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a file: where it stands, what was found, what to do."""

    where: str  # "record 41", "line 3", 'episode "4332_1"'; empty for the file as a whole
    problem: str
    remedy: str = ""
    field: str = ""

    def __str__(self) -> str:
        place = f"{self.where}, field {self.field}" if self.where and self.field else self.where or self.field
        said = f"{place}: {self.problem}" if place else self.problem
        return f"{said}\n  {self.remedy}" if self.remedy else said


class BadFile(ItineraError):
    """A file cannot be used as it is; `faults` names everything that is wrong with it, together."""

    shown = 20

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        super().__init__(self._told())

    def _told(self) -> str:
        lines: list[str] = []
        previous = ""
        for fault in self.faults[: self.shown]:
            text = str(fault)
            # A remedy that many faults share is said once, after the last of them in a row.
            if lines and fault.remedy and fault.remedy == previous:
                lines[-1] = lines[-1].rsplit("\n", 1)[0]
            lines.append(f"{self.source}: {text}")
            previous = fault.remedy
        hidden = len(self.faults) - self.shown
        if hidden > 0:
            lines.append(f"{self.source}: and {hidden} more faults of this file.")
        return "\n".join(lines)


class GoalsWithheld(BadFile):
    """The tasks do not say where the goals are, so nothing can be scored against them."""
