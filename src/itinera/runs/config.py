"""The configuration of a run: which agent acts in which tasks and worlds, by which protocol, with which observations.

Every worker makes its own `WorkerContext` of it (`context.py`); `identity.py` says what it depends on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itinera.agents.agent import Agent
from itinera.agents.loading import OptionValue
from itinera.agents.registry import AGENTS, PRIVILEGED
from itinera.agents.services.settings import ServiceSettings, is_chat, is_web_agent
from itinera.errors import BadArgument, validate_choice
from itinera.policies.pretrained import SUFFIX, model_file, pretrained_models
from itinera.records import Rollout
from itinera.runs.clock import Clock
from itinera.runs.rollout import OnEpisode, rollout
from itinera.runs.tour_loop import FindGoals
from itinera.simulators.simulator import Simulator
from itinera.tasks import PROTOCOLS, Episode, Protocol, Split, Tour
from itinera.tasks.protocol import TOUR_PROTOCOLS, check_protocol
from itinera.worlds import World
from itinera.worlds.world import Worlds

if TYPE_CHECKING:
    from itinera.simulators.pointnav.sensors import ScanSensor
    from itinera.simulators.sensors import CameraSensor

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
    clock: Clock | None = None  # None: no time passes while the agent thinks
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
        clock=config.clock,
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
