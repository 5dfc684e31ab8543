"""The inputs of a replay: the episodes to show, and the houses, meshes and word alignments of a folder of worlds."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from itinera.errors import BadArgument, MissingExtra
from itinera.records import Predictions
from itinera.tasks import Alignment, Episode, Split, Tour
from itinera.worlds import World

if TYPE_CHECKING:
    from itinera.hearth.build import House
    from itinera.reports.replay.trajectories import ViewRenderer
    from itinera.worlds.mesh import Mesh

logger = logging.getLogger("itinera")


def name_agents(paths: Sequence[Path]) -> list[str]:
    """A name per file: its stem, with as many parent folders as make the names unique."""
    for parts in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join((*path.parts[-parts:-1], path.name.split(".")[0])) for path in paths]
        if len(set(names)) == len(names):
            return names
    raise BadArgument("The same predictions are given twice.")


def select_episodes(
    split: Split, predictions: Mapping[str, Predictions], *, episodes: Sequence[str] = (), tour: str | None = None
) -> Split:
    """The split with these episodes in their order, or with those of a tour by its id in the predictions.

    Without episodes and tour, the first rollout of the first agent is selected.
    """
    if episodes and tour is not None:
        raise BadArgument("Give either episodes (--episodes, --failures) or a tour (--tour), not both.")
    if episodes:
        return _restrict(split, episodes, ())
    for name, of_agent in predictions.items():
        for rollout in of_agent.rollouts:
            if tour is None or rollout.tour_id == tour:
                if tour is None and len(of_agent.rollouts) > 1:
                    logger.info(
                        f"Showing {rollout.tour_id}, the first of {len(of_agent.rollouts)} rollouts of {name}; choose "
                        "others with --episodes, --failures or --tour."
                    )
                ids = [trajectory.episode_id for trajectory in rollout.trajectories]
                return _restrict(split, ids, _make_tour(split, rollout.tour_id, ids) if len(ids) > 1 else ())
    known = ", ".join(rollout.tour_id for rollout in list(next(iter(predictions.values())).rollouts)[:5])
    raise BadArgument(f"There is no tour {tour!r} in these predictions; there are {known}, …")


def _make_tour(split: Split, tour_id: str, episode_ids: Sequence[str]) -> tuple[Tour, ...]:
    first = split.by_id.get(episode_ids[0])
    return () if first is None else (Tour(tour_id, first.world_id, tuple(episode_ids)),)


def _restrict(split: Split, episode_ids: Sequence[str], tours: tuple[Tour, ...]) -> Split:
    unknown = [name for name in episode_ids if name not in split.by_id]
    if unknown:
        raise BadArgument(f"Episode {unknown[0]!r} is not in {split.name}. Give the tasks of these predictions.")
    return replace(split, episodes=tuple(split.by_id[name] for name in dict.fromkeys(episode_ids)), tours=tours)


def make_title(split: Split, agents: Iterable[str]) -> str:
    """The episodes, the first scenes and the agents."""
    if split.tours:
        what = f"Tour {split.tours[0].id}"
    elif len(split.episodes) > 1:
        what = f"{len(split.episodes)} episodes"
    else:
        what = f"Episode {split.episodes[0].id}"
    return f"{what} in {', '.join(split.world_ids[:3])}: {', '.join(agents)}"


def build_houses(folder: Path, world_ids: Iterable[str]) -> dict[str, House]:
    """The houses of a Hearth season among these worlds, rebuilt from the season's seed; empty for other folders."""
    from itinera.formats.hearth_season import season_houses

    known = season_houses(folder)
    if known is None:
        return {}
    from itinera.hearth.build import build_house

    return {name: build_house(*known[name], id=name) for name in world_ids if name in known}


def find_view_renderer(
    worlds: Mapping[str, World], world_ids: Iterable[str], *, houses: Mapping[str, House], folder: Path | None
) -> ViewRenderer | None:
    """A renderer for the worlds that have a mesh; None if none has one, or Pillow is not installed."""
    meshes = {name: mesh for name in world_ids if (mesh := _find_mesh(worlds[name], houses, folder)) is not None}
    if not meshes:
        return None
    from itinera.reports.replay.frames import make_view_renderer

    try:
        return make_view_renderer(meshes)
    except MissingExtra as error:
        logger.info(f"{error} The replay is made without them.")
        return None


def _find_mesh(world: World, houses: Mapping[str, House], folder: Path | None) -> Mesh | None:
    if world.id in houses:
        return houses[world.id].mesh
    if world.mesh is not None or folder is None or not folder.is_dir():
        return world.mesh
    from itinera.formats import scenes

    file = scenes.find_scenes(folder).get(world.id)
    return None if file is None else scenes.read_scene(file)


def align_words(split: Split, *, traces: Path | None = None, folder: Path | None = None) -> Split:
    """The split with its words aligned to reference positions, if known: by RxR traces, the tasks, or their season."""
    if traces is not None:
        from itinera.formats.rxr import with_alignment

        return with_alignment(split, traces)
    if folder is None or any(_is_aligned(episode.alignment) for episode in split.episodes):
        return split
    known = _season_alignments(folder, split)
    episodes = tuple(replace(e, alignment=known.get(_key(e), e.alignment)) for e in split.episodes)
    return replace(split, episodes=episodes)


def _is_aligned(alignment: Alignment | None) -> bool:
    return alignment is not None and bool((alignment.first >= 0).any())


def _season_alignments(season: Path, split: Split) -> dict[tuple[str, str, int], Alignment]:
    """The alignments in a season's RxR files for the instructions of the split, by world, text and path length."""
    from itinera.formats import rxr
    from itinera.formats.hearth_season import split_files

    wanted = {_key(episode) for episode in split.episodes}
    found: dict[tuple[str, str, int], Alignment] = {}
    for guide in sorted((season / "rxr").glob("rxr_*_guide.jsonl.gz")):
        files = split_files(guide.name.removeprefix("rxr_").removesuffix("_guide.jsonl.gz"))
        guides = rxr.read_split(guide)
        same = replace(guides, episodes=tuple(episode for episode in guides.episodes if _key(episode) in wanted))
        if same.episodes and (season / files["traces"]).exists():
            aligned = rxr.with_alignment(same, season / files["traces"])
            found |= {_key(episode): episode.alignment for episode in aligned.episodes if episode.alignment is not None}
    return found


def _key(episode: Episode) -> tuple[str, str, int]:
    return episode.world_id, episode.instruction.text, len(episode.reference)
