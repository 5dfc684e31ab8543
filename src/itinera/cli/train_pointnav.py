"""`itinera train-pointnav`: trains an agent that drives to a point, and writes its model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output

_ROBOT, _LEARNING = "Robot", "Learning"


def train_pointnav(
    tasks: Annotated[Path, typer.Argument(help="PointNav tasks whose houses to train in.")],
    worlds: Annotated[Path, typer.Option(help="Hearth season, or folder of scenes.")],
    out: Annotated[Path, typer.Option(help="The model file to write.")],
    steps: Annotated[int | None, typer.Option(help="Number of environment steps.", min=1)] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Instead of --steps: as many as are made in about this time.")
    ] = None,
    validation: Annotated[
        Path | None, typer.Option(help="PointNav tasks to evaluate on; the result is the best model.")
    ] = None,
    times: Annotated[
        Path | None, typer.Option(help="Fastest times of these tasks: the best model is that with the best SCT.")
    ] = None,
    evaluate_every: Annotated[
        int | None, typer.Option(help="Steps between evaluations. Default: a tenth of all.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
    overwrite: options.Overwrite = False,
    sensor: Annotated[str, typer.Option(help="none, scan, pooled-depth or depth.", rich_help_panel=_ROBOT)] = "scan",
    drive: Annotated[
        str, typer.Option(help="point-turn, unicycle-6 or unicycle-15.", rich_help_panel=_ROBOT)
    ] = "point-turn",
    sliding: Annotated[
        bool, typer.Option(help="Whether robots slide along walls or stop at them.", rich_help_panel=_ROBOT)
    ] = True,
    decaying: Annotated[
        bool,
        typer.Option("--decaying", help="The reward for progress decays to nothing.", rich_help_panel=_LEARNING),
    ] = False,
    lift_gate: Annotated[
        bool,
        typer.Option(
            "--lift-gate",
            help="Lift the ban on STOP far from the goal in the second half.",
            rich_help_panel=_LEARNING,
        ),
    ] = False,
    max_distance: Annotated[
        float, typer.Option(help="Of starts from their goals, metres.", rich_help_panel=_LEARNING)
    ] = 30.0,
    num_envs: Annotated[
        int, typer.Option(help="Number of robots in each process.", min=1, rich_help_panel=_LEARNING)
    ] = 128,
    learning_rate: Annotated[float, typer.Option(help="At first; it falls to 0.", rich_help_panel=_LEARNING)] = 7e-4,
    config: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Field of the network's configuration, such as hidden_dim=256. May be repeated.",
            rich_help_panel=_LEARNING,
        ),
    ] = None,
    start_from: Annotated[
        Path | None, typer.Option(help="Model file to go on from.", rich_help_panel=_LEARNING)
    ] = None,
    device: Annotated[str, typer.Option(help="Device of the policy, such as cuda.")] = "cpu",
    tables: Annotated[
        Path | None, typer.Option(help="Folder for the distances to goals, which may be removed.")
    ] = None,
    tensorboard: Annotated[Path | None, typer.Option(help="Folder for curves: tensorboard --logdir FOLDER.")] = None,
    workers: Annotated[
        int, typer.Option(help="Number of processes that train one agent together, each with its robots.", min=1)
    ] = 1,
    engine: options.Engine = "processes",
    json: options.Json = False,
) -> None:
    """Train an agent that drives to a point, by PPO, and write its model file.

    If interrupted, rerun the command to resume; the weights are the same as without the interruption. Under torchrun
    all processes train one agent.

    Example: itinera train-pointnav hearth/pointnav/train/train.json.gz --worlds hearth --minutes 10 --out d.safetensors
    """
    from itinera import api
    from itinera.agents.loading import parse_options

    try:
        agent = api.train_pointnav(
            tasks,
            worlds,
            sensor=sensor,
            drive=drive,
            sliding=sliding,
            decaying=decaying,
            steps=steps,
            minutes=minutes,
            validation=validation,
            times=times,
            evaluate_every=evaluate_every,
            seed=seed,
            out=out,
            overwrite=overwrite,
            num_envs=num_envs,
            learning_rate=learning_rate,
            max_distance=max_distance,
            lift_gate=lift_gate,
            config=parse_options(config, option="--config") if config else None,
            start_from=start_from,
            device=device,
            tables=tables,
            tensorboard=tensorboard,
            workers=workers,
            engine=engine,
        )
    except KeyboardInterrupt:
        output.remark("Interrupted. Rerun the command to resume from the last checkpoint.")
        raise SystemExit(output.INTERRUPTED) from None
    if json:
        output.print_json({"file": str(out), **agent.metadata})
    else:
        robot = agent.metadata["drive"]
        output.print_line(f"{out}: {output.count(agent.metadata['steps'], 'step')} of a {robot} robot.")
