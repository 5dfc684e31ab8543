"""Outcomes: a result, or an error of ours in words, because not every exception can be sent between processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeAlias, cast

from itinera.errors import ItineraError
from itinera.runs.engines.engine import Chunk, Result

Outcome: TypeAlias = tuple[Result | None, tuple[str, int] | None]  # the result, or message and exit code of an error


class Catching(Generic[Chunk, Result]):
    """A function that returns outcomes."""

    def __init__(self, function: Callable[[Chunk], Result]) -> None:
        self._function = function

    def __call__(self, chunk: Chunk) -> Outcome[Result]:
        try:
            return self._function(chunk), None
        except ItineraError as error:
            return None, (str(error), error.exit_code)

    def close(self) -> None:
        """End the processes that the function holds, if it holds any."""
        close = getattr(self._function, "close", None)
        if close is not None:
            close()


def unwrap(outcome: Outcome[Result]) -> Result:
    """The result; raises the error if there is one."""
    result, error = outcome
    if error is not None:
        raise make_error(*error)
    return cast(Result, result)


def make_error(message: str, exit_code: int) -> ItineraError:
    """An error that came from another process in words."""
    error = ItineraError(message)
    error.exit_code = exit_code
    return error
