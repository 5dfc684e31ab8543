"""A walk on a graph, recorded step by step, with every number worked by hand.

Seen from above, +y up; e stands 2 m higher than the rest, 30 degrees above the horizon for who stands at c:

          e            a (0, 0)    b (0, 2)    c (2, 2)    d (-1, 0)    e (2, 2 + 2 sqrt(3))
          |
      b---c            Clockwise from +y, in degrees:
      | /                  from a: b 0, c 45, d 270        from b: a 180, c 90       from d: a 90
    d-a                    from c: a 225, b 270, e 0       from e: c 180, 30 below the horizon

A view lists what is within 40 degrees to either side of its heading. The lowest row, views 0 to 11, finds everything:

    from a: b in view 0 (320 to 40), c in view 1 (350 to 70), d in view 8 (200 to 280)      -> b c d
    from b: c in view 2 (20 to 100), a in view 5 (110 to 190)                               -> c a
    from c: e in view 0, a in view 7 (170 to 250), b in view 8                              -> e a b

Best seen: level nodes in the level row (12 to 23), so b from a in 12, d from a in 21. c from a is half way between 13
and 14, and the first wins; so is a from c between 19 and 20. e from c is the very middle of 24, c from e that of 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from itinera.worlds import NavGraph

WORLD = NavGraph.from_edges(
    {"a": (0, 0, 0), "b": (0, 2, 0), "c": (2, 2, 0), "d": (-1, 0, 0), "e": (2, 2 + 2 * sqrt(3), 2)},
    [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("c", "e")],
)


@dataclass(frozen=True)
class Moment:
    """What is seen after an action. Angles are degrees: ours, counter-clockwise from +x, and above the horizon."""

    action: int | None  # None: the start
    place: str
    heading: float
    elevation: float
    candidates: str
    views: tuple[int, ...]
    headings: tuple[float, ...]
    elevations: tuple[float, ...]
    distances: tuple[float, ...]


AT_A = "bcd", (12, 13, 21), (90, 45, 180), (0, 0, 0), (2, 2 * sqrt(2), 1)
AT_B = "ca", (15, 18), (0, -90), (0, 0), (2, 2)
AT_C = "eab", (24, 19, 21), (90, -135, 180), (30, 0, 0), (4, 2 * sqrt(2), 2)
AT_E = "c", (6,), (-90,), (-30,), (4,)

# The start, 20 degrees right of +x and 11 up: 110 clockwise from +y, to which 120 is nearest; below 15 is level.
START = ("a", -20.0, 11.0)
PLAY = (
    Moment(None, "a", -30, 0, *AT_A),
    Moment(2, "c", 60, 0, *AT_C),  # view 13: 30 clockwise from +y
    Moment(1, "e", 90, 30, *AT_E),  # view 24
    Moment(0, "e", 90, 30, *AT_E),  # to stop is to stay
    Moment(1, "c", -90, -30, *AT_C),  # view 6
    Moment(3, "b", 180, 0, *AT_B),  # view 21: 270 clockwise from +y
    Moment(2, "a", -90, 0, *AT_A),  # view 18
)
