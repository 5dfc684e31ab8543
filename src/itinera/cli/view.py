"""`itinera view`: a map, a Hearth house or season, scenes or navigation graphs as a picture; a house as a 3D page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument


def view(
    source: Annotated[
        str,
        typer.Argument(
            help="House of Hearth (index, 7, or id, hearth-1-007), season, ROS map, floor plan, scene or scenes, "
            "connectivity or graphs."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="File to write: an image, .png or .svg, or the 3D page of a house, .html.")
    ],
    plan: Annotated[bool, typer.Option("--plan", help="Draw from above (the default).")] = False,
    inside: Annotated[bool, typer.Option("--inside", help="Draw views of three rooms of a house.")] = False,
    appearance: Annotated[
        str | None,
        typer.Option(help="Appearance of these views: day (the default), evening, lamps or flat; day:7 randomizes it."),
    ] = None,
    house: Annotated[str | None, typer.Option("--house", help="Index or id of a house of the season SOURCE.")] = None,
    secret: Annotated[
        Path | None,
        typer.Option("--secret", help="Secret file of a secret season. Default: that of SOURCE-answers."),
    ] = None,
    scene: Annotated[
        list[str] | None,
        typer.Option("--scene", help="Draw only this house, scene or scan; may be given several times."),
    ] = None,
    radius: Annotated[
        float | None, typer.Option(help="Radius of a robot, metres: show where it fits on a map or in a scene.")
    ] = None,
    metres_per_pixel: Annotated[float | None, typer.Option(help="Scale of an image of a floor plan.")] = None,
    up: Annotated[str | None, typer.Option(help="Up axis of scene files, y or z, if not that of their format.")] = None,
    season: Annotated[int | None, typer.Option(help="Seed of a house's season. Default: that of the id, or 1.")] = None,
    paths: Annotated[
        int, typer.Option(help="Number of paths of a house. Default: none on a floor plan, all on a page.")
    ] = 0,
    json: options.Json = False,
) -> None:
    """Draw what SOURCE contains: a map, houses of Hearth, scenes or navigation graphs; or a house as a 3D page.

    Example: itinera view map.yaml --radius 0.2 --out map.png

    Example: itinera view 7 --paths 2 --out plan.png

    Example: itinera view hearth --house 1 --out house.html

    Example: itinera view connectivity/ --scene 8WUmhLawc2A --out scan.svg
    """
    from itinera import api

    if plan and inside:
        raise BadArgument("Choose one of --plan and --inside.")
    image = api.view(
        source,
        out,
        kind="inside" if inside else "plan",
        appearance=appearance,
        house=house,
        secret=secret,
        season=season,
        paths=paths,
        scenes=scene or (),
        radius=radius,
        resolution=metres_per_pixel,
        up=up,  # type: ignore[arg-type]
    )
    if json:
        output.print_json({"file": str(image.file), "kind": image.kind, "names": image.names, **image.counts})
    else:
        output.print_line(str(image))
