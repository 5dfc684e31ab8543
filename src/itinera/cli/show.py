"""`itinera show`: walks to look at, as a page, a film or a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import inputs as given
from itinera.cli import options, output
from itinera.cli.show_drives import drives_of
from itinera.cli.show_places import alignment_of, houses_in, look_at, worlds_shown
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.records import Predictions
    from itinera.reports.replay.data import Replay
    from itinera.tasks import Protocol, Split, Tour
    from itinera.tasks.fastest_times import FastestTimes

_FILES = "What to write"
PICTURES = 1000


def show(
    walks: Annotated[list[Path], typer.Argument(help="Walks of one agent or of several, to be seen together.")],
    tasks: options.Tasks,
    worlds: options.Worlds = None,
    episode: Annotated[
        list[str] | None, typer.Option("--episode", help="Show this episode; again for more of them.")
    ] = None,
    tour: Annotated[str | None, typer.Option("--tour", help="Show this tour, by its id in the walks.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The page, .html, that needs no other file.", rich_help_panel=_FILES)
    ] = None,
    png: Annotated[
        Path | None, typer.Option(help="A picture of the first episode, done.", rich_help_panel=_FILES)
    ] = None,
    gif: Annotated[Path | None, typer.Option(help="A film as .gif.", rich_help_panel=_FILES)] = None,
    mp4: Annotated[Path | None, typer.Option(help="A film as .mp4 (extra video).", rich_help_panel=_FILES)] = None,
    rerun: Annotated[
        Path | None, typer.Option(help="A recording for the Rerun viewer, .rrd (extra viewer).", rich_help_panel=_FILES)
    ] = None,
    alignment: Annotated[
        Path | None, typer.Option(help="RxR's guide pose traces; a season of Hearth has its own, which are found.")
    ] = None,
    times: Annotated[
        Path | None,
        typer.Option(help="Fastest times, to tell; on the ground the fastest drives of a few episodes are drawn too."),
    ] = None,
    pictures: Annotated[
        int, typer.Option(help="First-person pictures in the page, at most, where the place has a mesh; 0 for none.")
    ] = PICTURES,
    protocol: options.ProtocolName = None,
    format: options.Format = None,
) -> None:
    """Show where agents walked: a map with the paths, a slider through time, the words and what was seen.

    An episode alone, several, or a whole tour. Without --episode and --tour it is the first walk of the first file.

    Example: itinera show walks.jsonl --tasks R2R_val_unseen.json --worlds connectivity/ --out replay.html
    """
    given.spare_blas()
    from itinera.formats import catalog
    from itinera.reports.replay.trajectories import More, replay_of

    files = {".html": out, ".png": png, ".gif": gif, ".mp4": mp4, ".rrd": rerun}
    _check(files, pictures)
    split = catalog.read_tasks(tasks)
    prediction_sets = {
        name: catalog.read_predictions(path, split, format=format)
        for name, path in zip(names_of(walks), walks, strict=True)
    }
    rules = _protocol(protocol, next(iter(prediction_sets.values())), split)
    chosen = _chosen(split, prediction_sets, episode or [], tour)
    chosen = alignment_of(chosen, worlds, alignment)
    houses = houses_in(worlds, chosen.world_ids)
    places = worlds_shown(chosen, worlds, rules)
    fastest = None if times is None else _read_times(times)
    more = More(
        houses=houses,
        drives={} if fastest is None else drives_of(chosen, worlds, rules, fastest.robot),
        times=fastest,
        look=look_at(worlds, places, houses, chosen.world_ids) if out is not None and pictures else None,
        pictures=pictures,
    )
    replay = replay_of(
        prediction_sets, chosen, places, protocol=rules, title=_title(chosen, prediction_sets), more=more
    )
    _write(replay, files)


def names_of(walks: Sequence[Path]) -> list[str]:
    """What the agents are called: the names of their files, with as many folders before as tell them apart."""
    for parts in range(1, max(len(path.parts) for path in walks) + 1):
        found = ["/".join((*path.parts[-parts:-1], path.name.split(".")[0])) for path in walks]
        if len(set(found)) == len(found):
            return found
    raise BadArgument("The same walks are given twice.")


def _check(files: Mapping[str, Path | None], pictures: int) -> None:
    if not any(files.values()):
        raise BadArgument("Say what to write: --out replay.html, --png, --gif, --mp4 or --rerun.")
    for ending, path in files.items():
        if path is not None and path.suffix != ending:
            raise BadArgument(f"{path} must end in {ending}.")
    if pictures < 0:
        raise BadArgument(f"--pictures is a number of pictures from 0 on, not {pictures}.")


def _protocol(name: str | None, predictions: Predictions, split: Split) -> Protocol:
    from itinera.tasks import PROTOCOLS

    if name is not None:
        return PROTOCOLS[given.one_of("--protocol", name, tuple(PROTOCOLS))]
    return predictions.protocol or PROTOCOLS[split.protocol]


def _chosen(
    split: Split, prediction_sets: Mapping[str, Predictions], episodes: Sequence[str], tour: str | None
) -> Split:
    """The episodes to be shown, in their order, and the tour if it is one."""
    if episodes and tour is not None:
        raise BadArgument("Choose one of --episode and --tour.")
    if episodes:
        return _only(split, episodes, ())
    for name, predictions in prediction_sets.items():
        for walk in predictions.rollouts:
            if tour is None or walk.tour_id == tour:
                if tour is None and len(predictions.rollouts) > 1:
                    rest = f"the first of {len(predictions.rollouts)} walks of {name}"
                    output.remark(f"Shown is {walk.tour_id}, {rest}; choose another with --episode or --tour.")
                ids = [trajectory.episode_id for trajectory in walk.trajectories]
                return _only(split, ids, _tour(split, walk.tour_id, ids) if len(ids) > 1 else ())
    known = ", ".join(walk.tour_id for walk in list(next(iter(prediction_sets.values())).rollouts)[:5])
    raise BadArgument(f"There is no tour {tour!r} in these walks; there are {known}, …")


def _tour(split: Split, tour_id: str, episode_ids: Sequence[str]) -> tuple[Tour, ...]:
    from itinera.tasks import Tour

    first = split.by_id.get(episode_ids[0])
    return () if first is None else (Tour(tour_id, first.world_id, tuple(episode_ids)),)


def _only(split: Split, episode_ids: Sequence[str], tours: tuple[Tour, ...]) -> Split:
    unknown = [name for name in episode_ids if name not in split.by_id]
    if unknown:
        raise BadArgument(f"Episode {unknown[0]!r} is not in {split.name}. Give the tasks that were walked.")
    return replace(split, episodes=tuple(split.by_id[name] for name in dict.fromkeys(episode_ids)), tours=tours)


def _title(split: Split, prediction_sets: Mapping[str, Predictions]) -> str:
    if split.tours:
        what = f"Tour {split.tours[0].id}"
    elif len(split.episodes) > 1:
        what = f"{len(split.episodes)} episodes"
    else:
        what = f"Episode {split.episodes[0].id}"
    return f"{what} in {', '.join(split.world_ids[:3])}: {', '.join(prediction_sets)}"


def _read_times(path: Path) -> FastestTimes:
    from itinera.formats.fastest_times import read_times

    return read_times(path)


def _write(replay: Replay, files: Mapping[str, Path | None]) -> None:
    from itinera.reports.replay.page import write_page
    from itinera.reports.replay.pictures import write_gif, write_mp4, write_picture
    from itinera.reports.replay.recording import write_recording

    writers = {
        ".html": write_page,
        ".png": write_picture,
        ".gif": write_gif,
        ".mp4": write_mp4,
        ".rrd": write_recording,
    }
    count = f"{len(replay.tasks)} episode{'s' if len(replay.tasks) > 1 else ''}"
    for ending, path in files.items():
        if path is not None:
            writers[ending](path, replay)
            typer.echo(f"{path}: {count}, {path.stat().st_size / 1e6:.1f} MB.")
