"""What a run is made of: tours that are asked, rules for all of them, and a crew that can walk them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from itinera.agents.agent import Agent
from itinera.errors import BadArgument
from itinera.records import Rollout
from itinera.runs.rollout import Told, walk
from itinera.simulators.simulator import Simulator
from itinera.tasks import Episode, Protocol, Tour
from itinera.worlds import World


@dataclass(frozen=True, eq=False)
class Crew:
    """All it takes to walk; every worker makes its own."""

    agent: Agent
    simulator: Simulator
    worlds: Mapping[str, World]


Recipe = Callable[[], Crew]  # sent to workers, so it is a function of a module, or a partial of one


@dataclass(frozen=True)
class Rules:
    """What holds for every walk of a run."""

    protocol: Protocol
    seed: int
    limit_seconds: float | None = None  # for each episode, however the agent spends them
    keep_choices: bool = False


@dataclass(frozen=True, eq=False)
class Asked:
    """A tour, or what is left of it, with its episodes."""

    tour: Tour
    episodes: tuple[Episode, ...]


def walk_tour(crew: Crew, asked: Asked, rules: Rules, told: Told | None = None) -> Rollout:
    """The walk of a crew; see `walk`."""
    return walk(
        crew.agent,
        crew.simulator,
        world_of(crew, asked.tour),
        asked.tour,
        asked.episodes,
        protocol=rules.protocol,
        seed=rules.seed,
        keep_choices=rules.keep_choices,
        told=told,
    )


def world_of(crew: Crew, tour: Tour) -> World:
    """The world a tour is in."""
    if tour.world_id not in crew.worlds:
        raise BadArgument(f"World {tour.world_id} is not among the worlds given. Check --worlds.")
    return crew.worlds[tour.world_id]
