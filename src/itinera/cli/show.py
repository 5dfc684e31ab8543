"""`itinera show`: trajectories as a page, a video or an image."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument

_FILES = "Output files"


def show(
    predictions: Annotated[
        list[Path] | None, typer.Argument(help="Predictions of one or more agents, shown together.")
    ] = None,
    *,
    tasks: options.Tasks,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="NAME=FILE", help="Predictions under a name of your choice. May be repeated."),
    ] = None,
    worlds: options.Worlds = None,
    episodes: Annotated[
        list[str] | None,
        typer.Option(
            "--episodes",
            "--episode",
            metavar="IDS|FILE|scan=NAME|/REGEX/",
            help="Episodes to show: ids with commas, a file of ids, scan=NAME or /regex/. May be repeated.",
        ),
    ] = None,
    failures: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="List the N failures of the first agent that end farthest from the goal, with their instructions, and "
            "show them if a file is given.",
        ),
    ] = None,
    tour: Annotated[str | None, typer.Option("--tour", help="Tour to show, by its id in the predictions.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Self-contained page (.html).", rich_help_panel=_FILES)
    ] = None,
    png: Annotated[
        Path | None, typer.Option(help="Image of the end of the first episode.", rich_help_panel=_FILES)
    ] = None,
    gif: Annotated[Path | None, typer.Option(help="Video as .gif.", rich_help_panel=_FILES)] = None,
    mp4: Annotated[Path | None, typer.Option(help="Video as .mp4 (extra video).", rich_help_panel=_FILES)] = None,
    rerun: Annotated[
        Path | None, typer.Option(help="Recording for the Rerun viewer, .rrd (extra viewer).", rich_help_panel=_FILES)
    ] = None,
    rooms: Annotated[
        Path | None, typer.Option(help="CSV table of rooms, to name them on the map of a navigation graph.")
    ] = None,
    objects: Annotated[
        Path | None, typer.Option(help="REVERIE's BBox folder or archive, to name objects on that map.")
    ] = None,
    alignment: Annotated[
        Path | None, typer.Option(help="RxR guide pose traces, to align words; a Hearth season has its own.")
    ] = None,
    times: Annotated[
        Path | None,
        typer.Option(help="Fastest times to show; on the ground the fastest drives of a few episodes are drawn too."),
    ] = None,
    pictures: Annotated[
        int, typer.Option(help="Maximum number of first-person views in the page, if the worlds have meshes.")
    ] = 1000,
    protocol: options.ProtocolName = None,
    format: options.Format = None,
) -> None:
    """Show trajectories on a map: paths, a time slider, the instruction and first-person views.

    Shows single episodes, the worst failures, or a whole tour; by default the first rollout of the first file.

    Example: itinera show predictions.jsonl --tasks R2R_val_unseen.json --worlds connectivity/ --out replay.html
    """
    files = {".html": out, ".png": png, ".gif": gif, ".mp4": mp4, ".rrd": rerun}
    targets = {suffix: path for suffix, path in files.items() if path is not None}
    if not targets and failures is None:
        raise BadArgument("Nothing to write. Give --out replay.html, --png, --gif, --mp4 or --rerun.")
    for suffix, path in targets.items():
        if path.suffix != suffix:
            raise BadArgument(f"{path} must end in {suffix}.")
    from itinera import api

    agents = options.single_files(predictions, name)
    shown: str | list[str] = options.selection(episodes) or ()  # type: ignore[assignment]
    if failures is not None:
        found = api.find_failures(
            agents[0] if isinstance(agents, list) else next(iter(agents.values())),
            tasks,
            worlds,
            count=failures,
            episodes=options.selection(episodes),
            protocol=protocol,
            format=format,
        )
        for line in (found.title, *found.lines()):
            output.print_line(line)
        if not targets or not found:
            return
        shown = found.episode_ids
    replay = api.show(
        agents,
        tasks,
        worlds,
        out=list(targets.values()),
        episodes=shown,
        tour=tour,
        rooms=rooms,
        objects=objects,
        alignment=alignment,
        times=times,
        max_views=pictures,
        protocol=protocol,
        format=format,
    )
    count = f"{len(replay.episodes)} episode{'s' if len(replay.episodes) > 1 else ''}"
    for path in targets.values():
        output.print_line(f"{path}: {count}, {path.stat().st_size / 1e6:.1f} MB.")
