"""`itinera build hearth`: a season of houses with all their tasks, in everybody's formats."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from itinera.cli import inputs as given
from itinera.cli import options, output
from itinera.errors import BadArgument, BadFile, Fault

if TYPE_CHECKING:
    from itinera.cli.season_work import Order
    from itinera.hearth.season import Season

ALL = "train,val_seen,val_unseen,test"


def hearth(
    out: Annotated[Path, typer.Option("--out", help="The folder to fill.")],
    houses: Annotated[int, typer.Option(help="How many; a small season is the beginning of a large one.")] = 90,
    season: Annotated[int, typer.Option(help="The season's seed. Season 1 is the public one.")] = 1,
    splits: Annotated[str, typer.Option(help="Those wanted, with commas between.")] = ALL,
    workers: Annotated[int | None, typer.Option(help="Processes at work; one for each core if left out.")] = None,
    sealed: Annotated[
        bool, typer.Option("--sealed", help="Withhold the test split's answers: they go to the folder OUT-answers.")
    ] = False,
    secret: Annotated[
        Path | None, typer.Option(help="Make the season from the text in this file, known by its SHA-256 only.")
    ] = None,
    scenes: Annotated[bool, typer.Option("--scenes", help="Also write the houses as .glb and .obj.")] = False,
    radius: Annotated[float, typer.Option(help="Of the robot in continuous tasks, metres.")] = 0.10,
    json: options.Json = False,
) -> None:
    """Build a season of Hearth: houses from a seed, with tasks like those of R2R, RxR, REVERIE, VLN-CE.

    The folder holds what Matterport's data would, in the same formats. The same call gives the same bytes with any
    number of workers; a build that was stopped goes on where it was, and one that is done is left alone.

    Example: itinera build hearth --out hearth --houses 9
    """
    from itinera.cli.season_work import build, finished

    order = _order(out, houses, season, splits, secret, radius, sealed=sealed, scenes=scenes)
    processes = _workers(workers)
    if secret is not None:
        # Told before anything is built, so that it can be published first.
        output.remark(f"SHA-256 of the secret: {order.season.commitment}")
    elif sealed:
        output.remark(f"Season {season} is public: whoever builds it has its answers. --secret FILE keeps them.")
    about = finished(order)
    if about is None:
        with output.progress("building houses", len(order.indices)) as done:
            about = build(order, processes, done)
        _leave_provenance(order)
    if json:
        output.print_json({"folder": str(out), **about})
    else:
        _print(order, about)


def _order(
    out: Path, houses: int, season: int, splits: str, secret: Path | None, radius: float, *, sealed: bool, scenes: bool
) -> Order:
    from itinera.cli.season_work import Order
    from itinera.hearth.season import SPLITS, check_radius, indices_of, public_season

    asked = {given.one_of("--splits", name.strip(), SPLITS) for name in splits.split(",")}
    wanted = tuple(split for split in SPLITS if split in asked)
    indices_of(houses, wanted)
    check_radius(radius)
    if scenes:
        from itinera.formats.scenes import need_trimesh

        need_trimesh()
    if sealed and "test" not in wanted:
        raise BadArgument("--sealed withholds the answers of the test split, which is not among --splits.")
    made_from = public_season(season) if secret is None else _secret(secret, season)
    return Order(made_from, out, houses, wanted, radius, sealed, scenes)


def _secret(file: Path, season: int) -> Season:
    from itinera.formats.io import read_bytes
    from itinera.hearth.season import secret_season

    if season != 1:
        raise BadArgument("Give --season or --secret, not both: a season has one seed.")
    try:
        return secret_season(read_bytes(file, limit=1 << 20))
    except BadArgument as error:
        raise BadFile(str(file), [Fault("", str(error))]) from None


def _workers(asked: int | None) -> int:
    if asked is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if asked < 1:
        raise BadArgument(f"--workers must be at least 1, not {asked}.")
    return asked


def _leave_provenance(order: Order) -> None:
    from itinera.formats.hearth_season import ABOUT
    from itinera.formats.provenance import write_sidecar
    from itinera.records.provenance import Provenance, itinera_version

    seed = None if order.season.commitment else order.season.seed
    told = Provenance(itinera_version(), ("itinera", *sys.argv[1:]), seed, inputs={}, digests={})
    write_sidecar(order.out / ABOUT, told)


def _print(order: Order, about: dict[str, Any]) -> None:
    from itinera.reports.tables import Grid

    columns = ("houses", "paths", "instructions", "finds", "points")
    rows = tuple((split, *(str(count[name]) for name in columns)) for split, count in about["splits"].items())
    count = len(order.indices)
    title = f"{order.out}: season {order.season.name} of Hearth, {count} house{'' if count == 1 else 's'}."
    output.print_grid(
        Grid(("split", "houses", "paths", "instructions", "REVERIE", "PointNav"), rows, title), "terminal"
    )
    if order.sealed:
        output.remark(f"The answers of the test split are in {order.answers}. Keep that folder to yourself.")
