"""Who walks where: the agents and worlds that commands name, made anew in every process that walks."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itinera.cli import inputs as given
from itinera.cli.bodies import ground_actions, simulator_for, speeds_of
from itinera.cli.senses import BLIND, Senses, columns_of, views_of
from itinera.errors import BadArgument
from itinera.policies.pretrained import Learned, boxed, learned, model_file, trained_agent

if TYPE_CHECKING:
    from itinera.agents.agent import Agent
    from itinera.hearth.language.scene_description import Outlook
    from itinera.runs.config import Crew
    from itinera.tasks import Protocol, Split
    from itinera.worlds import World

SIGHTS = "sights"


@dataclass(frozen=True)
class Setting:
    """All that is needed to make a crew: what the command was given."""

    agent: str  # a name of AGENTS, a model file, module:Class, HOST:PORT where one listens, or a command that starts it
    tasks: Path
    worlds: Path
    protocol: Protocol
    tours: Path | None = None
    is_command: bool = False
    reply_seconds: float | None = None  # an agent in another process may take; None for as long as is usual
    senses: Senses = BLIND
    shown: tuple[str, ...] = ()  # columns of the views, known where the agent is made

    @property
    def model(self) -> Path | None:
        """The model file of an agent that learned."""
        return None if self.is_command else model_file(self.agent)

    @property
    def is_remote(self) -> bool:
        """Whether the agent is in another process: behind a command, or at a port, which no class is named."""
        return self.is_command or (self.agent not in AGENTS and self.agent.rpartition(":")[2].isdecimal())

    def split(self) -> Split:
        """The tasks with their answers, for agents that are allowed to know them."""
        return read_split(self.tasks, self.tours)


def _still(setting: Setting, worlds: Mapping[str, World]) -> Agent:
    from itinera.agents.baselines import Still

    return Still(ground_actions=ground_actions(setting.protocol))


def _uniform(setting: Setting, worlds: Mapping[str, World]) -> Agent:
    from itinera.agents.baselines import Uniform

    return Uniform(ground_actions=ground_actions(setting.protocol))


def _random(setting: Setting, worlds: Mapping[str, World]) -> Agent:
    from itinera.agents.baselines import GroundRandom, RandomWalk, moves_of

    if setting.protocol.on_ground:
        _needs_steps(setting)
        return GroundRandom()
    return RandomWalk(moves_of(episode.reference for episode in setting.split().episodes))


def _forward(setting: Setting, worlds: Mapping[str, World]) -> Agent:
    from itinera.agents.baselines import ForwardBiased, Handcrafted, moves_of

    if setting.protocol.on_ground:
        _needs_steps(setting)
        return Handcrafted()
    moves = moves_of(episode.reference for episode in setting.split().episodes)
    return ForwardBiased(stop_once_in=1 + sum(moves) / len(moves))


def _expert(setting: Setting, worlds: Mapping[str, World]) -> Agent:
    split = setting.split()
    if setting.protocol.drive is not None:
        from itinera.agents.oracle_driver import driver

        return driver(split.episodes, worlds, setting.protocol, speeds_of(setting.protocol), tours=split.tours)
    from itinera.agents.oracle import Expert

    return Expert(split.episodes, worlds, setting.protocol, tours=split.tours)


def _reader(setting: Setting, worlds: Mapping[str, World]) -> Agent:
    from itinera.agents.rule_based import Reader

    if setting.protocol.on_ground or not (setting.worlds / SIGHTS).is_dir():
        raise BadArgument("The reader follows Hearth's instructions on its graphs: give a season's folder as --worlds.")
    return Reader()


def _trained(setting: Setting, worlds: Mapping[str, World]) -> Agent:
    assert setting.model is not None
    return trained_agent(setting.model, setting.shown)


def _needs_steps(setting: Setting) -> None:
    if setting.protocol.drive == "unicycle-15":
        raise BadArgument(
            f"The agent {setting.agent} steps and turns by actions 1, 2 and 3, which are others with --drive "
            "unicycle-15. Of ours expert, still and uniform can drive so."
        )


AGENTS: dict[str, Callable[[Setting, Mapping[str, World]], Agent]] = {
    "still": _still,  # stops at once
    "uniform": _uniform,  # every action is as likely
    "random": _random,  # of Stay on the Path, as long as the tasks' own paths; on the ground VLN-CE's
    "forward": _forward,  # ahead, for as long as the tasks' paths on average; on the ground VLN-CE's hand-crafted one
    "expert": _expert,  # knows the goals
    "reader": _reader,  # follows the words by rules
    **dict.fromkeys(boxed(), _trained),  # have learned; their cards tell from what
}
"""The agents that go by a name of their own."""


def learned_by(setting: Setting) -> Learned | None:
    """What an agent that learned must be shown; None for any other."""
    return None if setting.model is None else learned(setting.model)


def make_crew(setting: Setting) -> Crew:
    """The agent, the body and the worlds of a setting."""
    given.spare_blas()
    from itinera.runs.config import Crew

    worlds = walking_worlds(setting.worlds, setting.protocol)
    views = views_of(setting.senses, setting.worlds, worlds)
    body = simulator_for(setting.protocol, views=views, sights=sights_in(setting.worlds), eye=setting.senses.eye)
    return Crew(agent_of(setting, worlds, columns=columns_of(views)), body, worlds)


def agent_of(setting: Setting, worlds: Mapping[str, World], *, columns: Sequence[str] = ()) -> Agent:
    """The agent of this name, of this class of somebody's module, or at the other end of this command or address.

    `columns`: what each number of the views it is shown tells.
    """
    if setting.is_remote:
        from itinera.agents.remote import SECONDS, remote_address, remote_program

        seconds = SECONDS if setting.reply_seconds is None else setting.reply_seconds
        call = remote_program if setting.is_command else remote_address
        return call(setting.agent, seconds=seconds, columns=columns)
    if setting.reply_seconds is not None:
        raise BadArgument("--reply-seconds is for agents in other processes; --limit-seconds ends any.")
    if setting.agent in AGENTS or setting.model is not None:
        make = AGENTS.get(setting.agent, _trained)
        return make(replace(setting, shown=tuple(columns)), worlds)
    return _of_class(setting.agent)


def _of_class(name: str) -> Agent:
    module, _, attribute = name.partition(":")
    if not attribute:
        raise BadArgument(
            f"There is no agent {name!r}. There are {', '.join(AGENTS)}, and yours as module:Class or NAME.safetensors."
        )
    here_first()
    try:
        made = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise BadArgument(f"{module} cannot be imported: {error}. It is looked for in this folder first.") from None
    except AttributeError:
        raise BadArgument(f"Module {module} has no {attribute}.") from None
    agent: Agent = made()
    missing = [
        method for method in ("reset", "start_episode", "act", "observe") if not callable(getattr(agent, method, None))
    ]
    if missing:
        raise BadArgument(
            f"{name} is no agent: it has no {', '.join(missing)}. An agent has reset, start_episode, act, observe."
        )
    return agent


def code_of(setting: Setting) -> dict[str, Path]:
    """The files with somebody's agent in them, by role, so that a run can tell whether they have changed.

    Of a command these are all files it names, as `--weights=FILE` too; what those read in turn is not known.
    """
    if setting.is_command:
        try:
            words = shlex.split(setting.agent)
        except ValueError:  # which is told when the command is to be run
            return {}
        named = [word.partition("=")[2] or word for word in words]
        files = [Path(name) for name in dict.fromkeys(named) if Path(name).is_file()]
        return {f"agent {number}" if number > 1 else "agent": file for number, file in enumerate(files, start=1)}
    if setting.model is not None and setting.agent not in AGENTS:
        return {"agent": setting.model}
    module, _, attribute = setting.agent.partition(":")
    if setting.is_remote or setting.agent in AGENTS or not attribute:
        return {}
    here_first()
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return {}
    file = Path((spec and spec.origin) or "")
    return {"agent": file} if file.is_file() else {}


def here_first() -> None:
    """Look for modules in the present folder, as Python does for a script."""
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)


def read_split(tasks: Path, tours: Path | None) -> Split:
    """The tasks, with the tours of another file if one is given."""
    from itinera.formats import catalog

    split = catalog.read_tasks(tasks)
    return split if tours is None else split.with_tours(catalog.read_tours(tours, split), str(tours))


def walking_worlds(path: Path, protocol: Protocol) -> Mapping[str, World]:
    """The worlds of a folder: graphs, or the ground for the protocol's robot."""
    if not protocol.on_ground:
        return given.read_graphs(path)
    grounds = given.read_grounds(path, protocol)
    if grounds is None:
        raise BadArgument(
            f"Protocol {protocol.name} walks on the ground, and {path} has none: give a folder of scenes, or of a "
            "season of Hearth."
        )
    return grounds


def sights_in(worlds: Path) -> Mapping[str, Mapping[str, Outlook]] | None:
    """What can be told in words of each place, where the worlds are a season, which tells it."""
    if not (worlds / SIGHTS).is_dir():
        return None
    from itinera.formats.scene_descriptions import read_sights

    return read_sights(worlds / SIGHTS)


def inputs_of(setting: Setting) -> dict[str, Path | None]:
    """The files a run depends on, by role. A season's own file tells of all its others."""
    about = given.season_file(setting.worlds)
    worlds = about if about.exists() else setting.worlds
    seen = setting.senses.inputs
    return {"tasks": setting.tasks, "worlds": worlds, "tours": setting.tours, **seen, **code_of(setting)}


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
    if isinstance(place, str) == protocol.on_ground:
        here, there = ("on graphs", "on the ground") if isinstance(place, str) else ("on the ground", "on graphs")
        raise BadArgument(f"{split.name} is walked {here}, but protocol {protocol.name} is of walks {there}.")
