"""Golden cases in open space: VLN-CE and IVLN-CE beside the papers."""

from __future__ import annotations

from math import exp, sqrt

from golden.drawing import PERFECT, Asked, Drawn

CASES = (
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
        "Stands on the goal but never said stop. Under a protocol that does not ask for it (paper here) a "
        "success; VLN-CE always asks: SR = SPL = SDTW = 0, while the oracle's success and nDTW stay 1.",
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
        "Three records at (2, 2), 2 m beside the path: paper aligns each with (2, 0) for 2 + 2 + 2, nDTW = exp(-6 "
        "/ 9); VLN-CE drops positions equal to the one before: exp(-2 / 9). PL = 4 sqrt(2) for both, SPL = 4 / (4 "
        "sqrt(2)).",
        {"1": Asked(((0, 0), (2, 0), (4, 0)), ((0, 0), (2, 2), (2, 2), (2, 2), (4, 0)))},
        {
            "paper": {"1": {"steps": 4, "PL": 4 * sqrt(2), "SPL": 1 / sqrt(2), "nDTW": exp(-6 / 9)}},
            "vlnce": {"1": {"PL": 4 * sqrt(2), "SPL": 1 / sqrt(2), "nDTW": exp(-2 / 9)}},
        },
        world=None,
    ),
    Drawn(
        "open space, coarse to fine",
        "VLN-CE warps approximately (FastDTW, radius 1). Along a line the agent is at 0 2 6 4 2 4, the reference "
        "at 0 -2 -4 0 2. Exact: 0 with 0 -2 -4 0 costs 6, 2 with 2 nothing, 6 4 2 4 with 2 cost 4 + 2 + 0 + 2: "
        "14. Averaged in pairs they are 1 5 3 and -1 -2; the coarse alignment (1, -1), (5, -1), (3, -2) widened "
        "by one cell keeps the agent's second place from meeting the reference's last, so it meets 0 instead, 2 m "
        "more: 16.",
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
        "The tasks file states 6 m from start to goal, round a wall this world does not know; 8 m are walked. "
        "VLN-CE takes what the simulator said: SPL = 6/8; paper measures: 4/8.",
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
        "Tour 'pair': first episode perfect, in the second a dwell at (1, 0) and a wait at its start. Paper: the "
        "wait is free and the dwell on the path too, t-nDTW = 1. IVLN-CE drops both repeats first: also 1. Tour "
        "'alone' is one episode, 1 m short of 2 places: exp(-1/6). Paper weighs by episodes, (2 x 1 + exp(-1/6)) "
        "/ 3; IVLN-CE by changes of episode, 1 and 0: 1.",
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
        "In the first of two episodes the agent walks 0 1 2 1 and stops 1 m before the goal at 2. By the paper it "
        "pays for the last place only: 0-0, 1-1, 2-2, 1-2 = 1, t-nDTW = exp(-1 / (3 x 5)). In IVLN-CE's window "
        "the goal may meet only the stop point, so 2 meets 1 and costs 1 more: exp(-2/15).",
        {"1": Asked((0, 1, 2), (0, 1, 2, 1)), "2": Asked((5, 6), (5, 6))},
        {"paper": {"tour": {"t-nDTW": exp(-1 / 15)}}, "ivln-ce": {"tour": {"t-nDTW": exp(-2 / 15)}}},
        world=None,
        tours={"tour": ["1", "2"]},
    ),
)
