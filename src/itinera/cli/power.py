"""`itinera power`: how many episodes detect a difference between two systems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output


def power(
    bundles: Annotated[
        list[Path] | None,
        typer.Argument(help="One or two score bundles to estimate standard deviation, ICC and correlation from."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE", help="A bundle by name; several of one name, or a pattern, are runs of one system."
        ),
    ] = None,
    metric: Annotated[str, typer.Option(help="Metric of the bundles.")] = "SR",
    difference: Annotated[float, typer.Option(help="Difference to detect, a fraction: 0.02 is two points.")] = 0.02,
    rate: Annotated[float, typer.Option(help="Success rate of the systems, without bundles.")] = 0.5,
    icc: Annotated[
        float, typer.Option(help="Intra-scene correlation: share of the variance between scenes, without bundles.")
    ] = 0.05,
    correlation: Annotated[
        float | None, typer.Option(help="Correlation of both systems on one episode; omit it for separate scenes.")
    ] = None,
    per_scene: Annotated[float, typer.Option(help="Episodes per scene.")] = 200.0,
    scenes: Annotated[
        int | None, typer.Option(help="Number of scenes you have: prints the smallest difference they detect.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="Number of runs of each system. Default: that of the bundles, else 1.", min=1)
    ] = None,
    run_sd: Annotated[
        float | None, typer.Option(help="Standard deviation between runs, a fraction. Default: from the bundles.")
    ] = None,
    power: Annotated[float, typer.Option(help="Power: the probability of detecting the difference.")] = 0.8,
    json: options.Json = False,
) -> None:
    """Compute how many episodes, in how many scenes and with how many runs, are needed to detect a difference.

    Example: itinera power --difference 0.02 --rate 0.5 --icc 0.05 --correlation 0.5 --per-scene 213
    """
    from itinera import api

    analysis = api.power(
        *(list(named.values()) if isinstance(named := options.named_files(bundles, name), dict) else named),
        metric=metric,
        difference=difference,
        rate=rate,
        icc=icc,
        correlation=correlation,
        episodes_per_scene=per_scene,
        scenes=scenes,
        runs=runs,
        run_sd=run_sd,
        power=power,
    )
    if json:
        output.print_json(analysis.to_dict())
    else:
        output.print_text(str(analysis))
