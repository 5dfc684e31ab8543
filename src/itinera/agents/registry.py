"""The named agents: baselines, the shortest-path expert and the rule-based agent, in one dictionary.

Pretrained policies, model files, classes of yours and agents in other processes are resolved in `runs/context.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from itinera.agents.agent import Agent
from itinera.errors import BadArgument
from itinera.simulators.factory import count_ground_actions, make_speeds
from itinera.tasks import Protocol, Split
from itinera.worlds import World


@dataclass(frozen=True, eq=False)
class AgentContext:
    """What a named agent may be made from."""

    name: str
    protocol: Protocol
    worlds: Mapping[str, World]
    read_tasks: Callable[[], Split]  # with goals and reference paths, for agents that are allowed to know them
    has_descriptions: bool = False  # whether observations contain scene descriptions
    has_waypoints: bool = False  # whether actions on the ground are waypoints

    @property
    def steps(self) -> bool:
        """Whether the agent acts on the ground by steps or speeds, not by choosing among candidates."""
        return self.protocol.on_ground and not self.has_waypoints

    @property
    def ground_actions(self) -> int:
        """The number of actions on the ground; 0 with candidates, where it depends on the place."""
        return count_ground_actions(self.protocol) if self.steps else 0


def _still(context: AgentContext) -> Agent:
    from itinera.agents.baselines import StationaryAgent

    return StationaryAgent(ground_actions=context.ground_actions)


def _uniform(context: AgentContext) -> Agent:
    from itinera.agents.baselines import UniformAgent

    return UniformAgent(ground_actions=context.ground_actions)


def _random(context: AgentContext) -> Agent:
    from itinera.agents.baselines import GroundRandomAgent, RandomWalkAgent, count_moves

    if context.steps:
        _require_steps(context)
        return GroundRandomAgent()
    return RandomWalkAgent(count_moves(episode.reference for episode in context.read_tasks().episodes))


def _forward(context: AgentContext) -> Agent:
    from itinera.agents.baselines import ForwardBiasedAgent, HandcraftedAgent, count_moves

    if context.steps:
        _require_steps(context)
        return HandcraftedAgent()
    moves = count_moves(episode.reference for episode in context.read_tasks().episodes)
    return ForwardBiasedAgent(stop_once_in=1 + sum(moves) / len(moves))


def _expert(context: AgentContext) -> Agent:
    if context.has_waypoints:
        raise BadArgument("The expert acts by steps, not by waypoints: leave out --waypoints (waypoints=).")
    split = context.read_tasks()
    if context.protocol.drive is not None:
        from itinera.agents.oracle_driver import make_driver

        speeds = make_speeds(context.protocol)
        return make_driver(split.episodes, context.worlds, context.protocol, speeds, tours=split.tours)
    from itinera.agents.oracle import ShortestPathExpert

    return ShortestPathExpert(split.episodes, context.worlds, context.protocol, tours=split.tours)


def _reader(context: AgentContext) -> Agent:
    from itinera.agents.rule_based import RuleBasedAgent

    if context.protocol.on_ground or not context.has_descriptions:
        raise BadArgument(
            "The agent reader follows Hearth's instructions on graphs with scene descriptions: give the folder of a "
            "Hearth season as --worlds (worlds=)."
        )
    return RuleBasedAgent()


def _require_steps(context: AgentContext) -> None:
    if context.protocol.drive == "unicycle-15":
        raise BadArgument(
            f"The agent {context.name} uses actions 1, 2 and 3 as forward, left and right, which --drive unicycle-15 "
            "does not have. Use expert, still or uniform."
        )


# The agents that read the tasks with their goals and reference paths. No other receives them.
PRIVILEGED = frozenset({"random", "forward", "expert"})

AGENTS: dict[str, Callable[[AgentContext], Agent]] = {
    "still": _still,  # stops at once
    "uniform": _uniform,  # every action with equal probability
    "random": _random,  # Stay on the Path: random moves, as many as a reference path has; on the ground VLN-CE's
    "forward": _forward,  # prefers the candidate ahead; on the ground VLN-CE's hand-crafted agent
    "expert": _expert,  # knows the goals and takes a shortest path
    "reader": _reader,  # follows the instruction by rules
}
