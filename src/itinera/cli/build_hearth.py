"""`itinera build hearth`: a season of procedural houses with tasks in the formats of R2R, RxR, REVERIE and VLN-CE."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import options, output

if TYPE_CHECKING:
    from itinera.runs.build_season import SeasonBuild

COLUMNS = {
    "houses": "houses",
    "paths": "paths",
    "instructions": "instructions",
    "object_goals": "REVERIE",
    "pointnav": "PointNav",
}


def hearth(
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    houses: Annotated[int, typer.Option(help="Number of houses; a small season is a prefix of a large one.")] = 90,
    season: Annotated[int, typer.Option(help="Seed of the season. Season 1 is the public one.")] = 1,
    splits: Annotated[
        str, typer.Option(help="Splits to build, separated by commas.")
    ] = "train,val_seen,val_unseen,test",
    workers: options.Workers = None,
    engine: options.Engine = "processes",
    sealed: Annotated[
        bool,
        typer.Option(
            "--sealed",
            help="Withhold the answers of the test split: they go to the folder OUT-answers, with a new random secret.",
        ),
    ] = False,
    secret: Annotated[
        Path | None,
        typer.Option(help="Secret file of an earlier sealed build, to build the same season again."),
    ] = None,
    scenes: Annotated[bool, typer.Option("--scenes", help="Also write the houses as .glb and .obj files.")] = False,
    radius: Annotated[float, typer.Option(help="Radius of the robot in continuous tasks, meters.")] = 0.10,
    languages: Annotated[
        str, typer.Option(help="Languages of RxR's instructions, separated by commas: en, es.")
    ] = "en",
    faults: Annotated[
        float, typer.Option(help="Probability per word of a small fault, as people make them: typos, missing articles.")
    ] = 0.0,
    shard: options.Shard = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a season that was built with other options.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Build a season of Hearth: procedural houses with tasks like those of R2R, RxR, REVERIE, VLN-CE and PointNav.

    The folder has the layout and formats of Matterport's data. The same options give the same bytes with any number of
    workers. If interrupted, rerun the command to resume.

    Example: itinera build hearth --out hearth --houses 9
    """
    from itinera import api

    with output.progress("building houses", houses) as progress:
        built = api.build_hearth(
            out,
            houses=houses,
            seed=season,
            splits=[name.strip() for name in splits.split(",")],
            workers=workers,
            engine=engine,
            sealed=sealed,
            secret=secret,
            scenes=scenes,
            radius=radius,
            languages=[name.strip() for name in languages.split(",")],  # type: ignore[misc]
            faults=faults,
            shard=shard,
            overwrite=overwrite,
            progress=progress,
            command_words=output.command_words(),
        )
    if json:
        output.print_json({"folder": str(built.folder), "houses": built.houses, **built.record})
    elif shard is not None:
        output.print_line(f"{built.folder}: {output.count(built.houses, 'house')} of season {built.name} of Hearth.")
    else:
        _print(built)


def _print(built: SeasonBuild) -> None:
    from itinera.records.tables import TextTable

    rows = tuple((split, *(str(counts[name]) for name in COLUMNS)) for split, counts in built.splits.items())
    title = f"{built.folder}: season {built.name} of Hearth, {output.count(built.houses, 'house')}."
    output.print_table(TextTable(("split", *COLUMNS.values()), rows, title), "terminal")
