"""The rules of the released scorers of REVERIE, SOON and NDH in plain Python, one attempt at a time.

Written from the behavior of DUET's and CVDN's scripts rather than from our options, so that they can verify the suites.
None stands for undefined: an assertion that fails, a division of nothing by nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from twins import Distance

Values = dict[str, float | None]
Box = tuple[float, float, float, float]  # left and right heading, lower and upper elevation


def length(path: Sequence[str], far: Distance) -> float:
    return sum(far(a, b) for a, b in pairwise(path))


def duet_reverie(
    walk: Sequence[str], reference: Sequence[str], viewpoints: Sequence[str], named: bool, far: Distance
) -> Values:
    """DUET on REVERIE: only the viewpoints decide; paths are compared with the length of the reference."""
    best, gone = length(reference, far), length(walk, far)
    share = best / max(gone, best, 0.01)
    found: Values = {"PL": gone, "steps": len(walk) - 1, "RGS": float(named), "RGSPL": named * share}
    if not viewpoints:
        return found | {"SR": None, "OSR": None, "SPL": None}
    arrived = walk[-1] in viewpoints
    passed = any(node in viewpoints for node in walk)
    return found | {"SR": float(arrived), "OSR": float(passed), "SPL": arrived * share}


def duet_soon(
    walk: Sequence[str],
    reference: Sequence[str],
    boxes: Mapping[str, Box],
    pointed: tuple[float, float] | None,
    far: Distance,
) -> Values:
    """DUET on SOON: the goal moves to the last node if that has a box, but not for the choice of the nearest node."""
    start, end, goal = walk[0], walk[-1], reference[-1]
    nearest = min(walk, key=lambda node: far(node, goal))
    detected = False
    if end in boxes:
        goal = end
        left, right, low, high = boxes[end]
        inside = min(left, right) < (pointed or (0, 0))[0] < max(left, right)
        detected = pointed is not None and inside and low < pointed[1] < high
    best, gone = far(start, goal), length(walk, far)
    share = best / max(gone, best, 0.01)
    error, oracle = far(end, goal), far(nearest, goal)
    return {
        "PL": gone,
        "steps": len(walk) - 1,
        "NE": error,
        "ONE": oracle,
        "SR": float(error < 3),
        "OSR": float(oracle < 3),
        "SPL": (error < 3) * share,
        "GP": best - error,
        "det-SR": float(detected),
        "det-SPL": detected * share,
    }


def cvdn(walk: Sequence[str], reference: Sequence[str], goals: Sequence[str], far: Distance) -> Values:
    """CVDN on NDH: progress towards the goals, everything else to the end of the reference."""
    end, gone, best = reference[-1], length(walk, far), far(walk[0], reference[-1])
    errors = [far(node, end) for node in walk]
    share = best / max(gone, best) if best > 0 else float(gone == 0)
    return {
        "PL": gone,
        "NE": errors[-1],
        "ONE": min(errors),
        "SR": float(errors[-1] < 3),
        "OSR": float(min(errors) < 3),
        "SPL": (errors[-1] < 3) * share,
        "GP": min(far(walk[0], goal) for goal in goals) - min(far(walk[-1], goal) for goal in goals),
    }
