"""Golden cases on graphs, one episode each or unrelated ones: what each metric does, and where scorers part."""

from __future__ import annotations

from math import exp, inf

from golden.drawing import ONE_SHORT, PARTED, PERFECT, RING, SQUARE, STAIRS, TREE, WIDE, Asked, Drawn

CASES = (
    Drawn(
        "the reference itself",
        "Nodes stand 2 m apart in a line. Following the reference gives 1 everywhere; PL = 3 x 2 = 6.",
        {"1": Asked("abcd", "abcd")},
        {"paper": {"1": {**PERFECT, "PL": 6, "steps": 3, "NE": 0, "ONE": 0, "DTW": 0}}},
    ),
    Drawn(
        "one short",
        "Stops 2 m before the goal, within 3 m. SPL = 6 / max(4, 6) = 1. Alignment d-c costs 2: nDTW = exp(-2 / "
        "(3 x 4)). One of three edges is missing: SED = 2/3, over nodes 3/4. PC = (3 + exp(-2/3)) / 4 = 0.878354, "
        "expected length 6 PC = 5.270126, LS = 5.270126 / (5.270126 + 1.270126) = 0.805799.",
        {"1": Asked("abcd", "abc")},
        {
            "paper": {
                "1": {
                    "PL": 4,
                    "NE": 2,
                    "SR": 1,
                    "SPL": 1,
                    "DTW": 2,
                    "nDTW": exp(-1 / 6),
                    "SDTW": exp(-1 / 6),
                    "SED": 2 / 3,
                    "SED_nodes": 3 / 4,
                    "PC": ONE_SHORT,
                    "LS": 6 * ONE_SHORT / (12 * ONE_SHORT - 4),
                    "CLS": 6 * ONE_SHORT**2 / (12 * ONE_SHORT - 4),
                }
            },
            "hamt": {"1": {"CLS": 6 * ONE_SHORT**2 / (12 * ONE_SHORT - 4), "SPL": 1, "SDTW": exp(-1 / 6)}},
        },
    ),
    Drawn(
        "overshoot",
        "Goes one node past the goal and stops 2 m beyond it: a success with PL = 8. SPL = 6/8. e aligned with d "
        "costs 2. One edge too many over max(5, 4) - 1 = 4: SED = 3/4. All is covered, PC = 1, LS = 6 / (6 + 2) = "
        "3/4.",
        {"1": Asked("abcd", "abcde")},
        {"paper": {"1": {"PL": 8, "ONE": 0, "SPL": 0.75, "nDTW": exp(-1 / 6), "SED": 0.75, "CLS": 0.75}}},
    ),
    Drawn(
        "past the goal and away",
        "Passes the goal c and ends 6 m beyond: an oracle success (ONE = 0) but no success, so SPL, SED and SDTW "
        "are 0. d, e, f aligned with c cost 2 + 4 + 6 = 12: nDTW = exp(-12/9). PC = 1, expected 4, walked 10: CLS "
        "= 4 / (4 + 6).",
        {"1": Asked("abc", "abcdef")},
        {
            "paper": {
                "1": {
                    "NE": 6,
                    "ONE": 0,
                    "SR": 0,
                    "OSR": 1,
                    "SPL": 0,
                    "SED": 0,
                    "SDTW": 0,
                    "nDTW": exp(-12 / 9),
                    "CLS": 0.4,
                }
            }
        },
    ),
    Drawn(
        "the wrong way",
        "Asked from c to f, walks from c to a. Both starts and both ends must meet; best is c-c 0, c-d 2, b-e 6, "
        "a-f 10 = 18: nDTW = exp(-18/12). PC = (1 + e^(-2/3) + e^(-4/3) + e^(-2)) / 4.",
        {"1": Asked("cdef", "cba")},
        {
            "paper": {
                "1": {
                    "NE": 10,
                    "ONE": 6,
                    "SR": 0,
                    "OSR": 0,
                    "DTW": 18,
                    "nDTW": exp(-1.5),
                    "PC": (1 + exp(-2 / 3) + exp(-4 / 3) + exp(-2)) / 4,
                }
            }
        },
    ),
    Drawn(
        "never left the start",
        "A walk of one place is a walk: PL 0, DTW = 0 + 2 + 4 + 6 = 12, nDTW = exp(-12/12). Coverage of the start "
        "alone still earns PC = (1 + e^(-2/3) + e^(-4/3) + e^(-2)) / 4, with LS = E / (E + E) = 1/2.",
        {"1": Asked("abcd", "a")},
        {
            "paper": {
                "1": {
                    "PL": 0,
                    "steps": 0,
                    "NE": 6,
                    "SR": 0,
                    "nDTW": exp(-1),
                    "LS": 0.5,
                    "CLS": (1 + exp(-2 / 3) + exp(-4 / 3) + exp(-2)) / 8,
                }
            }
        },
    ),
    Drawn(
        "repeats on the path",
        "A node logged twice in a row adds no length and aligns at no cost, so nDTW and CLS stay 1 although the "
        "walk is not the reference. The extra edge (b, b) is one edit of max(5, 4) - 1 = 4: SED = 3/4. In the "
        "google scripts b-b is no edge: lengths, and so CLS, fail.",
        {"1": Asked("abcd", "abbcd")},
        {
            "paper": {"1": {"PL": 6, "steps": 4, "SPL": 1, "nDTW": 1, "CLS": 1, "SED": 0.75, "SED_nodes": 0.8}},
            "google": {"1": {"PL": None, "CLS": None, "nDTW": 1}},
            "hamt": {"1": {"CLS": 1, "nDTW": 1, "steps": 4}},
        },
    ),
    Drawn(
        "repeats off the path",
        "Two stays on x, 2 m beside b, cost 2 x 2: nDTW = exp(-4/12), where one would cost exp(-2/12). PL = 2 x 5 "
        "= 10, SPL = 6/10; three edges too many, bx xx xb, of max(7, 4) - 1 = 6: SED = 1/2. PC = 1, LS = 6 / (6 + "
        "4).",
        {"1": Asked("abcd", "abxxbcd")},
        {
            "paper": {"1": {"PL": 10, "SPL": 0.6, "SED": 0.5, "nDTW": exp(-4 / 12), "CLS": 0.6}},
            "google": {"1": {"CLS": None}},
        },
        world=TREE,
    ),
    Drawn(
        "walked in threes",
        "SED counts directed edges: a b a b against a b has the extra edges ba, ab, two of max(4, 2) - 1 = 3: SED "
        "= 1/3; over nodes two of four: 1/2. PL = 6, SPL = 2/6; PC = 1, LS = 2 / (2 + 4) = 1/3. DTW: a-a 0, b-a 2 "
        "or a-b 2, once.",
        {"1": Asked("ab", "abab")},
        {"paper": {"1": {"SED": 1 / 3, "SED_nodes": 0.5, "SPL": 1 / 3, "CLS": 1 / 3, "DTW": 2, "nDTW": exp(-2 / 6)}}},
    ),
    Drawn(
        "a loop, standing still",
        "Start and goal coincide; the reference goes round a square of 8 m. L = d(start, goal) = 0 and nothing "
        "walked: paper decides 1, m3ds divides 0 by 0, envdrop has 0 / max(0, 0, 0.01) = 0. hamt compares with "
        "the loop: 8 / max(8, 0) = 1 for an agent that never moved. DTW = 0 + 2 + 4 + 2 + 0 = 8: nDTW = "
        "exp(-8/15).",
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
        "A reference of one node. SPL: paper 1, m3ds 0/0, envdrop and hamt 0 / 0.01 = 0. CLS: expected and walked "
        "length are 0; paper decides 1, released code divides 0 by 0. SED over no edges: 1.",
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
        "Moves 2 m and returns: SR 1, but SPL 0 (L = 0, PL = 4), CLS 0 (expected 0, walked 4), SED 0. DTW = 2: "
        "exp(-2/3).",
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
        "Nodes stand 3 m apart; stops one short, 3.0 m from the goal. The papers and the google scripts count a "
        "distance of the radius (<=), the other scorers do not (<). SPL = 6 / max(3, 6) = 1. nDTW = exp(-3/9).",
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
        "The walk leaves out c. paper and m3ds refuse it: a submission must log every node. envdrop, hamt and "
        "ivln add the graph distance: PL = 2 + 4 = 6, SPL 1; c is missed by 2 m: nDTW = exp(-2/12), PC = (3 + "
        "e^(-2/3)) / 4, expected 6 PC = 5.270126, LS = 5.270126 / (5.270126 + 0.729874). In the google scripts "
        "the missing edge fails CLS.",
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
        "The walk lacks the start a. All scorers refuse it but the google scripts, which score it: PL = 4, one "
        "reference place missed by 2 m, nDTW = exp(-2/12), PC = (3 + e^(-2/3)) / 4, expected 5.270126, walked 4.",
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
        "PC = (5 + e^(-2/3)) / 6. x aligned with b costs 2: nDTW = exp(-2/18). Two of five edges are missing: SED "
        "= 3/5. By d(start, goal) = 6 SPL is 1; by the reference's 10 m also 10 / max(10, 6) = 1.",
        {"1": Asked("abxbcd", "abcd")},
        {
            "paper": {"1": {"PC": (5 + exp(-2 / 3)) / 6, "nDTW": exp(-2 / 18), "SED": 0.6, "SPL": 1}},
            "hamt": {"1": {"SPL": 1, "nDTW": exp(-2 / 18)}},
        },
        world=TREE,
    ),
    Drawn(
        "a long way round, followed",
        "The reference leads 10 m from a to g round the other side of a ring although g is 2 m away. Who follows "
        "it gets SPL = 2/10 by d(start, goal) and 10 / max(10, 10) = 1 by the reference (hamt, ivln): the "
        "difference between scorers on R4R.",
        {"1": Asked("abcdeg", "abcdeg")},
        {
            "paper": {"1": {**PERFECT, "SPL": 0.2}},
            "m3ds": {"1": {"SPL": 0.2}},
            "envdrop": {"1": {"SPL": 0.2}},
            "hamt": {"1": {"SPL": 1}},
            "ivln": {"1": {"SPL": 1}},
        },
        world=RING,
    ),
    Drawn(
        "a long way round, cut short",
        "The same task by the short cut a g: SPL 1 for both, since neither asks for the path; fidelity does. "
        "Alignment: a-a 0, a-b 2, a-c 4, g-d 4, g-e 2, g-g 0 = 12: nDTW = exp(-12/18). No edge is right: SED = 0.",
        {"1": Asked("abcdeg", "ag")},
        {"paper": {"1": {"SPL": 1, "DTW": 12, "nDTW": exp(-12 / 18), "SED": 0}}, "hamt": {"1": {"SPL": 1}}},
        world=RING,
    ),
    Drawn(
        "several goals",
        "Any of the goals b and f will do; the nearest counts, at the end (e is 2 m from f), on the way (b "
        "itself) and at the start (a is 2 m from b). SPL = 2 / max(8, 2) = 1/4. Scorers with one goal have "
        "nothing to say here.",
        {"1": Asked("abcdef", "abcde", goals="bf")},
        {"paper": {"1": {"NE": 2, "ONE": 0, "SR": 1, "SPL": 0.25}}},
        suites=("paper",),
    ),
    Drawn(
        "a goal no way leads to",
        "The goal lies in another part of the graph: errors are infinite, every rate is 0 and nothing is "
        "undefined. Only a is covered: PC = 1/2, but the reference has no finite length to live up to, so LS and "
        "CLS are 0.",
        {"1": Asked("ac", "ab")},
        {
            "paper": {
                "1": {
                    "NE": inf,
                    "ONE": inf,
                    "SR": 0,
                    "OSR": 0,
                    "SPL": 0,
                    "SED": 0,
                    "nDTW": 0,
                    "PC": 0.5,
                    "LS": 0,
                    "CLS": 0,
                }
            }
        },
        world=PARTED,
        suites=("paper",),
    ),
    Drawn(
        "stairs",
        "Distances are in three dimensions: an edge 4 m along and 3 m up is 5 m long. One short is 5 m off: a failure.",
        {"1": Asked("ab", "ab"), "2": Asked("ab", "a")},
        {"paper": {"1": {**PERFECT, "PL": 5}, "2": {"PL": 0, "NE": 5, "SR": 0, "nDTW": exp(-5 / 6)}}},
        world=STAIRS,
    ),
)
