"""`itinera power`: before running anything, how many episodes would show a difference?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.stats import Comparison


def power(
    bundles: Annotated[
        list[Path] | None,
        typer.Argument(help="One or two bundles to learn spread, scene effect and correlation from."),
    ] = None,
    metric: Annotated[str, typer.Option(help="The metric of the bundles to plan for.")] = "SR",
    difference: Annotated[float, typer.Option(help="The difference to see, as a fraction: 0.02 is two points.")] = 0.02,
    rate: Annotated[float, typer.Option(help="Success rate of the systems, without bundles.")] = 0.5,
    icc: Annotated[float, typer.Option(help="Share of the variance that lies between scenes, without bundles.")] = 0.05,
    correlation: Annotated[
        float | None, typer.Option(help="Of both systems on one episode; leave out for separate episodes.")
    ] = None,
    per_scene: Annotated[float, typer.Option(help="Episodes in each scene.")] = 200.0,
    scenes: Annotated[int | None, typer.Option(help="Scenes you have: tells the least difference they show.")] = None,
    chance: Annotated[float, typer.Option(help="Wanted chance of seeing the difference.")] = 0.8,
    json: options.Json = False,
) -> None:
    """Tell how many episodes, in how many scenes, are needed to see a difference.

    Example: itinera power --difference 0.02 --rate 0.5 --icc 0.05 --correlation 0.5 --per-scene 213
    """
    from itinera.stats import Comparison, detectable, episodes_needed

    comparison = _learned(bundles, metric) if bundles else Comparison.of_rates(rate, icc=icc, correlation=correlation)
    plan = episodes_needed(comparison, difference, episodes_per_scene=per_scene, power=chance)
    least = None
    if scenes is not None:
        least = detectable(comparison, scenes=scenes, episodes_per_scene=per_scene, power=chance)
    if json:
        output.print_json(
            {
                "difference": difference,
                "scenes": plan.scenes,
                "episodes": plan.episodes,
                "power": plan.power,
                "sd": comparison.sd,
                "icc": comparison.icc,
                "correlation": comparison.correlation,
                "detectable": least,
            }
        )
        return
    whose = "on the same episodes" if comparison.correlation is not None else "each on scenes of its own"
    typer.echo(
        f"To see a difference of {100 * difference:g} points between two systems {whose} with a chance of "
        f"{chance:.0%}, you need {plan.episodes} episodes in {plan.scenes} scenes ({per_scene:g} per scene)."
    )
    if least is not None:
        typer.echo(f"{scenes} scenes of {per_scene:g} episodes show a difference of {100 * least:.1f} points or more.")


def _learned(bundles: list[Path], metric: str) -> Comparison:
    import numpy as np

    from itinera.formats.bundles import read_scores
    from itinera.reports.comparison import aligned
    from itinera.stats import Comparison, intra_cluster_correlation

    tables = [read_scores(path) for path in bundles]
    if len(tables) > 2:
        raise BadArgument("Give one bundle, or two of the systems to be compared.")
    if any(metric not in table.values for table in tables):
        raise BadArgument(f"There is no {metric} in the bundles; they hold {', '.join(tables[0].values)}.")
    scores, clusters = aligned([str(path) for path in bundles], tables, metric)
    if len(tables) == 1:
        return Comparison(float(scores[0].std()), max(0.0, intra_cluster_correlation(scores[0], clusters)))
    if not scores.std(axis=1).all():
        raise BadArgument(f"{metric} is the same on every episode of a bundle, so nothing can be learned from it.")
    gaps = scores[1] - scores[0]
    correlation = float(np.corrcoef(scores[0], scores[1])[0, 1])
    return Comparison(float(scores.std()), max(0.0, intra_cluster_correlation(gaps, clusters)), min(correlation, 0.999))
