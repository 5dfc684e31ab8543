"""What a worker process makes for itself: the agent, the simulator and the worlds of a configuration.

Agents are resolved here: a name of `agents/registry.py`, a pretrained policy or model file, "module:Class", a command
or address of an agent in another process, a web service, a class or an object.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from itinera.agents.agent import Agent, ProbabilisticAgent
from itinera.agents.loading import describe_agent, digest_agent, import_class, instantiate, require_agent
from itinera.agents.registry import AGENTS, AgentContext
from itinera.errors import BadArgument
from itinera.policies.pretrained import GroundAgent, TrainedAgent, load_pretrained_agent, model_requirements
from itinera.runs.config import DESCRIPTIONS, RunConfig, WorkerContext, agent_names, load_worlds
from itinera.runs.identity import agent_files
from itinera.simulators.factory import make_simulator
from itinera.worlds import World

if TYPE_CHECKING:
    from itinera.policies.ground.requirements import GroundContext, GroundRequirements
    from itinera.policies.pointnav.requirements import PointNavRequirements
    from itinera.policies.pretrained import ModelRequirements
    from itinera.simulators.view_features import ViewSource


def read_descriptions(config: RunConfig) -> Mapping[str, Mapping[str, Any]] | None:
    """The scene descriptions of a season's nodes, by world and node."""
    if config.worlds_path is None or not config.has_descriptions:
        return None
    from itinera.formats.scene_descriptions import read_descriptions

    return read_descriptions(config.worlds_path / DESCRIPTIONS)


def make_context(config: RunConfig) -> WorkerContext:
    """The agent, simulator and worlds of a configuration."""
    worlds = load_worlds(config.worlds, config.protocol)
    if config.observations.waypoints is not None:
        return _make_waypoint_context(config, worlds)
    views: ViewSource | None = None
    columns: tuple[str, ...] = ()
    if config.observations.views is not None:
        from itinera.runs.observations import open_views, view_columns

        views = open_views(config.observations, config.worlds_path, worlds)
        columns = view_columns(views)
    observations = config.observations
    simulator = make_simulator(
        config.protocol,
        views=views,
        descriptions=read_descriptions(config),
        camera=observations.camera,
        scan=observations.scan,
    )
    agent, files = load_agent(config, worlds, columns=columns)
    return WorkerContext(agent, simulator, worlds, files)


def _make_waypoint_context(config: RunConfig, worlds: Mapping[str, World]) -> WorkerContext:
    from itinera.runs.waypoints import make_waypoint_simulator

    assert config.observations.waypoints is not None
    simulator, columns = make_waypoint_simulator(
        config.protocol, config.observations.waypoints, config.observations, config.worlds_path
    )
    agent, files = load_agent(config, worlds, columns=columns)
    if simulator.stops_between and not isinstance(agent, ProbabilisticAgent):
        raise BadArgument(
            f"--stops between needs the probability of each action, and {describe_agent(config.agent)} does not report "
            "them: it has no method action_probabilities. Leave --stops (stops=) out."
        )
    return WorkerContext(agent, simulator, worlds, files)


def load_agent(
    config: RunConfig, worlds: Mapping[str, World], *, columns: Sequence[str] = ()
) -> tuple[Agent, Mapping[str, str]]:
    """The agent of a configuration, and the digests of its files by name if it is somebody else's Python code."""
    imported_before = tuple(sys.modules)
    agent = make_agent(config, worlds, columns=columns)
    if not config.is_foreign:
        return agent, {}
    if config.isolate:
        return agent, getattr(agent, "files", {})
    if config.policy is not None:
        from itinera.policies.checkpoint import load_policy_class

        return agent, digest_agent(load_policy_class(config.policy))
    if isinstance(config.agent, str):
        return agent, digest_agent(agent, imported_before=imported_before)
    return agent, digest_agent(agent)


def make_agent(config: RunConfig, worlds: Mapping[str, World], *, columns: Sequence[str] = ()) -> Agent:
    """The agent of a configuration; `columns` are the meanings of the numbers of its views."""
    agent = config.agent
    if config.isolate and not config.is_named and config.model is None:
        from itinera.agents.isolation import start_isolated

        return start_isolated(
            cast(str, agent),
            is_command=config.is_command,
            options=config.agent_options,
            files=agent_files(config),
            hidden=config.hidden,
            seconds=config.reply_seconds,
            columns=columns,
        )
    if config.is_remote:
        from itinera.agents.remote import REPLY_SECONDS, connect_address, start_program

        seconds = REPLY_SECONDS if config.reply_seconds is None else config.reply_seconds
        connect = start_program if config.is_command else connect_address
        return connect(cast(str, agent), seconds=seconds, columns=columns)
    if config.is_service:
        from itinera.runs.services import make_service_agent

        return make_service_agent(config, worlds, columns)
    if config.reply_seconds is not None:
        raise BadArgument("--reply-seconds is for agents in other processes; --limit-seconds limits any agent.")
    if config.model is not None:
        return load_pretrained_agent(
            config.model, columns, policy=config.policy, context=make_ground_context(config, worlds)
        )
    if not isinstance(agent, str):
        names = agent_names()
        if isinstance(agent, type):
            return instantiate(agent, config.agent_options, names=names)
        if isinstance(agent, GroundAgent):
            context = make_ground_context(config, worlds)
            return agent if context is None else cast(Agent, agent.with_context(context))
        return require_agent(agent, names=names)
    if agent in AGENTS:
        return AGENTS[agent](
            AgentContext(
                agent,
                config.protocol,
                worlds,
                config.read_tasks,
                config.has_descriptions,
                config.observations.waypoints is not None,
            )
        )
    if ":" not in agent:
        raise BadArgument(
            f"There is no agent {agent!r}. Agents are {', '.join(agent_names())}; yours as module:Class, "
            "NAME.safetensors, or a command (--agent-command, command=); language models as openai:MODEL."
        )
    return instantiate(import_class(agent), config.agent_options, names=agent_names())


def make_ground_context(config: RunConfig, worlds: Mapping[str, World]) -> GroundContext | None:
    """What a trained agent on the ground receives of a run; None for runs on graphs. It contains no tasks."""
    if not config.protocol.on_ground:
        return None
    from itinera.mapping.config import MapLifetime
    from itinera.policies.ground.requirements import GroundContext
    from itinera.simulators.factory import count_ground_actions

    asked = config.observations
    return GroundContext(
        worlds,
        None if asked.map_lifetime is None else MapLifetime(asked.map_lifetime),
        asked.semantics,
        count_ground_actions(config.protocol),
    )


def requirements_for(config: RunConfig) -> ModelRequirements | GroundRequirements | PointNavRequirements | None:
    """The views or sensors a trained agent needs; None for any other."""
    if isinstance(config.agent, TrainedAgent):
        return config.agent.requirements
    return None if config.model is None else model_requirements(config.model, policy=config.policy)
