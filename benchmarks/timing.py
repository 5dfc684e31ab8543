"""CPU time, which other processes on the machine affect less than wall-clock time."""

from __future__ import annotations

import time
from collections.abc import Callable


def cpu(work: Callable[[], object], repeats: int = 1) -> float:
    """The minimum CPU seconds of several runs."""
    best = float("inf")
    for _ in range(repeats):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return best
