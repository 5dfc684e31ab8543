"""Who walks where: the agents and worlds that commands name, made anew in every process that walks."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itinera.cli import inputs as given
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.agents.agent import Agent
    from itinera.houses.outlook import Outlook
    from itinera.runs.crew import Crew
    from itinera.simulators.simulator import Simulator
    from itinera.tasks import Protocol, Split
    from itinera.worlds import World

SEASON = "season.json"
SIGHTS = "sights"


@dataclass(frozen=True)
class Setting:
    """All that is needed to make a crew: what the command was given."""

    agent: str  # a name of AGENTS, module:Class, HOST:PORT where one listens, or a command that starts one
    tasks: Path
    worlds: Path
    protocol: Protocol
    tours: Path | None = None
    is_command: bool = False

    def split(self) -> Split:
        """The tasks with their answers, for agents that are allowed to know them."""
        return read_split(self.tasks, self.tours)


def _still(setting: Setting, worlds: Mapping[str, World]) -> Agent:
    from itinera.agents.simple import Still

    return Still(ground_actions=ground_actions(setting.protocol))


def _uniform(setting: Setting, worlds: Mapping[str, World]) -> Agent:
    from itinera.agents.simple import Uniform

    return Uniform(ground_actions=ground_actions(setting.protocol))


def _random(setting: Setting, worlds: Mapping[str, World]) -> Agent:
    from itinera.agents.simple import GroundRandom, RandomWalk, moves_of

    if on_ground(setting.protocol):
        return GroundRandom()
    return RandomWalk(moves_of(episode.reference for episode in setting.split().episodes))


def _forward(setting: Setting, worlds: Mapping[str, World]) -> Agent:
    from itinera.agents.simple import ForwardBiased, Handcrafted, moves_of

    if on_ground(setting.protocol):
        return Handcrafted()
    moves = moves_of(episode.reference for episode in setting.split().episodes)
    return ForwardBiased(stop_once_in=1 + sum(moves) / len(moves))


def _expert(setting: Setting, worlds: Mapping[str, World]) -> Agent:
    from itinera.agents.expert import Expert

    split = setting.split()
    return Expert(split.episodes, worlds, setting.protocol, tours=split.tours)


def _reader(setting: Setting, worlds: Mapping[str, World]) -> Agent:
    from itinera.agents.reader import Reader

    if on_ground(setting.protocol) or not (setting.worlds / SIGHTS).is_dir():
        raise BadArgument("The reader follows Hearth's instructions on its graphs: give a season's folder as --worlds.")
    return Reader()


AGENTS: dict[str, Callable[[Setting, Mapping[str, World]], Agent]] = {
    "still": _still,  # stops at once
    "uniform": _uniform,  # every action is as likely
    "random": _random,  # of Stay on the Path, as long as the tasks' own paths; on the ground VLN-CE's
    "forward": _forward,  # ahead, for as long as the tasks' paths on average; on the ground VLN-CE's hand-crafted one
    "expert": _expert,  # knows the goals
    "reader": _reader,  # follows the words by rules
}
"""The agents that go by a name of their own."""


def make_crew(setting: Setting) -> Crew:
    """The agent, the body and the worlds of a setting."""
    given.spare_blas()
    from itinera.runs.crew import Crew

    worlds = walking_worlds(setting.worlds, setting.protocol)
    return Crew(agent_of(setting, worlds), simulator_for(setting.protocol, sights_of(setting)), worlds)


def agent_of(setting: Setting, worlds: Mapping[str, World]) -> Agent:
    """The agent of this name, of this class of somebody's module, or at the other end of this command or address."""
    if setting.is_command:
        from itinera.agents.remote import remote_program

        return remote_program(setting.agent)
    if setting.agent in AGENTS:
        return AGENTS[setting.agent](setting, worlds)
    if setting.agent.rpartition(":")[2].isdecimal():  # a port, which no class is named
        from itinera.agents.remote import remote_address

        return remote_address(setting.agent)
    return _of_class(setting.agent)


def _of_class(name: str) -> Agent:
    module, _, attribute = name.partition(":")
    if not attribute:
        raise BadArgument(f"There is no agent {name!r}. There are {', '.join(AGENTS)}, and yours as module:Class.")
    here_first()
    try:
        made = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise BadArgument(f"{module} cannot be imported: {error}. It is looked for in this folder first.") from None
    except AttributeError:
        raise BadArgument(f"Module {module} has no {attribute}.") from None
    agent: Agent = made()
    missing = [method for method in ("enter", "begin", "act", "watch") if not callable(getattr(agent, method, None))]
    if missing:
        raise BadArgument(f"{name} is no agent: it has no {', '.join(missing)}. An agent has enter, begin, act, watch.")
    return agent


def code_of(setting: Setting) -> Path | None:
    """The file with somebody's agent in it, so that a run can tell whether it has changed."""
    module, _, attribute = setting.agent.partition(":")
    if setting.is_command or setting.agent in AGENTS or not attribute:
        return None
    here_first()
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin and Path(spec.origin).is_file() else None


def here_first() -> None:
    """Look for modules in the present folder, as Python does for a script."""
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)


def read_split(tasks: Path, tours: Path | None) -> Split:
    """The tasks, with the tours of another file if one is given."""
    from itinera.formats import catalogue

    split = catalogue.read_tasks(tasks)
    return split if tours is None else split.with_tours(catalogue.read_tours(tours, split), str(tours))


def on_ground(protocol: Protocol) -> bool:
    """Whether one walks by steps and turns, not from node to node."""
    return protocol.step_size is not None


def walking_worlds(path: Path, protocol: Protocol) -> Mapping[str, World]:
    """The worlds of a folder: graphs, or the ground for the protocol's robot."""
    from itinera.formats import catalogue

    if not on_ground(protocol):
        return catalogue.read_worlds(path / "connectivity" if (path / SEASON).exists() else path)
    grounds = given.read_grounds(path, protocol)
    if grounds is None:
        raise BadArgument(
            f"Protocol {protocol.name} walks on the ground, and {path} has none: give a folder of scenes, or of a "
            "season of Hearth."
        )
    return grounds


def ground_actions(protocol: Protocol) -> int:
    """How many actions a body on the ground has."""
    return 4 if protocol.tilt_angle is None else 6


def sights_of(setting: Setting) -> Mapping[str, Mapping[str, Outlook]] | None:
    """What can be told in words of each place, for the agents that ask for it and where the worlds tell."""
    folder = setting.worlds / SIGHTS
    if setting.agent != "reader" or not folder.is_dir():
        return None
    from itinera.formats.sights import read_sights

    return read_sights(folder)


def simulator_for(protocol: Protocol, sights: Mapping[str, Mapping[str, Outlook]] | None = None) -> Simulator:
    """The body a protocol speaks of, without eyes."""
    if on_ground(protocol):
        from itinera.simulators.ground_walk import GroundWalk

        return GroundWalk.for_protocol(protocol)
    from itinera.simulators.graph_walk import GraphWalk

    return GraphWalk(sights=sights)


def inputs_of(setting: Setting) -> dict[str, Path | None]:
    """The files a run depends on, by role. A season's own file tells of all its others."""
    about = setting.worlds / SEASON
    worlds = about if about.exists() else setting.worlds
    return {"tasks": setting.tasks, "worlds": worlds, "tours": setting.tours, "agent": code_of(setting)}


def chosen_protocol(name: str | None, split: Split) -> Protocol:
    """The protocol asked for, else the tasks' own, and for tours the one that leads through them."""
    from itinera.tasks import PROTOCOLS

    if name is not None:
        return PROTOCOLS[given.one_of("--protocol", name, tuple(PROTOCOLS))]
    own = PROTOCOLS[split.protocol]
    toured: dict[str, str] = {"r2r": "ivln", "r2r-ce": "ivln-ce"}
    if split.tours and own.name in toured:
        return PROTOCOLS[toured[own.name] + ("-test" if split.withheld else "")]
    return own


def fits(protocol: Protocol, split: Split) -> None:
    """Refuse tasks on the ground by a protocol of graphs, and the other way round."""
    place: Any = split.episodes[0].start.place if split.episodes else ""
    if isinstance(place, str) == on_ground(protocol):
        here, there = ("on graphs", "on the ground") if isinstance(place, str) else ("on the ground", "on graphs")
        raise BadArgument(f"{split.name} is walked {here}, but protocol {protocol.name} is of walks {there}.")
