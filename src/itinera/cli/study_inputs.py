"""What the verbs of a study are given: tasks with words tied to places, and worlds with their rooms and things."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from itinera.cli import inputs as given
from itinera.cli.crews import SIGHTS, Setting, agent_of, sights_in, walking_worlds
from itinera.cli.senses import columns_of, views_of
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.agents.agent import Agent
    from itinera.runs.probing import Panel
    from itinera.tasks import Split
    from itinera.tasks.trial import Trial
    from itinera.worlds import World

TRACES = "pose_traces"


def aligned_split(tasks: Path, alignment: Path | None) -> Split:
    """The tasks with their words tied to places: Fine-Grained R2R and ours are, RxR's needs its pose traces.

    A season of Hearth keeps the traces beside the guide file, where they are found.
    """
    from itinera.formats import catalog
    from itinera.formats.rxr import with_alignment

    found = catalog.detect(tasks)
    split = catalog.read_tasks(tasks)
    if found.name != "rxr":
        if alignment is not None:
            raise BadArgument("--alignment is RxR's folder of guide pose traces; these tasks are no RxR guide file.")
        if all(episode.alignment is None for episode in split.episodes):
            raise BadArgument(
                f"The words of {tasks} are not tied to places. Give Fine-Grained R2R, an RxR guide file with its pose "
                "traces (--alignment), or a season's rxr file."
            )
        return split
    traces = alignment or _traces_beside(tasks)
    if traces is None:
        raise BadArgument("RxR's words are tied to places by its pose traces: give their folder as --alignment.")
    return with_alignment(split, traces)


def _traces_beside(tasks: Path) -> Path | None:
    found = (
        path for path in sorted((tasks.parent / TRACES).glob("*")) if tasks.name.startswith(path.name.split(".")[0])
    )
    return next(found, None)


@dataclass(frozen=True)
class Places:
    """Where worlds, and what is known of them, come from."""

    worlds: Path
    objects: Path | None = None
    rooms: Path | None = None

    @property
    def is_season(self) -> bool:
        return given.season_file(self.worlds).exists()

    @property
    def inputs(self) -> dict[str, Path | None]:
        """The files that are read, by role; a season's own file tells of all its others."""
        worlds = given.season_file(self.worlds) if self.is_season else self.worlds
        return {"worlds": worlds, "objects": self.objects, "rooms": self.rooms}

    def read(self, *, objects: bool) -> Mapping[str, World]:
        """Graphs with rooms and, if asked for, things, as far as they are known."""
        from itinera.formats.hearth_season import BOXES
        from itinera.formats.reverie import read_objects
        from itinera.formats.rooms import read_table
        from itinera.tasks.protocol import R2R
        from itinera.worlds.lazy import OnDemand

        worlds = walking_worlds(self.worlds, R2R)
        boxes = self.objects or (self.worlds / BOXES if self.is_season else None)
        table = self.rooms or (self.worlds / "rooms.csv" if self.is_season else None)
        seen = read_objects(boxes) if objects and boxes is not None else {}
        rooms = {} if table is None else read_table(table)

        def world(world_id: str) -> World:
            return replace(worlds[world_id], rooms=rooms.get(world_id, {}), objects=seen.get(world_id, {}))

        return OnDemand(worlds, world)


@dataclass(frozen=True)
class StudySetting(Setting):
    """What a panel is made of; the tasks are a file of trials."""

    rooms: Path | None = None

    def split(self) -> Split:
        from itinera.formats.trials import read_trials
        from itinera.tasks import Split

        return Split(self.tasks.stem, tuple(trial.episode for trial in read_trials(self.tasks).trials))


def make_panel(setting: StudySetting) -> Panel:
    """The agent, the body and the worlds of a setting."""
    from itinera.runs.probing import Panel
    from itinera.simulators.graph import GraphSimulator

    worlds = Places(setting.worlds, rooms=setting.rooms).read(objects=False)
    views = views_of(setting.senses, setting.worlds, worlds)
    body = GraphSimulator(views, sights=sights_in(setting.worlds) if (setting.worlds / SIGHTS).is_dir() else None)
    return Panel(_agent_for(setting, worlds, columns_of(views)), body, worlds)


def _agent_for(
    setting: StudySetting, worlds: Mapping[str, World], columns: tuple[str, ...]
) -> Callable[[Trial], Agent]:
    if setting.agent == "expert":
        return lambda trial: _expert(trial, worlds)
    if setting.agent == "forward":
        from itinera.agents.baselines import ForwardBiased

        forward = ForwardBiased()  # which never stops: of a study it is the baseline for where agents go
        return lambda trial: forward
    agent = agent_of(setting, worlds, columns=columns)
    return lambda trial: agent


def _expert(trial: Trial, worlds: Mapping[str, World]) -> Agent:
    """Someone who knows what the words of a trial ask for."""
    from itinera.agents.oracle import GraphExpert
    from itinera.skills.trials import graph_of

    world = worlds[trial.episode.world_id]
    goals = trial.episode.goals
    if trial.arm == "intervention" and not trial.target.get("stop"):
        goals = tuple(trial.target.get("nodes") or _places_of(trial, world))
    return GraphExpert(graph_of(world), goals)


def _places_of(trial: Trial, world: World) -> tuple[str, ...]:
    from itinera.skills.trials import graph_of

    label = trial.target.get("room")
    if not world.rooms:
        raise BadArgument(f"The expert needs to know the rooms of world {world.id}: give a table as --rooms.")
    known = graph_of(world).index  # tables of rooms also list places that a graph leaves out
    return tuple(node for node, room in world.rooms.items() if room.label == label and node in known)
