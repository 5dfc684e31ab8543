"""A replay in the hand-drawn cottage: two agents, a tour of two episodes, two storeys, an aligned instruction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import cottage
from itinera.records import Predictions, Rollout, Trajectory
from itinera.records.trajectory import Phase
from itinera.reports.replay.data import Replay
from itinera.reports.replay.trajectories import make_replay
from itinera.tasks import PROTOCOLS, Alignment, Episode, Instruction, Split, Tour
from itinera.worlds import Pose, World

TEXT = "Leave the kitchen, then climb up and stop."
WORDS = ("Leave", "the", "kitchen,", "climb", "up", "stop.")


def first() -> Episode:
    """Up the stairs, with an aligned instruction."""
    places = np.array([0, 0, 0, 1, 2, 3])
    return Episode(
        "e1", "cottage", Pose("a"), ("d",), tuple("abcd"), Instruction(TEXT), alignment=Alignment(WORDS, places, places)
    )


def second() -> Episode:
    """Down again, without an alignment."""
    return Episode("e2", "cottage", Pose("d"), ("b",), tuple("dcb"), Instruction("Go down."))


def split(*, toured: bool = True, **changed: Any) -> Split:
    """The episodes, the first with these fields changed."""
    tours = (Tour("t", "cottage", ("e1", "e2")),) if toured else ()
    return Split("drawn", (replace(first(), **changed), second()), tours)


def make_predictions() -> dict[str, Predictions]:
    """One agent that follows the reference, and one that strays and is guided to the goal and to the next start."""
    acting, to_goal, to_start = Phase.ACTING, Phase.GUIDED_TO_GOAL, Phase.GUIDED_TO_START
    followed = Rollout("t", (Trajectory("e1", tuple("abcd")), Trajectory("e2", tuple("dcb"))))
    guided = Trajectory("e1", tuple("ababcd"), phases=(acting, acting, acting, acting, to_goal, to_goal))
    on = Trajectory("e2", tuple("ddc"), phases=(to_start, acting, acting))
    strayed = Rollout("t", (guided, on))
    return {"follows": Predictions("a.jsonl", (followed,)), "strays": Predictions("b.jsonl", (strayed,))}


def replay(
    tasks: Split | None = None,
    predictions: Mapping[str, Predictions] | None = None,
    *,
    house: bool = True,
    **options: Any,
) -> Replay:
    """The replay of all episodes."""
    houses = {"cottage": cottage.house()} if house else {}
    worlds: dict[str, World] = {"cottage": cottage.world()}
    found, asked = predictions or make_predictions(), tasks or split()
    return make_replay(found, asked, worlds, protocol=PROTOCOLS["ivln"], title="Drawn", houses=houses, **options)
