"""`itinera view`: a house of Hearth as an image, from above or from inside."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import output
from itinera.errors import BadArgument


def view(
    house: Annotated[str, typer.Argument(help="Index of a house, 7, or its id, hearth-1-007.")],
    out: Annotated[Path, typer.Option("--out", help="Image file to write, .png.")],
    plan: Annotated[bool, typer.Option("--plan", help="Draw the floor plan, a panel for each storey.")] = False,
    inside: Annotated[bool, typer.Option("--inside", help="Draw views of three rooms.")] = False,
    season: Annotated[int | None, typer.Option(help="Seed of the season. Default: that of the id, or 1.")] = None,
    paths: Annotated[int, typer.Option(help="Number of paths to draw on the floor plan.")] = 0,
) -> None:
    """Draw a house of Hearth: its floor plan with furniture and viewpoints, or views of its rooms.

    Example: itinera view 7 --plan --paths 2 --out plan.png
    """
    from itinera import api

    if plan == inside:
        raise BadArgument("Choose one of --plan and --inside.")
    image = api.view(house, out, kind="plan" if plan else "inside", season=season, paths=paths)
    size = f"{image.rooms} rooms, {image.viewpoints} viewpoints, {image.triangles} triangles"
    output.print_line(f"{out}: {image.house_id}, {size}.")
