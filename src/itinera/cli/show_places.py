"""Where the walks of `itinera show` were: worlds to measure in, houses to draw, meshes to look at, and their words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from itinera.cli import inputs as given
from itinera.cli import output
from itinera.errors import BadArgument, MissingExtra

if TYPE_CHECKING:
    from itinera.hearth.build import House
    from itinera.reports.replay.trajectories import Look
    from itinera.tasks import Alignment, Episode, Protocol, Split
    from itinera.worlds import World
    from itinera.worlds.mesh import Mesh


def worlds_shown(split: Split, path: Path | None, protocol: Protocol) -> Mapping[str, World]:
    """The worlds of the episodes: the graphs of a folder or a season, or the ground of the protocol's robot."""
    from itinera.cli.crews import walking_worlds

    on_graph = isinstance(split.episodes[0].start.place, str)
    if on_graph and path is not None and given.season_file(path).exists():
        return walking_worlds(path, protocol)
    found = given.worlds_of(split, path, protocol)
    missing = [world_id for world_id in split.world_ids if world_id not in found]
    if missing:
        raise BadArgument(f"World {missing[0]} is not among those of {path}.")
    return found


def houses_in(path: Path | None, world_ids: Iterable[str]) -> dict[str, House]:
    """The houses of Hearth among the worlds, built again from their season's seed."""
    from itinera.formats.hearth_season import houses_of

    known = None if path is None else houses_of(path)
    if known is None:
        return {}
    from itinera.hearth.build import build_house

    return {name: build_house(*known[name], id=name) for name in world_ids if name in known}


def look_at(
    path: Path | None, worlds: Mapping[str, World], houses: Mapping[str, House], world_ids: Iterable[str]
) -> Look | None:
    """A camera for the worlds that have a mesh; None if none has, or pictures cannot be made here."""
    meshes = {name: mesh for name in world_ids if (mesh := _mesh(path, worlds[name], houses.get(name))) is not None}
    if not meshes:
        return None
    from itinera.reports.replay.frames import looking

    try:
        return looking(meshes)
    except MissingExtra as error:
        output.remark(f"{error} The page is written without them.")
        return None


def _mesh(path: Path | None, world: World, house: House | None) -> Mesh | None:
    if house is not None:
        return house.mesh
    if world.mesh is not None or path is None or not path.is_dir():
        return world.mesh
    from itinera.formats import scenes

    file = scenes.scenes_in(path).get(world.id)
    return None if file is None else scenes.read_scene(file)


def alignment_of(split: Split, worlds: Path | None, traces: Path | None) -> Split:
    """The split with its words tied to places, where that is known: by the tasks, by traces, or by their season."""
    if traces is not None:
        from itinera.formats.rxr import with_alignment

        return with_alignment(split, traces)
    if worlds is None or any(_tied(episode.alignment) for episode in split.episodes):
        return split
    known = _spoken(worlds, split)
    return replace(split, episodes=tuple(_with(episode, known) for episode in split.episodes))


def _tied(alignment: Alignment | None) -> bool:
    return alignment is not None and bool((alignment.first >= 0).any())


def _spoken(season: Path, split: Split) -> dict[tuple[str, str, int], Alignment]:
    """The alignments of a season's own RxR files for the words of the split, by world, words and length of the path."""
    from itinera.formats import rxr
    from itinera.formats.hearth_season import files_of

    wanted = {_key(episode) for episode in split.episodes}
    found: dict[tuple[str, str, int], Alignment] = {}
    for guide in sorted((season / "rxr").glob("rxr_*_guide.jsonl.gz")):
        files = files_of(guide.name.removeprefix("rxr_").removesuffix("_guide.jsonl.gz"))
        told = rxr.read_split(guide)
        same = replace(told, episodes=tuple(episode for episode in told.episodes if _key(episode) in wanted))
        if same.episodes and (season / files["traces"]).exists():
            aligned = rxr.with_alignment(same, season / files["traces"])
            found |= {_key(episode): episode.alignment for episode in aligned.episodes if episode.alignment is not None}
    return found


def _key(episode: Episode) -> tuple[str, str, int]:
    return episode.world_id, episode.instruction.text, len(episode.reference)


def _with(episode: Episode, known: Mapping[tuple[str, str, int], Alignment]) -> Episode:
    return replace(episode, alignment=known.get(_key(episode), episode.alignment))
