"""`itinera audit`: which suite gives published numbers?"""

from __future__ import annotations

from typing import Annotated

import typer

from itinera.cli import options, output


def audit(
    predictions: options.PredictionsFile,
    tasks: options.Tasks,
    published: Annotated[
        list[str], typer.Option(metavar="METRIC=NUMBER …", help="Numbers as printed: SR=0.55, SR=55 or nDTW=66.1.")
    ],
    more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    worlds: options.Worlds = None,
    objects: options.TargetObjects = None,
    episodes: options.AnsweredEpisodes = None,
    tours: options.Tours = None,
    reference: options.Dense = None,
    protocol: options.ProtocolName = None,
    format: options.Format = None,
    json: options.Json = False,
) -> None:
    """Score predictions by every suite and report which of them give the published numbers.

    A number agrees if rounding to its printed digits gives it. Rates may be fractions or percentages.

    Example: itinera audit preds.json --tasks R4R_val_unseen.json --worlds connectivity/ --published SPL=0.27 SR=31.5
    """
    from itinera import api
    from itinera.worlds.kernel_loading import skip_type_registration

    skip_type_registration()
    found = api.audit(
        predictions,
        tasks,
        worlds,
        published=[*published, *(more or ())],
        episodes=options.selection(episodes),
        protocol=protocol,
        objects=objects,
        tours=tours,
        reference=reference,
        format=format,
    )
    if json:
        output.print_json(found.to_dict())
        return
    output.print_table(found.to_table(), "terminal")
    output.print_line(found.verdict)
