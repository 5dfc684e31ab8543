"""What a golden case is made of, and the worlds several of them share. Letters stand as many metres apart as drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp
from typing import Any

from itinera.worlds import NavGraph
from text_worlds import graph

Values = dict[str, Any]
STREET = graph("a-b-c-d-e-f")


@dataclass(frozen=True)
class Asked:
    """An episode and the walk that answers it."""

    reference: Any
    walk: Any
    goals: Any = None
    stated: float | None = None
    stopped: bool = True


@dataclass(frozen=True)
class Drawn:
    """A case, with the values worked by hand for what it is about."""

    name: str
    why: str
    asked: dict[str, Asked]
    by_hand: dict[str, dict[str, Values]]
    world: NavGraph | None = STREET  # None: open space, where places are x or (x, y)
    tours: dict[str, list[str]] = field(default_factory=dict)
    split: dict[str, Values] = field(default_factory=dict)
    needs_stop: bool = False
    suites: tuple[str, ...] = ()  # those the case says anything about; all that fit the world unless named


WIDE = graph("a--b--c")
SQUARE = graph("""
    a-b
    | |
    d-c
""")
TREE = graph("""
    a-b-c-d
      |
      x
""")
RING = graph("""
    a-b-c
    |   |
    g-e-d
""")
PARTED = graph("a-b c-d")
STAIRS = NavGraph.from_edges({"a": (0.0, 0.0, 0.0), "b": (4.0, 0.0, 3.0)}, [("a", "b")])

PERFECT = dict.fromkeys(("SR", "OSR", "SPL", "SED", "SED_nodes", "nDTW", "SDTW", "PC", "LS", "CLS"), 1.0)
ONE_SHORT = (3 + exp(-2 / 3)) / 4  # coverage where the last of four places is missed by 2 m
