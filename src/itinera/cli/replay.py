"""`itinera replay`: do the stored walks lead where they say?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import inputs as given
from itinera.cli import options, output
from itinera.cli.bodies import simulator_for
from itinera.cli.crews import fits, walking_worlds
from itinera.errors import BadFile, Fault

if TYPE_CHECKING:
    from itinera.records import Predictions
    from itinera.tasks import Protocol, Split

SHOWN = 20


def replay(
    walks: Annotated[Path, typer.Argument(help="Walks of ours, as `itinera run` writes them.")],
    tasks: options.Tasks,
    worlds: Annotated[Path, typer.Option(help="The worlds that were walked.")],
    protocol: Annotated[str | None, typer.Option(help="Instead of the one the walks carry.")] = None,
    json: options.Json = False,
) -> None:
    """Do the stored actions again in the same worlds, and report every episode that comes out otherwise.

    The first difference of each is told: the step, what is stored, what was found. Exit 1 if there are any.

    Example: itinera replay walks.jsonl --tasks R2R_val_unseen.json --worlds connectivity/
    """
    from dataclasses import asdict

    from itinera.formats import catalog
    from itinera.formats.native_predictions import read_predictions
    from itinera.runs.replay import Difference, replay_all

    split = catalog.read_tasks(tasks)
    predictions = read_predictions(walks)
    rules = _protocol(protocol, predictions, split)
    fits(rules, split)
    _check(predictions, split)
    again = replay_all(
        predictions.rollouts, simulator_for(rules), walking_worlds(worlds, rules), split.by_id, protocol=rules
    )
    episodes, found = 0, list[Difference]()
    with output.progress("walking again", len(predictions.rollouts)) as done:
        for walk, differences in zip(predictions.rollouts, again, strict=True):
            episodes += len(walk.trajectories)
            found += differences
            done(1)
    if json:
        told = {"file": str(walks), "episodes": episodes, "differences": [asdict(difference) for difference in found]}
        output.print_json(told)
    elif found:
        for difference in found[:SHOWN]:
            typer.echo(f"{walks}: {difference}")
        if len(found) > SHOWN:
            typer.echo(f"{walks}: and {len(found) - SHOWN} more episodes.")
    else:
        typer.echo(f"{walks}: {episodes} episodes walked again, each as it is stored.")
    if found:
        raise typer.Exit(1)


def _protocol(name: str | None, predictions: Predictions, split: Split) -> Protocol:
    from itinera.tasks import PROTOCOLS

    if name is not None:
        return PROTOCOLS[given.one_of("--protocol", name, tuple(PROTOCOLS))]
    return predictions.protocol or PROTOCOLS[split.protocol]


def _check(predictions: Predictions, split: Split) -> None:
    """Every walk must tell its actions, of episodes that are known."""
    faults = []
    for trajectory in predictions.trajectories:
        where = f'episode "{trajectory.episode_id}"'
        if trajectory.episode_id not in split.by_id:
            faults.append(Fault(where, f"is not in {split.name}.", "Give the tasks that were walked."))
        elif trajectory.actions is None:
            faults.append(Fault(where, "tells no actions.", "Only walks that `itinera run` wrote can be done again."))
    if faults:
        raise BadFile(predictions.source, faults)
