"""The golden cases of `src/itinera/metrics/conformance.json`, and the command that writes them.

Each case gives values worked by hand for what it is about, `by_hand`; the rest is filled in by the plain-Python
scorers of `released.py`, which must agree with the hand. Nothing here calls the code under test.

    python tests/golden/conformance.py     (from the project's root; then read the diff)
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from math import dist, exp, inf, sqrt
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import msgspec
from drawn import STREET, graph, graph_distance
from released import EPISODES, TOURS, Attempt, tour_weight

FILE = Path(__file__).parents[2] / "src/itinera/metrics/conformance.json"
ABOUT = (
    "Golden cases for scorers of instruction following. In each case a world (a graph whose edges are as long as the "
    "straight line between their ends, or open space), episodes, one walk per episode and, for every suite of "
    "conventions, the values expected: metres and fractions, null where undefined or refused, 'inf' where unreachable. "
    "'split' is the mean over tours with the suite's weights."
)
GRAPH_SUITES = ("paper", "m3ds", "envdrop", "hamt", "google", "ivln")
OPEN_SUITES = ("paper", "vlnce", "ivln-ce")

Values = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """An episode and the walk that answers it."""

    reference: Any
    walk: Any
    goals: Any = None
    start: Any = None
    stated: float | None = None
    stopped: bool = True


@dataclass(frozen=True)
class Drawn:
    name: str
    why: str
    asked: dict[str, Asked]
    by_hand: dict[str, dict[str, Values]]
    world: str | None = STREET  # None: open space, places are x, or (x, y), or (x, y, z)
    tours: dict[str, list[str]] = field(default_factory=dict)
    split: dict[str, Values] = field(default_factory=dict)
    needs_stop: bool = False
    suites: tuple[str, ...] = ()  # those the case says anything about; all that fit the world unless named


WIDE = "a--b--c"
SQUARE = """
    a-b
    | |
    d-c
"""
TREE = """
    a-b-c-d
      |
      x
"""
HOOK = """
    a-b-c
    |   |
    g-e-d
"""

PERFECT = dict.fromkeys(("SR", "OSR", "SPL", "SED", "SED_nodes", "nDTW", "SDTW", "PC", "LS", "CLS"), 1.0)
ONE_SHORT = (3 + exp(-2 / 3)) / 4  # coverage where the last of four places is missed by 2 m

CASES = (
    Drawn(
        "the reference itself",
        "Nodes stand 2 m apart in a line. Who walks the reference gets 1 everywhere; PL = 3 x 2 = 6.",
        {"1": Asked("abcd", "abcd")},
        {"paper": {"1": {**PERFECT, "PL": 6, "steps": 3, "NE": 0, "ONE": 0, "DTW": 0}}},
    ),
    Drawn(
        "one short",
        "Stops 2 m before the goal, within 3 m. SPL = 6 / max(4, 6) = 1. Alignment d-c costs 2: nDTW = exp(-2 / (3 x 4)). "
        "One of three edges is missing: SED = 2/3, over nodes 3/4. PC = (3 + exp(-2/3)) / 4 = 0.878354, expected length "
        "6 PC = 5.270126, LS = 5.270126 / (5.270126 + 1.270126) = 0.805799.",
        {"1": Asked("abcd", "abc")},
        {
            "paper": {
                "1": {
                    **{"PL": 4, "NE": 2, "SR": 1, "SPL": 1, "DTW": 2, "nDTW": exp(-1 / 6), "SDTW": exp(-1 / 6)},
                    **{"SED": 2 / 3, "SED_nodes": 3 / 4, "PC": ONE_SHORT},
                    "LS": 6 * ONE_SHORT / (12 * ONE_SHORT - 4),
                    "CLS": 6 * ONE_SHORT**2 / (12 * ONE_SHORT - 4),
                }
            },
            "hamt": {"1": {"CLS": 6 * ONE_SHORT**2 / (12 * ONE_SHORT - 4), "SPL": 1, "SDTW": exp(-1 / 6)}},
        },
    ),
    Drawn(
        "overshoot",
        "Goes one node past the goal and stops 2 m beyond it: a success with PL = 8. SPL = 6/8. e aligned with d costs 2. "
        "One edge too many over max(5, 4) - 1 = 4: SED = 3/4. All is covered, PC = 1, LS = 6 / (6 + 2) = 3/4.",
        {"1": Asked("abcd", "abcde")},
        {"paper": {"1": {"PL": 8, "ONE": 0, "SPL": 0.75, "nDTW": exp(-1 / 6), "SED": 0.75, "CLS": 0.75}}},
    ),
    Drawn(
        "past the goal and away",
        "Passes the goal c and ends 6 m beyond: an oracle success (ONE = 0) but no success, so SPL, SED and SDTW are 0. "
        "d, e, f aligned with c cost 2 + 4 + 6 = 12: nDTW = exp(-12/9). PC = 1, expected 4, walked 10: CLS = 4 / (4 + 6).",
        {"1": Asked("abc", "abcdef")},
        {
            "paper": {
                "1": {"NE": 6, "ONE": 0, "SR": 0, "OSR": 1, "SPL": 0, "SED": 0, "SDTW": 0, "nDTW": exp(-12 / 9), "CLS": 0.4}
            }
        },
    ),
    Drawn(
        "the wrong way",
        "Asked from c to f, walks from c to a. Both starts and both ends must meet; best is c-c 0, c-d 2, b-e 6, a-f 10 = 18: "
        "nDTW = exp(-18/12). PC = (1 + e^(-2/3) + e^(-4/3) + e^(-2)) / 4.",
        {"1": Asked("cdef", "cba")},
        {
            "paper": {
                "1": {
                    **{"NE": 10, "ONE": 6, "SR": 0, "OSR": 0, "DTW": 18, "nDTW": exp(-1.5)},
                    "PC": (1 + exp(-2 / 3) + exp(-4 / 3) + exp(-2)) / 4,
                }
            }
        },
    ),
    Drawn(
        "never left the start",
        "A walk of one place is a walk: PL 0, DTW = 0 + 2 + 4 + 6 = 12, nDTW = exp(-12/12). Coverage of the start alone "
        "still earns PC = (1 + e^(-2/3) + e^(-4/3) + e^(-2)) / 4, with LS = E / (E + E) = 1/2.",
        {"1": Asked("abcd", "a")},
        {
            "paper": {
                "1": {
                    **{"PL": 0, "steps": 0, "NE": 6, "SR": 0, "nDTW": exp(-1), "LS": 0.5},
                    "CLS": (1 + exp(-2 / 3) + exp(-4 / 3) + exp(-2)) / 8,
                }
            }
        },
    ),
    Drawn(
        "repeats on the path",
        "A node logged twice in a row adds no length and aligns at no cost, so nDTW and CLS stay 1 although the walk is "
        "not the reference. The extra edge (b, b) is one edit of max(5, 4) - 1 = 4: SED = 3/4. In the google scripts b-b "
        "is no edge: lengths, and so CLS, fail.",
        {"1": Asked("abcd", "abbcd")},
        {
            "paper": {"1": {"PL": 6, "steps": 4, "SPL": 1, "nDTW": 1, "CLS": 1, "SED": 0.75, "SED_nodes": 0.8}},
            "google": {"1": {"PL": None, "CLS": None, "nDTW": 1}},
            "hamt": {"1": {"CLS": 1, "nDTW": 1, "steps": 4}},
        },
    ),
    Drawn(
        "repeats off the path",
        "Two stays on x, 2 m beside b, cost 2 x 2: nDTW = exp(-4/12), where one would cost exp(-2/12). PL = 2 x 5 = 10, "
        "SPL = 6/10; three edges too many, bx xx xb, of max(7, 4) - 1 = 6: SED = 1/2. PC = 1, LS = 6 / (6 + 4).",
        {"1": Asked("abcd", "abxxbcd")},
        {
            "paper": {"1": {"PL": 10, "SPL": 0.6, "SED": 0.5, "nDTW": exp(-4 / 12), "CLS": 0.6}},
            "google": {"1": {"CLS": None}},
        },
        world=TREE,
    ),
    Drawn(
        "walked in threes",
        "SED counts directed edges: a b a b against a b has the extra edges ba, ab, two of max(4, 2) - 1 = 3: SED = 1/3; "
        "over nodes two of four: 1/2. PL = 6, SPL = 2/6; PC = 1, LS = 2 / (2 + 4) = 1/3. DTW: a-a 0, b-a 2 or a-b 2, once.",
        {"1": Asked("ab", "abab")},
        {"paper": {"1": {"SED": 1 / 3, "SED_nodes": 0.5, "SPL": 1 / 3, "CLS": 1 / 3, "DTW": 2, "nDTW": exp(-2 / 6)}}},
    ),
    Drawn(
        "a loop, standing still",
        "Start and goal coincide; the reference goes round a square of 8 m. L = d(start, goal) = 0 and nothing walked: "
        "paper decides 1, m3ds divides 0 by 0, envdrop has 0 / max(0, 0, 0.01) = 0. hamt compares with the loop: "
        "8 / max(8, 0) = 1 for an agent that never moved. DTW = 0 + 2 + 4 + 2 + 0 = 8: nDTW = exp(-8/15).",
        {"1": Asked("abcda", "a")},
        {
            "paper": {"1": {"SR": 1, "SPL": 1, "SED": 0, "nDTW": exp(-8 / 15)}},
            "m3ds": {"1": {"SR": 1, "SPL": None}},
            "envdrop": {"1": {"SR": 1, "SPL": 0}},
            "hamt": {"1": {"SR": 1, "SPL": 1}},
        },
        world=SQUARE,
    ),
    Drawn(
        "a loop, walked",
        "The same loop walked as asked: L = 0 and 8 m walked give SPL 0 by d(start, goal) (paper, m3ds, envdrop), "
        "8 / max(8, 8) = 1 by the reference (hamt, ivln).",
        {"1": Asked("abcda", "abcda")},
        {
            "paper": {"1": {**PERFECT, "SPL": 0, "PL": 8}},
            "m3ds": {"1": {"SPL": 0}},
            "envdrop": {"1": {"SPL": 0}},
            "hamt": {"1": {"SPL": 1}},
            "ivln": {"1": {"SPL": 1}},
        },
        world=SQUARE,
    ),
    Drawn(
        "asked to stay, stays",
        "A reference of one node. SPL: paper 1, m3ds 0/0, envdrop and hamt 0 / 0.01 = 0. CLS: expected and walked length "
        "are 0; paper decides 1, released code divides 0 by 0. SED over no edges: 1.",
        {"1": Asked("b", "b")},
        {
            "paper": {"1": PERFECT},
            "m3ds": {"1": {"SPL": None}},
            "envdrop": {"1": {"SPL": 0}},
            "hamt": {"1": {"SPL": 0, "CLS": None, "nDTW": 1}},
            "google": {"1": {"CLS": None, "nDTW": 1, "SDTW": 1}},
        },
    ),
    Drawn(
        "asked to stay, comes back",
        "Moves 2 m and returns: SR 1, but SPL 0 (L = 0, PL = 4), CLS 0 (expected 0, walked 4), SED 0. DTW = 2: exp(-2/3).",
        {"1": Asked("b", "bab")},
        {
            "paper": {"1": {"SR": 1, "SPL": 0, "CLS": 0, "SED": 0, "nDTW": exp(-2 / 3)}},
            "m3ds": {"1": {"SPL": 0}},
            "hamt": {"1": {"SPL": 0, "CLS": 0}},
            "google": {"1": {"CLS": 0}},
        },
    ),
    Drawn(
        "exactly three metres",
        "Nodes stand 3 m apart; stops one short, 3.0 m from the goal. The papers and the google scripts count a distance "
        "of the radius (<=), the other scorers do not (<). SPL = 6 / max(3, 6) = 1. nDTW = exp(-3/9).",
        {"1": Asked("abc", "ab")},
        {
            "paper": {"1": {"NE": 3, "SR": 1, "OSR": 1, "SPL": 1, "SDTW": exp(-1 / 3)}},
            "m3ds": {"1": {"SR": 0, "OSR": 0, "SPL": 0}},
            "envdrop": {"1": {"SR": 0, "OSR": 0, "SPL": 0}},
            "hamt": {"1": {"SR": 0, "OSR": 0, "SPL": 0, "SDTW": 0, "nDTW": exp(-1 / 3)}},
            "google": {"1": {"SR": 1, "SDTW": exp(-1 / 3)}},
            "ivln": {"1": {"SR": 0}},
        },
        world=WIDE,
    ),
    Drawn(
        "a jump over a node",
        "The walk leaves out c. paper and m3ds refuse it: a submission must log every node. envdrop, hamt and ivln add "
        "the graph distance: PL = 2 + 4 = 6, SPL 1; c is missed by 2 m: nDTW = exp(-2/12), PC = (3 + e^(-2/3)) / 4, "
        "expected 6 PC = 5.270126, LS = 5.270126 / (5.270126 + 0.729874). In the google scripts the missing edge fails CLS.",
        {"1": Asked("abcd", "abd")},
        {
            "paper": {"1": {"SR": None, "PL": None, "nDTW": None}},
            "m3ds": {"1": {"SR": None, "PL": None}},
            "envdrop": {"1": {"PL": 6, "SR": 1, "SPL": 1}},
            "hamt": {"1": {"PL": 6, "SPL": 1, "nDTW": exp(-2 / 12), "CLS": ONE_SHORT * ONE_SHORT}},
            "google": {"1": {"PL": None, "CLS": None, "SR": 1, "nDTW": exp(-2 / 12)}},
        },
    ),
    Drawn(
        "starts elsewhere",
        "The walk lacks the start a. All scorers refuse it but the google scripts, which score it: PL = 4, one reference "
        "place missed by 2 m, nDTW = exp(-2/12), PC = (3 + e^(-2/3)) / 4, expected 5.270126, walked 4.",
        {"1": Asked("abcd", "bcd")},
        {
            "paper": {"1": {"SR": None, "nDTW": None}},
            "m3ds": {"1": {"SR": None}},
            "envdrop": {"1": {"SR": None}},
            "hamt": {"1": {"SR": None, "CLS": None}},
            "google": {"1": {"SR": 1, "PL": 4, "nDTW": exp(-1 / 6), "CLS": 6 * ONE_SHORT**2 / (12 * ONE_SHORT - 4)}},
        },
    ),
    Drawn(
        "a reference that returns",
        "The reference a b x b c d looks into x and comes back; the walk skips x. b counts once per occurrence: "
        "PC = (5 + e^(-2/3)) / 6. x aligned with b costs 2: nDTW = exp(-2/18). Two of five edges are missing: SED = 3/5. "
        "By d(start, goal) = 6 SPL is 1; by the reference's 10 m also 10 / max(10, 6) = 1.",
        {"1": Asked("abxbcd", "abcd")},
        {
            "paper": {"1": {"PC": (5 + exp(-2 / 3)) / 6, "nDTW": exp(-2 / 18), "SED": 0.6, "SPL": 1}},
            "hamt": {"1": {"SPL": 1, "nDTW": exp(-2 / 18)}},
        },
        world=TREE,
    ),
    Drawn(
        "a long way round, followed",
        "The reference leads 10 m from a to g round the other side of a ring although g is 2 m away. Who follows it gets "
        "SPL = 2/10 by d(start, goal) and 10 / max(10, 10) = 1 by the reference (hamt, ivln): the difference between "
        "scorers on R4R.",
        {"1": Asked("abcdeg", "abcdeg")},
        {
            "paper": {"1": {**PERFECT, "SPL": 0.2}},
            "m3ds": {"1": {"SPL": 0.2}},
            "envdrop": {"1": {"SPL": 0.2}},
            "hamt": {"1": {"SPL": 1}},
            "ivln": {"1": {"SPL": 1}},
        },
        world=HOOK,
    ),
    Drawn(
        "a long way round, cut short",
        "The same task by the short cut a g: SPL 1 for both, since neither asks for the path; fidelity does. Alignment: "
        "a-a 0, a-b 2, a-c 4, g-d 4, g-e 2, g-g 0 = 12: nDTW = exp(-12/18). No edge is right: SED = 0.",
        {"1": Asked("abcdeg", "ag")},
        {"paper": {"1": {"SPL": 1, "DTW": 12, "nDTW": exp(-12 / 18), "SED": 0}}, "hamt": {"1": {"SPL": 1}}},
        world=HOOK,
    ),
    Drawn(
        "several goals",
        "Any of the goals b and f will do; the nearest counts, at the end (e is 2 m from f), on the way (b itself) and at "
        "the start (a is 2 m from b). SPL = 2 / max(8, 2) = 1/4. Scorers with one goal have nothing to say here.",
        {"1": Asked("abcdef", "abcde", goals="bf")},
        {"paper": {"1": {"NE": 2, "ONE": 0, "SR": 1, "SPL": 0.25}}},
        suites=("paper",),
    ),
    Drawn(
        "a goal no way leads to",
        "The goal lies in another part of the graph: errors are infinite, every rate is 0 and nothing is undefined. Only "
        "a is covered: PC = 1/2, but the reference has no finite length to live up to, so LS and CLS are 0.",
        {"1": Asked("ac", "ab")},
        {
            "paper": {
                "1": {
                    **{"NE": inf, "ONE": inf, "SR": 0, "OSR": 0, "SPL": 0, "SED": 0, "nDTW": 0, "PC": 0.5, "LS": 0},
                    "CLS": 0,
                }
            }
        },
        world="a-b c-d",
        suites=("paper",),
    ),
    Drawn(
        "stairs",
        "Distances are in three dimensions: an edge 4 m along and 3 m up is 5 m long. One short is 5 m off: a failure.",
        {"1": Asked("ab", "ab"), "2": Asked("ab", "a")},
        {"paper": {"1": {**PERFECT, "PL": 5}, "2": {"PL": 0, "NE": 5, "SR": 0, "nDTW": exp(-5 / 6)}}},
        world="stairs",
    ),
    Drawn(
        "a tour, dwelling at its very start",
        "Two episodes, the first with a node logged twice at its start. Under both rules the repeat aligns with the "
        "reference's first place at no cost: t-nDTW = 1. (IVLN restricts a reference's first place only after the first "
        "episode.)",
        {"1": Asked("abc", "aabc"), "2": Asked("cde", "cde")},
        {
            "paper": {"tour": {"t-nDTW": 1, "t-SR": 1, "t-SPL": 1}},
            "ivln": {"tour": {"t-nDTW": 1, "t-SR": 1, "t-SPL": 1}},
        },
        tours={"tour": ["1", "2"]},
    ),
    Drawn(
        "a tour, dwelling inside it",
        "The same dwell at the start of the second episode. By the paper it is free. In IVLN's window the reference's "
        "first place c may meet only the agent's first c, so the second c must meet d, 2 m: t-nDTW = exp(-2 / (3 x 6)).",
        {"1": Asked("abc", "abc"), "2": Asked("cde", "ccde")},
        {"paper": {"tour": {"t-nDTW": 1}}, "ivln": {"tour": {"t-nDTW": exp(-2 / 18)}}},
        tours={"tour": ["1", "2"]},
    ),
    Drawn(
        "a tour is not the mean of its episodes",
        "First episode perfect (DTW 0, 3 places), second one short (DTW 2, 2 places: the agent stayed at e). By the paper "
        "costs and places add up: t-nDTW = exp(-2 / (3 x 5)) = 0.875173; the mean of nDTW would be (1 + exp(-2/6)) / 2 = "
        "0.858266. t-SR = 1; t-SPL = 1 (L = 2, PL = 0).",
        {"1": Asked("abc", "abc"), "2": Asked("ef", "e")},
        {
            "paper": {"tour": {"t-nDTW": exp(-2 / 15), "t-SR": 1, "t-SPL": 1}, "2": {"nDTW": exp(-2 / 6)}},
            "ivln": {"tour": {"t-nDTW": exp(-2 / 15)}},
        },
        tours={"tour": ["1", "2"]},
    ),
    Drawn(
        "a tour with no alignment left",
        "The middle episode has two reference places, d and e; the agent logs three, d c e as d c d e. In IVLN's window d "
        "may meet only the first and e only the last, so the places between have nothing to meet: undefined. By the "
        "paper c-d costs 2: t-nDTW = exp(-2 / (3 x 6)).",
        {"1": Asked("ab", "ab"), "2": Asked("de", "dcde"), "3": Asked("ef", "ef")},
        {"paper": {"tour": {"t-nDTW": exp(-2 / 18)}}, "ivln": {"tour": {"t-nDTW": None}}},
        tours={"tour": ["1", "2", "3"]},
    ),
    Drawn(
        "tours of different length",
        "Tour 'short' is one episode, one short (t-nDTW = exp(-2/6)); tour 'long' is three perfect ones. Tours weigh by "
        "their episodes: (1 x exp(-1/3) + 3 x 1) / 4. t-SR = 1 for both.",
        {"1": Asked("ab", "a"), "2": Asked("ab", "ab"), "3": Asked("bc", "bc"), "4": Asked("cd", "cd")},
        {
            "paper": {"short": {"t-nDTW": exp(-1 / 3)}, "long": {"t-nDTW": 1}},
            "ivln": {"short": {"t-nDTW": exp(-1 / 3)}, "long": {"t-nDTW": 1}},
        },
        tours={"short": ["1"], "long": ["2", "3", "4"]},
        split={"paper": {"t-nDTW": (exp(-1 / 3) + 3) / 4}, "ivln": {"t-nDTW": (exp(-1 / 3) + 3) / 4}},
    ),
    Drawn(
        "long failures weigh more in IVLN",
        "First episode perfect, second a failure: from c to d, 2 m, the agent walks c b a, 4 m. Episodes weigh alike by "
        "the paper: t-SR = 1/2. IVLN weighs them by max(d, PL) / d, 1 and 2: t-SR = 1 / (1 + 2).",
        {"1": Asked("ab", "ab"), "2": Asked("cd", "cba")},
        {
            "paper": {"tour": {"t-SR": 0.5, "t-SPL": 0.5}},
            "ivln": {"tour": {"t-SR": 1 / 3, "t-SPL": 1 / 3}},
        },
        tours={"tour": ["1", "2"]},
    ),
    Drawn(
        "open space, stopped",
        "Positions in metres, straight lines. 4 m asked, 3 m walked, stopped 1 m short: SPL = 4 / max(3, 4) = 1, "
        "DTW: 0 + 0 + 0 + 0 and the last metre 1: nDTW = exp(-1 / (3 x 5)).",
        {"1": Asked((0, 1, 2, 3, 4), (0, 1, 2, 3))},
        {
            "paper": {"1": {"PL": 3, "NE": 1, "SR": 1, "SPL": 1, "nDTW": exp(-1 / 15)}},
            "vlnce": {"1": {"PL": 3, "NE": 1, "SR": 1, "SPL": 1, "nDTW": exp(-1 / 15)}},
        },
        world=None,
    ),
    Drawn(
        "open space, ran out of steps",
        "Stands on the goal but never said stop. Under a protocol that does not ask for it (paper here) a success; VLN-CE "
        "always asks: SR = SPL = SDTW = 0, while the oracle's success and nDTW stay 1.",
        {"1": Asked((0, 1, 2), (0, 1, 2), stopped=False)},
        {
            "paper": {"1": PERFECT},
            "vlnce": {"1": {"SR": 0, "SPL": 0, "SDTW": 0, "OSR": 1, "nDTW": 1}},
        },
        world=None,
    ),
    Drawn(
        "open space, stop asked for by the protocol",
        "The same walk under a protocol that asks for STOP, which paper takes from the protocol.",
        {"1": Asked((0, 1, 2), (0, 1, 2), stopped=False)},
        {"paper": {"1": {"SR": 0, "SPL": 0, "SED": 0, "SDTW": 0, "OSR": 1, "nDTW": 1, "CLS": 1}}},
        world=None,
        needs_stop=True,
    ),
    Drawn(
        "open space, exactly three metres",
        "Stops 3 m from the goal: <= in paper, < in VLN-CE. Starts meet, 1 meets 4: nDTW = exp(-3/6).",
        {"1": Asked((0, 4), (0, 1))},
        {
            "paper": {"1": {"NE": 3, "SR": 1, "SPL": 1, "nDTW": exp(-3 / 6)}},
            "vlnce": {"1": {"NE": 3, "SR": 0, "SPL": 0, "OSR": 0}},
        },
        world=None,
    ),
    Drawn(
        "open space, turning in place off the path",
        "Three records at (2, 2), 2 m beside the path: paper aligns each with (2, 0) for 2 + 2 + 2, nDTW = exp(-6 / 9); "
        "VLN-CE drops positions equal to the one before: exp(-2 / 9). PL = 4 sqrt(2) for both, SPL = 4 / (4 sqrt(2)).",
        {"1": Asked(((0, 0), (2, 0), (4, 0)), ((0, 0), (2, 2), (2, 2), (2, 2), (4, 0)))},
        {
            "paper": {"1": {"steps": 4, "PL": 4 * sqrt(2), "SPL": 1 / sqrt(2), "nDTW": exp(-6 / 9)}},
            "vlnce": {"1": {"PL": 4 * sqrt(2), "SPL": 1 / sqrt(2), "nDTW": exp(-2 / 9)}},
        },
        world=None,
    ),
    Drawn(
        "open space, coarse to fine",
        "VLN-CE warps approximately (FastDTW, radius 1). Along a line the agent is at 0 2 6 4 2 4, the reference at "
        "0 -2 -4 0 2. Exact: 0 with 0 -2 -4 0 costs 6, 2 with 2 nothing, 6 4 2 4 with 2 cost 4 + 2 + 0 + 2: 14. Averaged "
        "in pairs they are 1 5 3 and -1 -2; the coarse alignment (1, -1), (5, -1), (3, -2) widened by one cell keeps the "
        "agent's second place from meeting the reference's last, so it meets 0 instead, 2 m more: 16.",
        {"1": Asked((0, -2, -4, 0, 2), (0, 2, 6, 4, 2, 4))},
        {
            "paper": {"1": {"DTW": 14, "nDTW": exp(-14 / 15)}},
            "vlnce": {"1": {"nDTW": exp(-16 / 15), "SR": 1}},
            "ivln-ce": {"1": {"nDTW": exp(-16 / 15)}},
        },
        world=None,
    ),
    Drawn(
        "open space, a stated distance",
        "The tasks file states 6 m from start to goal, round a wall this world does not know; 8 m are walked. VLN-CE "
        "takes what the simulator said: SPL = 6/8; paper measures: 4/8.",
        {"1": Asked((0, 4), (0, 4, 2, 4), stated=6.0)},
        {"paper": {"1": {"PL": 8, "SPL": 0.5}}, "vlnce": {"1": {"PL": 8, "SPL": 0.75}}},
        world=None,
    ),
    Drawn(
        "open space, on the goal from the start",
        "Start and goal coincide and the agent stops at once: paper decides SPL = 1; VLN-CE divides 0 by 0.",
        {"1": Asked((0,), (0,))},
        {"paper": {"1": PERFECT}, "vlnce": {"1": {"SR": 1, "SPL": None, "nDTW": 1}}},
        world=None,
    ),
    Drawn(
        "open space, two tours",
        "Tour 'pair': first episode perfect, in the second a dwell at (1, 0) and a wait at its start. Paper: the wait is "
        "free and the dwell on the path too, t-nDTW = 1. IVLN-CE drops both repeats first: also 1. Tour 'alone' is one "
        "episode, 1 m short of 2 places: exp(-1/6). Paper weighs by episodes, (2 x 1 + exp(-1/6)) / 3; IVLN-CE by changes "
        "of episode, 1 and 0: 1.",
        {
            "1": Asked((0, 1, 2), (0, 1, 2)),
            "2": Asked((0, 1, 2), (0, 0, 1, 1, 2)),
            "3": Asked((0, 2), (0, 1)),
        },
        {
            "paper": {"pair": {"t-nDTW": 1}, "alone": {"t-nDTW": exp(-1 / 6)}},
            "ivln-ce": {"pair": {"t-nDTW": 1}, "alone": {"t-nDTW": exp(-1 / 6)}},
        },
        world=None,
        tours={"pair": ["1", "2"], "alone": ["3"]},
        split={"paper": {"t-nDTW": (2 + exp(-1 / 6)) / 3}, "ivln-ce": {"t-nDTW": 1}},
    ),
    Drawn(
        "open space, a tour that ends an episode early",
        "In the first of two episodes the agent walks 0 1 2 1 and stops 1 m before the goal at 2. By the paper it pays for "
        "the last place only: 0-0, 1-1, 2-2, 1-2 = 1, t-nDTW = exp(-1 / (3 x 5)). In IVLN-CE's window the goal may meet "
        "only the stop point, so 2 meets 1 and costs 1 more: exp(-2/15).",
        {"1": Asked((0, 1, 2), (0, 1, 2, 1)), "2": Asked((5, 6), (5, 6))},
        {"paper": {"tour": {"t-nDTW": exp(-1 / 15)}}, "ivln-ce": {"tour": {"t-nDTW": exp(-2 / 15)}}},
        world=None,
        tours={"tour": ["1", "2"]},
    ),
)


def built() -> dict[str, Any]:
    """The whole file, values filled in."""
    return {"about": ABOUT, "version": 1, "cases": [_case(drawn) for drawn in CASES]}


def _case(drawn: Drawn) -> dict[str, Any]:
    attempts = {name: _attempt(drawn, asked) for name, asked in drawn.asked.items()}
    suites = drawn.suites or (OPEN_SUITES if drawn.world is None else GRAPH_SUITES)
    expected: dict[str, Any] = {}
    for suite in suites:
        expected[suite] = {name: EPISODES[suite](attempt) for name, attempt in attempts.items()}
        if suite in TOURS:
            legs = {tour: [attempts[name] for name in names] for tour, names in drawn.tours.items()}
            expected[suite] |= {tour: TOURS[suite](leg) for tour, leg in legs.items()}
    _compare(drawn.name, expected, drawn.by_hand)
    case = {"name": drawn.name, "why": drawn.why, "world": _world(drawn.world)}
    case["episodes"] = [_episode(drawn, name) for name in drawn.asked]
    case["walks"] = {
        name: {"places": _places(drawn, a.walk), "stopped": a.stopped} for name, a in drawn.asked.items()
    }
    case |= {"radius": 3.0, "needs_stop": drawn.needs_stop}
    if drawn.tours:
        case["tours"] = drawn.tours
        means = {suite: _means(suite, drawn.tours, expected[suite]) for suite in suites if suite in TOURS}
        _compare(drawn.name, {"split": means}, {"split": drawn.split})
        case["split"] = means
    case["expected"] = expected
    return _jsonable(case)


def _compare(name: str, found: dict[str, Any], by_hand: dict[str, dict[str, Values]]) -> None:
    for suite, rows in by_hand.items():
        for row, values in rows.items():
            for metric, value in values.items():
                got = found[suite][row][metric]
                same = got is value if value is None or got is None else got == value or abs(got - value) < 1e-12
                assert same, f"{name}, {suite}, {row}, {metric}: by hand {value}, by the plain scorer {got}"


def _means(suite: str, tours: dict[str, list[str]], rows: dict[str, Values]) -> Values:
    """The mean over tours; undefined where any tour is, or where no tour weighs anything."""
    weights = {tour: tour_weight(suite, len(names)) for tour, names in tours.items()}
    total = sum(weights.values())
    means: Values = {}
    for metric in rows[next(iter(tours))]:
        values = [(weights[tour], rows[tour][metric]) for tour in tours]
        known = total > 0 and all(value is not None for _, value in values)
        means[metric] = sum(w * v for w, v in values) / total if known else None
    return means


STAIRS = {"kind": "graph", "nodes": {"a": [0.0, 0.0, 0.0], "b": [4.0, 0.0, 3.0]}, "edges": [["a", "b"]]}


def _world(drawing: str | None) -> dict[str, Any]:
    if drawing is None:
        return {"kind": "open"}
    if drawing == "stairs":
        return STAIRS
    made = graph(drawing)
    edges = [[made.nodes[i], made.nodes[j]] for i, j in made.edges.tolist()]
    return {"kind": "graph", "nodes": dict(zip(made.nodes, made.positions.tolist(), strict=True)), "edges": edges}


def _places(drawn: Drawn, places: Any) -> list[Any]:
    if drawn.world is not None:
        return list(places)
    points = [place if isinstance(place, tuple) else (place,) for place in places]
    return [tuple(float(x) for x in (*point, 0, 0)[:3]) for point in points]


def _episode(drawn: Drawn, name: str) -> dict[str, Any]:
    asked = drawn.asked[name]
    reference = _places(drawn, asked.reference)
    goals = reference[-1:] if asked.goals is None else _places(drawn, asked.goals)
    episode = {"id": name, "start": reference[0], "goals": goals, "reference": reference}
    return episode | ({} if asked.stated is None else {"distance": asked.stated})


def _attempt(drawn: Drawn, asked: Asked) -> Attempt:
    world = _world(drawn.world)
    places = world.get("nodes")
    edges = [frozenset(edge) for edge in world.get("edges", ())]
    reference = _places(drawn, asked.reference)

    def straight(a: Any, b: Any) -> float:
        return dist(places[a], places[b]) if places else dist(a, b)

    walkable = straight if drawn.world in (None, "stairs") else graph_distance(graph(drawn.world))
    return Attempt(
        walk=_places(drawn, asked.walk),
        start=reference[0],
        goals=reference[-1:] if asked.goals is None else _places(drawn, asked.goals),
        reference=reference,
        distance=walkable,
        straight=straight,
        joined=lambda a, b: places is None or frozenset((a, b)) in edges,
        stopped=asked.stopped,
        needs_stop=drawn.needs_stop,
        stated=asked.stated,
    )


def _jsonable(value: Any) -> Any:
    """The value with infinity spelt out, which JSON has no number for, and tuples as lists."""
    if isinstance(value, dict):
        return {key: _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(inner) for inner in value]
    return "inf" if value == inf else value


def written(content: dict[str, Any]) -> bytes:
    """The file: a line per fact, so that a person can read it and its diffs."""
    head = {key: value for key, value in content.items() if key != "cases"}
    cases = ",\n".join(_lines(case, deep=("expected", "split")) for case in content["cases"])
    return f'{_lines(head)[:-2]},\n"cases": [\n{cases}\n]\n}}\n'.encode()


def _lines(record: dict[str, Any], deep: tuple[str, ...] = (), indent: int = 1) -> str:
    """A JSON object with a line per key; values named in `deep` are laid out likewise, down to their rows."""
    gap = " " * indent
    told = []
    for key, value in record.items():
        inner = tuple(value) if key in deep and isinstance(value, dict) and indent < 3 else ()
        text = _lines(value, inner, indent + 1) if inner else msgspec.json.encode(value).decode()
        told.append(f"{gap}{msgspec.json.encode(key).decode()}: {text}")
    return "{\n" + ",\n".join(told) + f"\n{gap[:-1]}}}"


if __name__ == "__main__":
    FILE.write_bytes(written(built()))
    print(f"{len(CASES)} cases -> {FILE}")
