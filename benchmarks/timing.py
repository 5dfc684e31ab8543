"""CPU time, which other people's work on the machine disturbs least."""

from __future__ import annotations

import time
from collections.abc import Callable


def cpu(work: Callable[[], object], repeats: int = 1) -> float:
    """The least CPU seconds of several runs."""
    best = float("inf")
    for _ in range(repeats):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return best
