"""The errors of the package, sorted by what the reader must do: fix a file, change an argument, install an extra.

Everything Itinera raises on purpose is an `ItineraError`; the command line prints its message and exits with its
`exit_code`. Messages quote files and agents that nobody vouches for, so `escape_controls` makes them safe to print.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Characters that change what a terminal shows without being seen themselves: control characters (which begin escape
# sequences), bidirectional and zero-width format characters, line separators, tags, and unpaired surrogates.
INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
LINE_BREAKS = re.compile("[\t\n]")
LONGEST_MESSAGE = 20_000  # characters


def escape_controls(text: str, *, one_line: bool = False) -> str:
    r"""The text with every invisible character written as its escape, such as \x1b or \u202e.

    Line breaks and tabs are kept, as layout of our own; `one_line` escapes them too, for names inside a line.

    >>> print(escape_controls("\x1b[2Jdone"))
    \x1b[2Jdone
    """
    if text.isprintable():
        return text
    visible = INVISIBLE.sub(_escape, text)
    return LINE_BREAKS.sub(_escape, visible) if one_line else visible


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode()


def shorten(text: str, max_chars: int) -> str:
    """The text, or its beginning and end with the number of characters left out between them.

    >>> shorten("a" * 100, 50)
    'aaaaaaaaaaaaaaaaaaaaaaaaa … (50 characters more) … aaaaaaaaaaaaaaaaaaaaaaaaa'
    """
    if len(text) <= max_chars:
        return text
    half = max_chars // 2
    return f"{text[:half]} … ({len(text) - 2 * half} characters more) … {text[-half:]}"


class ItineraError(Exception):
    """Base class of every error raised on purpose."""

    exit_code = 1

    def __str__(self) -> str:
        return shorten(escape_controls(super().__str__()), LONGEST_MESSAGE)


class BadArgument(ItineraError):
    """An argument is out of range or does not fit the others: change the call."""

    exit_code = 2


class MissingExtra(ItineraError):
    """An optional package is not installed: install the named extra."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f'{what} need {package}. Install it with: pip install "itinera[{extra}]"')


class MissingPackage(ItineraError):
    """A package that no extra installs is needed for this call: install it."""

    def __init__(self, what: str, package: str) -> None:
        super().__init__(f"{what} needs {package}. Install it with: pip install {package}")


class NoRoute(ItineraError):
    """No path leads from one place to another."""


@dataclass(frozen=True)
class Fault:
    """One problem of a file: where it is, what was found, what to do."""

    where: str  # "record 41", "line 3", 'episode "4332_1"'; empty for the file as a whole
    problem: str
    remedy: str = ""
    field: str = ""

    def __str__(self) -> str:
        # Ids and names of a file may contain anything; each stays within its line.
        where, field = (escape_controls(shorten(part, 300), one_line=True) for part in (self.where, self.field))
        problem = escape_controls(shorten(self.problem, 2000), one_line=True)
        place = f"{where}, field {field}" if where and field else where or field
        text = f"{place}: {problem}" if place else problem
        return f"{text}\n  {self.remedy}" if self.remedy else text


class BadFile(ItineraError):
    """A file cannot be used as it is; `faults` lists every problem found in it.

    `complete` is False if reading stopped before the end because there were too many.
    """

    max_faults = 20  # in the message

    def __init__(self, source: str, faults: Iterable[Fault], *, complete: bool = True) -> None:
        self.source, self.complete = source, complete
        self.faults = tuple(faults)
        super().__init__(self._message())

    def _message(self) -> str:
        lines: list[str] = []
        source = escape_controls(self.source, one_line=True)
        previous = ""
        for fault in self.faults[: self.max_faults]:
            text = str(fault)
            # A remedy that consecutive faults share is printed once, after the last of them.
            if lines and fault.remedy and fault.remedy == previous:
                lines[-1] = lines[-1].rsplit("\n", 1)[0]
            lines.append(f"{source}: {text}")
            previous = fault.remedy
        hidden = len(self.faults) - self.max_faults
        if hidden > 0:
            at_least = "" if self.complete else "at least "
            lines.append(f"{source}: and {at_least}{hidden} more faults of this file.")
        return "\n".join(lines)


class GoalsWithheld(BadFile):
    """The tasks do not contain their goals, so nothing can be scored against them."""


def validate_choice(name: str, value: str, choices: Iterable[str]) -> str:
    """The value if it is among the choices, else a `BadArgument` that lists them and suggests the nearest.

    `name` is the argument as the reader knows it: `suite` in Python, `--suite` on the command line.

    >>> validate_choice("missing", "zero", ("fail", "zero"))
    'zero'
    """
    allowed: Sequence[str] = tuple(choices)
    if value not in allowed:
        from difflib import get_close_matches

        near = get_close_matches(str(value), allowed, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise BadArgument(f"{name} must be one of {', '.join(allowed)}, not {value!r}.{hint}")
    return value
