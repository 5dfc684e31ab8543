"""Golden cases of tours on graphs: what the paper asks for and what IVLN's window does."""

from __future__ import annotations

from math import exp

from golden.drawing import Asked, Drawn

CASES = (
    Drawn(
        "a tour, dwelling at its very start",
        "Two episodes, the first with a node logged twice at its start. Under both rules the repeat aligns with "
        "the reference's first place at no cost: t-nDTW = 1. (IVLN restricts a reference's first place only after "
        "the first episode.)",
        {"1": Asked("abc", "aabc"), "2": Asked("cde", "cde")},
        {
            "paper": {"tour": {"t-nDTW": 1, "t-SR": 1, "t-SPL": 1}},
            "ivln": {"tour": {"t-nDTW": 1, "t-SR": 1, "t-SPL": 1}},
        },
        tours={"tour": ["1", "2"]},
    ),
    Drawn(
        "a tour, dwelling inside it",
        "The same dwell at the start of the second episode. By the paper it is free. In IVLN's window the "
        "reference's first place c may meet only the agent's first c, so the second c must meet d, 2 m: t-nDTW = "
        "exp(-2 / (3 x 6)).",
        {"1": Asked("abc", "abc"), "2": Asked("cde", "ccde")},
        {"paper": {"tour": {"t-nDTW": 1}}, "ivln": {"tour": {"t-nDTW": exp(-2 / 18)}}},
        tours={"tour": ["1", "2"]},
    ),
    Drawn(
        "a tour is not the mean of its episodes",
        "First episode perfect (DTW 0, 3 places), second one short (DTW 2, 2 places: the agent stayed at e). By "
        "the paper costs and places add up: t-nDTW = exp(-2 / (3 x 5)) = 0.875173; the mean of nDTW would be (1 + "
        "exp(-2/6)) / 2 = 0.858266. t-SR = 1; t-SPL = 1 (L = 2, PL = 0).",
        {"1": Asked("abc", "abc"), "2": Asked("ef", "e")},
        {
            "paper": {"tour": {"t-nDTW": exp(-2 / 15), "t-SR": 1, "t-SPL": 1}, "2": {"nDTW": exp(-2 / 6)}},
            "ivln": {"tour": {"t-nDTW": exp(-2 / 15)}},
        },
        tours={"tour": ["1", "2"]},
    ),
    Drawn(
        "a tour with no alignment left",
        "The middle episode has two reference places, d and e; the agent logs three, d c e as d c d e. In IVLN's "
        "window d may meet only the first and e only the last, so the places between have nothing to meet: "
        "undefined. By the paper c-d costs 2: t-nDTW = exp(-2 / (3 x 6)).",
        {"1": Asked("ab", "ab"), "2": Asked("de", "dcde"), "3": Asked("ef", "ef")},
        {"paper": {"tour": {"t-nDTW": exp(-2 / 18)}}, "ivln": {"tour": {"t-nDTW": None}}},
        tours={"tour": ["1", "2", "3"]},
    ),
    Drawn(
        "tours of different length",
        "Tour 'short' is one episode, one short (t-nDTW = exp(-2/6)); tour 'long' is three perfect ones. Tours "
        "weigh by their episodes: (1 x exp(-1/3) + 3 x 1) / 4. t-SR = 1 for both.",
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
        "First episode perfect, second a failure: from c to d, 2 m, the agent walks c b a, 4 m. Episodes weigh "
        "alike by the paper: t-SR = 1/2. IVLN weighs them by max(d, PL) / d, 1 and 2: t-SR = 1 / (1 + 2).",
        {"1": Asked("ab", "ab"), "2": Asked("cd", "cba")},
        {
            "paper": {"tour": {"t-SR": 0.5, "t-SPL": 0.5}},
            "ivln": {"tour": {"t-SR": 1 / 3, "t-SPL": 1 / 3}},
        },
        tours={"tour": ["1", "2"]},
    ),
)
