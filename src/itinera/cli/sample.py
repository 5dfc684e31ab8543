"""`itinera sample`: a named subset of a split, with its stated error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import options, output

if TYPE_CHECKING:
    from itinera.tasks.subset import Subset


def sample(
    tasks: Annotated[Path, typer.Argument(help="Tasks file, in any format.")],
    size: Annotated[int, typer.Option(help="Number of episodes to draw.")],
    out: options.Out,
    by: Annotated[
        str,
        typer.Option(metavar="scene,length", help="Strata, with commas: scene, length; or none for a simple sample."),
    ] = "scene,length",
    reference: Annotated[
        Path | None,
        typer.Option(help="Score bundle of an agent on the whole split, to state the error of an agent like it."),
    ] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Draw a named subset of a split: a stratified random sample, with its digest and its stated error.

    Score with --episodes and the file, then estimate the full split with `itinera estimate`.

    Example: itinera sample R2R_val_unseen.json --size 200 --out subset.json
    """
    from itinera import api

    strata = [] if by == "none" else [one.strip() for one in by.split(",") if one.strip()]
    subset = api.sample_episodes(
        tasks, size, by=strata, seed=seed, reference=reference, out=out, command_words=output.command_words()
    )
    if json:
        output.print_json(_to_dict(out, subset))
        return
    counts = f"{len(subset):,} of {subset.total:,} episodes of {subset.split} in {len(subset.strata)} strata"
    output.print_line(f"{out}: {counts}, digest {subset.digest}.")
    output.print_line(
        f"Stated error for the full split (95 %): rates and scores ± {100 * subset.worst_half_width:.1f} at most."
    )
    if subset.half_widths:
        widths = ", ".join(_format(name, width) for name, width in subset.half_widths.items())
        output.print_line(f"For an agent like {subset.reference}: {widths}.")


def _format(metric: str, width: float) -> str:
    return f"{metric} ± {width:.2f} m" if metric in _METERS else f"{metric} ± {100 * width:.1f}"


_METERS = ("NE", "ONE", "DTW")


def _to_dict(out: Path, subset: Subset) -> dict[str, object]:
    return {
        "file": str(out),
        "split": subset.split,
        "episodes": len(subset),
        "of": subset.total,
        "strata": len(subset.strata),
        "digest": subset.digest,
        "stated_error": {"at_most": subset.worst_half_width, **dict(subset.half_widths)},
    }
