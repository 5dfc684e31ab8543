"""`itinera train`: trains an agent on graph tasks and writes its model file."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.training.progress import TrainingProgress

MEAN_STEPS = 50  # of the loss that the bar shows
_KINDS = ("rcm", "follower", "envdrop", "hamt", "seq2seq", "cma", "tour-cma", "pool-cma", "pool-end-cma", "map-cma",
          "decision")  # fmt: skip
_VALIDATION, _LEARNING, _GROUND = "Validation", "Learning", "On the ground"


def train(
    recipe: Annotated[
        Path | None, typer.Argument(help="Recipe: a TOML file with the options below; options given here replace it.")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help=f"Policy to train: {', '.join(_KINDS)}; yours as module:Class; or a model file to continue from.",
            autocompletion=lambda: list(_KINDS),
        ),
    ] = None,
    tasks: Annotated[Path | None, typer.Option(help="Training tasks, on graphs or on the ground (VLN-CE).")] = None,
    worlds: Annotated[
        Path | None, typer.Option(help="Connectivity folder or archive, folder of scenes, or Hearth season.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The model file to write.")] = None,
    steps: Annotated[int | None, typer.Option(help="Number of optimizer steps.")] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Instead of --steps: as many as one core makes in about this time.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed. Default: 0.", min=0)] = None,
    overwrite: options.Overwrite = False,
    workers: Annotated[
        int | None, typer.Option(help="On the ground: number of processes for DAgger's roll-outs (0: this one).", min=0)
    ] = None,
    engine: Annotated[
        str | None, typer.Option(metavar="NAME", help="What runs them: processes, ray, ray://HOST:PORT or slurm.")
    ] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(help="Folder for curves of loss and scores: tensorboard --logdir FOLDER.")
    ] = None,
    validation: Annotated[
        Path | None,
        typer.Option(help="Tasks to evaluate on; the result is the best model.", rich_help_panel=_VALIDATION),
    ] = None,
    evaluate_every: Annotated[
        int | None,
        typer.Option(help="Steps between evaluations. Default: a tenth of all.", rich_help_panel=_VALIDATION),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(
            help="Stop after this many evaluations in a row without a better score.", rich_help_panel=_VALIDATION
        ),
    ] = None,
    monitor: Annotated[
        str | None,
        typer.Option(
            help="Metric that decides: SPL, SR, CLS, nDTW or NE; on the ground also OSR or t-nDTW. Default: SPL.",
            rich_help_panel=_VALIDATION,
        ),
    ] = None,
    reward: Annotated[
        str | None,
        typer.Option(help="goal or fidelity: policy gradient. Default: imitation learning.", rich_help_panel=_LEARNING),
    ] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Field of the policy's configuration, such as hidden_dim=256. May be repeated.",
            rich_help_panel=_LEARNING,
        ),
    ] = None,
    start_from: Annotated[
        Path | None,
        typer.Option(help="Model file of the same policy whose weights to start from.", rich_help_panel=_LEARNING),
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Episodes per step. Default: 64, on the ground 14.", rich_help_panel=_LEARNING)
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="Default: that of the policy's recipe.", rich_help_panel=_LEARNING)
    ] = None,
    teacher_forcing_ratio: Annotated[
        float | None,
        typer.Option(
            help="Share of agents that follow the expert in imitation learning. Default: 0.8.",
            rich_help_panel=_LEARNING,
        ),
    ] = None,
    max_steps: Annotated[
        int | None,
        typer.Option(
            help="Steps of an agent per episode. Default: 10; 15 with a reward; 100 on the ground.",
            rich_help_panel=_LEARNING,
        ),
    ] = None,
    max_words: Annotated[
        int | None, typer.Option(help="Words of an instruction. Default: 80.", rich_help_panel=_LEARNING)
    ] = None,
    views: Annotated[
        str | None,
        typer.Option(
            help="View features: annotations, rendered, geometry (none) or a file. Default: annotations in a Hearth "
            "season or with --objects or --rooms, else geometry.",
            rich_help_panel="Observations",
        ),
    ] = None,
    objects: options.ViewObjects = None,
    rooms: options.ViewRooms = None,
    tours: Annotated[
        Path | None,
        typer.Option(
            help="Tours of the tasks, for agents that remember. Default: by straight lines.", rich_help_panel=_GROUND
        ),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            help="Iterations of DAgger. Default: 6; 0: teacher forcing alone.", min=0, rich_help_panel=_GROUND
        ),
    ] = None,
    rollouts: Annotated[
        int | None, typer.Option(help="Episodes walked per iteration. Default: 500.", rich_help_panel=_GROUND)
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(
            help="The expert's action is taken with probability beta^(n+1) in iteration n. Default: 0.5.",
            rich_help_panel=_GROUND,
        ),
    ] = None,
    map_lifetime: Annotated[
        str | None,
        typer.Option(help="Maps of map-cma: episodic, iterative or known. Default: episodic.", rich_help_panel=_GROUND),
    ] = None,
    semantics: Annotated[
        str | None,
        typer.Option(
            help="Labels of the maps: true, inferred or a segmentation model. Default: true.", rich_help_panel=_GROUND
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Device of the policy, such as cuda. Default: cpu.", rich_help_panel=_LEARNING)
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="Folder for rendered observations, which may be removed.", rich_help_panel=_GROUND),
    ] = None,
    json: options.Json = False,
) -> None:
    """Train an agent on tasks on graphs or on the ground, and write its model file.

    On graphs agents learn by imitation or with a reward, on the ground by teacher forcing and DAgger.

    Progress goes to stderr: a bar with the loss and the time left on a terminal, lines elsewhere. If interrupted, rerun
    the command to resume; the weights are the same as without the interruption.

    Example: itinera train --policy rcm --tasks R2R_train.json --worlds connectivity/ --minutes 10 --out rcm.safetensors

    Example: itinera train --policy map-cma --tasks train.json.gz --worlds hearth/ --minutes 60 --out map.safetensors

    Example: itinera train recipe.toml --seed 1 --out rcm-1.safetensors
    """
    from itinera import api
    from itinera.agents.loading import parse_options

    options_given = {
        "policy": policy,
        "tasks": tasks,
        "worlds": worlds,
        "out": out,
        "steps": steps,
        "minutes": minutes,
        "seed": seed,
        "tensorboard": tensorboard,
        "workers": workers,
        "engine": engine,
        "validation": validation,
        "evaluate_every": evaluate_every,
        "patience": patience,
        "monitor": monitor,
        "reward": reward,
        "start_from": start_from,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "teacher_forcing_ratio": teacher_forcing_ratio,
        "max_steps": max_steps,
        "max_words": max_words,
        "views": views,
        "objects": objects,
        "rooms": rooms,
        "tours": tours,
        "iterations": iterations,
        "rollouts": rollouts,
        "beta": beta,
        "map_lifetime": map_lifetime,
        "semantics": semantics,
        "device": device,
        "cache": cache,
    }
    arguments: dict[str, Any] = {} if recipe is None else api.read_recipe(recipe)
    arguments |= {name: value for name, value in options_given.items() if value is not None}
    if config:
        arguments["config"] = {**arguments.get("config", {}), **parse_options(config, option="--config")}
    missing = [f"--{name}" for name in ("policy", "tasks", "worlds", "out") if name not in arguments]
    if missing:
        raise BadArgument(
            f"Give {', '.join(missing)}, or a recipe that contains {'it' if len(missing) == 1 else 'them'}."
        )
    try:
        with _progress_bar() as progress:
            agent = api.train(**arguments, overwrite=overwrite, progress=progress, verbose=False)
    except KeyboardInterrupt:
        raise SystemExit(output.INTERRUPTED) from None  # how far training came has been reported
    _print(arguments["out"], agent.metadata, json=json)


@contextmanager
def _progress_bar() -> Iterator[Callable[[TrainingProgress], None] | None]:
    """A callback that shows loss, scores and the time left on a terminal, instead of the messages with the loss."""
    if not output.is_interactive():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    losses: deque[float] = deque(maxlen=MEAN_STEPS)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    messages = logging.getLogger("itinera.training.loss")
    level = messages.level
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("loading", total=None)

        def show(progress: TrainingProgress) -> None:
            if not losses:  # the steps of a checkpoint were not made now, and do not count for the time left
                bar.reset(task, total=progress.total, completed=progress.step - 1)
            losses.append(progress.loss)
            text = f"training  loss {sum(losses) / len(losses):.3f}"
            if progress.scores is not None:
                text += f"  {progress.monitor} {progress.scores.format(progress.monitor)}"
            bar.update(task, completed=progress.step, description=text)

        messages.setLevel(logging.WARNING)
        try:
            yield show
        finally:
            messages.setLevel(level)


def _print(out: Path, metadata: dict[str, Any], *, json: bool) -> None:
    if json:
        output.print_json({"file": str(out), **metadata})
        return
    line = f"{out}: {output.count(metadata['steps'], 'step')}, {output.count(metadata['episodes'], 'episode')}."
    if "best_step" in metadata:
        monitor, score = metadata["monitor"], metadata["score"]
        shown = f"{score:.2f} m" if monitor == "NE" else f"{100 * score:.1f} %"
        line += f" Best {monitor} on {metadata['validation']}: {shown}, at step {metadata['best_step']}."
    output.print_line(line)
