"""The configuration of a run: which agent acts in which tasks and worlds, by which protocol, with which observations.

Agents are resolved here: a name of `agents/registry.py`, a pretrained policy or model file, "module:Class", a command
or address of an agent in another process, a class or an object. Every worker makes its own `WorkerContext`.
"""

from __future__ import annotations

import hashlib
import inspect
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from itinera.agents.agent import Agent, ProbabilisticAgent
from itinera.agents.loading import (
    OptionValue,
    describe_agent,
    digest_agent,
    import_class,
    instantiate,
    require_agent,
    require_files,
    short_name,
)
from itinera.agents.registry import AGENTS, PRIVILEGED, AgentContext
from itinera.agents.services.settings import ServiceSettings, is_chat, is_web_agent
from itinera.errors import BadArgument, validate_choice
from itinera.policies.pretrained import (
    SUFFIX,
    GroundAgent,
    TrainedAgent,
    load_pretrained_agent,
    model_file,
    model_requirements,
    pretrained_models,
)
from itinera.records import Rollout
from itinera.runs.resume import plan_fingerprint
from itinera.runs.rollout import OnEpisode, rollout
from itinera.runs.tour_loop import FindGoals
from itinera.simulators.factory import make_simulator
from itinera.simulators.simulator import Simulator
from itinera.tasks import PROTOCOLS, Episode, Protocol, Split, Tour
from itinera.tasks.protocol import TOUR_PROTOCOLS, check_protocol
from itinera.worlds import World
from itinera.worlds.world import Worlds

if TYPE_CHECKING:
    from itinera.policies.ground.requirements import GroundContext, GroundRequirements
    from itinera.policies.pointnav.requirements import PointNavRequirements
    from itinera.policies.pretrained import ModelRequirements
    from itinera.records import Provenance
    from itinera.simulators.pointnav.sensors import ScanSensor
    from itinera.simulators.sensors import CameraSensor
    from itinera.simulators.view_features import ViewSource

ANNOTATIONS, RENDERED = "annotations", "rendered"  # kinds of views; any other is a file of features
INFERRED = "inferred"  # kind of views with waypoints: from a panorama instead of annotations
DESCRIPTIONS = "scene_descriptions"  # the folder of a season with the scene descriptions of its nodes


@dataclass(frozen=True, eq=False)
class WorkerContext:
    """The agent, simulator and worlds of one process."""

    agent: Agent
    simulator: Simulator
    worlds: Mapping[str, World]
    files: Mapping[str, str] = field(default_factory=dict)  # the digests of the agent's files, by name


@dataclass(frozen=True)
class RolloutConfig:
    """What holds for every rollout of a run."""

    protocol: Protocol
    seed: int
    limit_seconds: float | None = None  # of an episode
    record_probabilities: bool = False
    record_maps: bool = False
    may_stop: bool = False  # whether the agent may stop the run: only those of Itinera that need a server


@dataclass(frozen=True, eq=False)
class TourJob:
    """A tour, or the rest of one, with its episodes."""

    tour: Tour
    episodes: tuple[Episode, ...]


def run_job(
    context: WorkerContext,
    job: TourJob,
    config: RolloutConfig,
    on_episode: OnEpisode | None = None,
    find_goals: FindGoals | None = None,
) -> Rollout:
    """The rollout of a tour; see `rollout`."""
    return rollout(
        context.agent,
        context.simulator,
        find_world(context, job.tour),
        job.tour,
        job.episodes,
        protocol=config.protocol,
        seed=config.seed,
        find_goals=find_goals,
        record_probabilities=config.record_probabilities,
        record_maps=config.record_maps,
        on_episode=on_episode,
    )


def find_world(context: WorkerContext, tour: Tour) -> World:
    """The world of a tour."""
    if tour.world_id not in context.worlds:
        raise BadArgument(f"World {tour.world_id} is not among the worlds given. Check --worlds (worlds=).")
    return context.worlds[tour.world_id]


@dataclass(frozen=True)
class WaypointConfig:
    """Where the candidates of an agent on the ground come from, and how the body gets to them."""

    source: str  # graph, surface or depth
    driver: str  # follower or straight
    stops: str = "waypoint"  # where a body stops: waypoint or between


@dataclass(frozen=True)
class ObservationConfig:
    """What an agent observes. It is part of the plan: runs with other observations are other runs."""

    views: str | None = None  # on graphs: "annotations", "rendered", or the name of a file of features; or "inferred"
    objects: Path | None = None  # for annotations
    rooms: Path | None = None
    names: tuple[str, ...] = ()  # the objects that have a column in annotated views
    reach: float = 0.0  # metres; above 0 annotated views also contain what is farther away
    camera: CameraSensor | None = None  # on the ground
    scan: ScanSensor | None = None  # on the ground
    appearance: str = "flat"  # of rendered views, see rendering.appearance.parse_appearance
    map_lifetime: str | None = None  # of the maps of a trained agent; None for that of its training
    semantics: str | None = None  # of these maps: "true", "inferred" or a model file; None for those of its training
    waypoints: WaypointConfig | None = None  # on the ground, for agents of graphs

    @property
    def file(self) -> Path | None:
        """The file of features."""
        return None if self.views in (None, ANNOTATIONS, RENDERED, INFERRED) else Path(str(self.views))

    @property
    def inputs(self) -> dict[str, Path | None]:
        """The files that are read, by role."""
        inputs = {"views": self.file, "objects": self.objects, "rooms": self.rooms}
        if self.semantics is not None and self.semantics.endswith(SUFFIX):
            inputs["semantics"] = Path(self.semantics)
        return inputs

    @property
    def fingerprint(self) -> tuple[str, ...]:
        """Everything that decides the observations, apart from the content of the files."""
        views = "features" if self.file is not None else str(self.views)
        content = f"{views} of {self.names} within {self.reach:g} m" if self.reach else views
        content += "" if self.appearance == "flat" else f", {self.appearance}"
        content += "" if self.map_lifetime is None else f", {self.map_lifetime} maps"
        content += "" if self.semantics is None else f", {self.semantics} semantics"
        waypoints = () if self.waypoints is None else (f"waypoints {self.waypoints}",)
        scan = () if self.scan is None else (repr(self.scan),)
        return (content, repr(self.camera), *waypoints, *scan)


BLIND = ObservationConfig()


@dataclass(frozen=True, eq=False)
class RunConfig:
    """Everything a worker needs to make its context. Files are given by path, so that workers can read them."""

    agent: str | Agent | type[Any]  # a name, model file, module:Class, HOST:PORT or command; a class; an object
    tasks: Path | Split
    worlds: Path | Mapping[str, World]
    protocol: Protocol
    tours: Path | None = None
    is_command: bool = False
    reply_seconds: float | None = None  # for an agent in another process; None for the default
    observations: ObservationConfig = BLIND
    agent_options: Mapping[str, OptionValue] = field(default_factory=dict)  # keyword arguments of the agent's class
    agent_files: tuple[Path, ...] = ()  # files of the agent that it does not declare itself
    policy: str | type[Any] | None = None  # the class of a model file that was trained with a policy outside Itinera
    isolate: bool = False  # whether a foreign agent runs in a process that cannot read the answers
    hidden: tuple[Path, ...] = ()  # the files and folders that an isolated agent must not read
    service: ServiceSettings | None = None  # of a language model

    @property
    def model(self) -> Path | None:
        """The model file of a trained agent."""
        if self.is_command or self.is_service or not isinstance(self.agent, str) or self.agent in AGENTS:
            return None
        return model_file(self.agent)

    @property
    def is_named(self) -> bool:
        """Whether the agent is one of Itinera's own."""
        if self.is_command or not isinstance(self.agent, str):
            return False
        return self.agent in AGENTS or self.agent in pretrained_models()

    @property
    def is_service(self) -> bool:
        """Whether the agent is behind a web service: a language model, or a policy server."""
        return not self.is_command and (is_chat(self.agent) or is_web_agent(self.agent))

    @property
    def is_remote(self) -> bool:
        """Whether the agent is in another process: started by a command, or listening at HOST:PORT."""
        if not isinstance(self.agent, str) or self.is_service:
            return False
        return self.is_command or (not self.is_named and self.agent.rpartition(":")[2].isdecimal())

    @property
    def is_foreign(self) -> bool:
        """Whether the agent is Python code from outside Itinera, or its policy is."""
        own = self.is_remote or self.is_named or self.is_service or self.model is not None
        return self.policy is not None or not own

    @property
    def is_privileged(self) -> bool:
        """Whether the agent is one of Itinera's own that read the tasks with their goals."""
        return self.is_named and self.agent in PRIVILEGED

    @property
    def is_portable(self) -> bool:
        """Whether a fresh process can make the context: everything is named or in files."""
        named = isinstance(self.agent, str) and (self.policy is None or isinstance(self.policy, str))
        return named and isinstance(self.tasks, Path) and isinstance(self.worlds, Path)

    @property
    def worlds_path(self) -> Path | None:
        """The folder or archive of the worlds, also where they were read before."""
        if isinstance(self.worlds, Worlds) and self.worlds.source:
            return Path(self.worlds.source)
        return self.worlds if isinstance(self.worlds, Path) else None

    @property
    def has_descriptions(self) -> bool:
        """Whether the worlds are a season, which has scene descriptions."""
        return self.worlds_path is not None and (self.worlds_path / DESCRIPTIONS).is_dir()

    def read_tasks(self) -> Split:
        """The tasks with their goals, for agents that are allowed to know them."""
        return load_tasks(self.tasks, self.tours)

    def without_answers(self) -> Any:
        """The same for the process of an agent: without the tasks, unless it is allowed to know them."""
        return self if self.is_privileged else replace(self, tasks=Split("", ()), tours=None)


def agent_names() -> tuple[str, ...]:
    """The names of Itinera's own agents, pretrained ones included."""
    return (*AGENTS, *pretrained_models())


def load_tasks(tasks: Path | Split, tours: Path | None = None) -> Split:
    """The tasks, with the tours of another file if one is given."""
    if not isinstance(tasks, Split):
        from itinera.formats.catalog import read_tasks

        tasks = read_tasks(tasks)
    if tours is None:
        return tasks
    from itinera.formats.catalog import read_tours

    return tasks.with_tours(read_tours(tours, tasks), str(tours))


def load_worlds(worlds: Path | Mapping[str, World], protocol: Protocol) -> Mapping[str, World]:
    """The worlds to act in: navigation graphs, or surfaces for the protocol's robot."""
    if not isinstance(worlds, Path):
        return worlds
    from itinera.formats.catalog import read_surfaces, read_worlds

    if not protocol.on_ground:
        return read_worlds(worlds)
    surfaces = read_surfaces(worlds, protocol)
    if surfaces is None:
        raise BadArgument(
            f"Protocol {protocol.name} acts on the ground, and {worlds} contains no surfaces: give a folder of scenes, "
            "or a Hearth season."
        )
    return surfaces


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


def agent_files(config: RunConfig) -> list[Path]:
    """The files of an agent that are known before it is made: its model file, those declared, those that options name.

    Of a command these are all files it names, as in `--weights=FILE` too; what those read in turn is not known.
    """
    found = require_files(config.agent_files) if config.agent_files else []
    found += [Path(value) for value in config.agent_options.values() if isinstance(value, str) and Path(value).exists()]
    if config.model is not None and not config.is_named:
        found.insert(0, config.model)
    if config.is_command:
        try:
            words = shlex.split(cast(str, config.agent))
        except ValueError:  # reported when the command is run
            words = []
        named = [Path(word.partition("=")[2] or word) for word in words]
        found = [*(file for file in named if file.is_file()), *found]
    return list(dict.fromkeys(found))


def agent_digests(config: RunConfig, files: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The names of an agent's files and their digests, both by role; `files` are those it was found to consist of."""
    from itinera.records.provenance import digest

    first = 1 if isinstance(config.agent, str) else 2  # an object is the first itself; see `object_digests`
    found = dict(files) if first == 1 else {}
    for path in agent_files(config):
        name = str(path) if config.is_command or path == config.model else short_name(path)
        found.setdefault(name, digest(path))
    roles = ["agent" if number == 1 else f"agent {number}" for number in range(first, len(found) + first)]
    digests = dict(zip(roles, found.values(), strict=True))
    if config.agent_options:
        digests["agent options"] = plan_fingerprint(sorted(config.agent_options.items()))
    return dict(zip(roles, found, strict=True)), digests


def input_files(config: RunConfig) -> dict[str, Path | None]:
    """The files a run depends on, by role. The file of a season stands for all its others."""
    from itinera.formats.catalog import season_file

    worlds = config.worlds_path
    if worlds is not None and season_file(worlds).exists():
        worlds = season_file(worlds)
    tasks = config.tasks if isinstance(config.tasks, Path) else None
    return {
        "tasks": tasks,
        "worlds": worlds,
        "tours": config.tours,
        **config.observations.inputs,
    }


def object_digests(config: RunConfig, files: Mapping[str, str]) -> dict[str, str]:
    """The digests of what was given as objects instead of files, by role.

    An agent object is known by the source code of its class, its plain attributes, and the digests of its `files`.
    """
    digests = {}
    if isinstance(config.tasks, Split):
        digests["tasks"] = hashlib.blake2b(_encode_split(config.tasks), digest_size=16).hexdigest()
    if config.worlds_path is None and not isinstance(config.worlds, Path):
        world_ids = config.read_tasks().world_ids
        digests["worlds"] = plan_fingerprint(*describe_worlds(config.worlds, world_ids))
    if not isinstance(config.agent, str):
        digests["agent"] = plan_fingerprint(*_describe_object(config.agent), sorted(files.items()))
    return digests


def _encode_split(split: Split) -> bytes:
    """The content of a file of these tasks."""
    if any(len(episode.goals) and not len(episode.reference) for episode in split.episodes):
        from itinera.formats.pointnav import encode_split

        return encode_split(split)
    from itinera.formats.native_tasks import encode_tasks

    return encode_tasks(split)


def describe_worlds(worlds: Mapping[str, World], world_ids: Sequence[str]) -> Iterator[object]:
    from itinera.worlds import NavGraph

    for world_id in world_ids:
        yield world_id
        space = worlds[world_id].space if world_id in worlds else None
        if isinstance(space, NavGraph):
            yield space.nodes, space.positions.tolist(), space.edges.tolist()
        else:
            yield type(space).__name__


def _describe_object(agent: object) -> Iterator[object]:
    kind = agent if isinstance(agent, type) else type(agent)
    yield kind.__module__, kind.__qualname__
    try:
        yield inspect.getsource(kind)
    except (OSError, TypeError):  # typed into an interactive session
        yield ""
    if kind is not agent:
        plain = (bool, int, float, str, bytes, type(None))
        attributes = dict(sorted(vars(agent).items())) if "__dict__" in dir(agent) else {}
        yield [(name, value) for name, value in attributes.items() if isinstance(value, plain)]


def make_plan(provenance: Provenance, config: RunConfig, *more: object) -> str:
    """The fingerprint of everything that decides the result of a run; the number of workers does not."""
    return plan_fingerprint(
        provenance.version,
        _identify(config),
        config.reply_seconds,
        config.observations.fingerprint,
        sorted(provenance.digests.items()),
        provenance.seed,
        *more,
        *(["isolated"] if config.isolate else []),
    )


def _identify(config: RunConfig) -> str:
    """The agent by name, and a pretrained one by its weights too, a language model by its settings."""
    from itinera.records.provenance import digest

    if config.service is not None:
        return f"{config.agent} {sorted(config.service.decisive.items())}"

    model = config.model if config.is_named else None
    name = describe_agent(config.agent)
    return name if model is None else f"{name} {digest(model)}"


def select_protocol(protocol: str | Protocol | None, split: Split) -> Protocol:
    """The protocol asked for; else that of the tasks, and for tours the one that guides through them."""
    if isinstance(protocol, Protocol):
        return check_protocol(protocol)
    if protocol is not None:
        return PROTOCOLS[validate_choice("protocol", protocol, tuple(PROTOCOLS))]
    own = PROTOCOLS[split.protocol]
    if split.tours and own.name in TOUR_PROTOCOLS:
        return PROTOCOLS[TOUR_PROTOCOLS[own.name] + ("-test" if split.withheld_goals else "")]
    return own


def require_matching(protocol: Protocol, split: Split) -> None:
    """Refuse continuous tasks with a protocol of graphs, and the other way round."""
    place: Any = split.episodes[0].start.place if split.episodes else ""
    if isinstance(place, str) == protocol.on_ground:
        found, needed = ("on graphs", "on the ground") if isinstance(place, str) else ("on the ground", "on graphs")
        raise BadArgument(f"{split.name} has episodes {found}, but protocol {protocol.name} is for episodes {needed}.")
