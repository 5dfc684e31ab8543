"""A replay in the house drawn by hand: two agents, a tour of two episodes, storeys, and words tied to places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import cottage
from itinera.records import Logbook, Trajectory, Walk
from itinera.records.trajectory import Phase
from itinera.reports.replay_data import Replay
from itinera.reports.replay_walks import More, replay_of
from itinera.tasks import PROTOCOLS, Alignment, Brief, Episode, Split, Tour
from itinera.worlds import Pose, World

TEXT = "Leave the kitchen, then climb up and stop."
WORDS = ("Leave", "the", "kitchen,", "climb", "up", "stop.")


def first() -> Episode:
    """Up the stairs, told word by word."""
    places = np.array([0, 0, 0, 1, 2, 3])
    return Episode(
        "e1", "cottage", Pose("a"), ("d",), tuple("abcd"), Brief(TEXT), alignment=Alignment(WORDS, places, places)
    )


def second() -> Episode:
    """Down again, without words tied to anything."""
    return Episode("e2", "cottage", Pose("d"), ("b",), tuple("dcb"), Brief("Go down."))


def split(*, toured: bool = True, **changed: Any) -> Split:
    """The episodes, the first with these fields changed."""
    tours = (Tour("t", "cottage", ("e1", "e2")),) if toured else ()
    return Split("drawn", (replace(first(), **changed), second()), tours)


def books() -> dict[str, Logbook]:
    """One agent that follows, and one that strays, is led to its goal and led on."""
    acting, to_goal, to_start = Phase.ACTING, Phase.LED_TO_GOAL, Phase.LED_TO_START
    followed = Walk("t", (Trajectory("e1", tuple("abcd")), Trajectory("e2", tuple("dcb"))))
    led = Trajectory("e1", tuple("ababcd"), phases=(acting, acting, acting, acting, to_goal, to_goal))
    on = Trajectory("e2", tuple("ddc"), phases=(to_start, acting, acting))
    strayed = Walk("t", (led, on))
    return {"follows": Logbook("a.jsonl", (followed,)), "strays": Logbook("b.jsonl", (strayed,))}


def replay(
    asked: Split | None = None, walks: Mapping[str, Logbook] | None = None, *, house: bool = True, **options: Any
) -> Replay:
    """All of it shown; `options` are more that is known."""
    known = More(houses={"cottage": cottage.house()} if house else {}, **options)
    worlds: dict[str, World] = {"cottage": cottage.world()}
    return replay_of(walks or books(), asked or split(), worlds, protocol=PROTOCOLS["ivln"], title="Drawn", more=known)
