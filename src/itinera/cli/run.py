"""`itinera run`: lets an agent walk its tasks, and keeps the walks."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import bodies, options, output, senses
from itinera.cli import inputs as given
from itinera.cli.crews import (
    AGENTS,
    Setting,
    chosen_protocol,
    fits,
    inputs_of,
    learned_by,
    make_crew,
    read_split,
    walking_worlds,
)
from itinera.cli.going_on import Restart, is_done, plan_of
from itinera.cli.progress import Tally, watched
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.formats.draft import Draft
    from itinera.records import Provenance
    from itinera.runs.config import Asked, Rules
    from itinera.tasks import Split

SHOWN_REASONS = 3


def run(
    tasks: options.Tasks,
    worlds: Annotated[
        Path, typer.Option(help="Connectivity, or a season of Hearth; for the ground a season or scenes.")
    ],
    out: options.Out,
    agent: Annotated[
        str | None,
        typer.Option(
            help=f"Who walks: {', '.join(AGENTS)}; a model file, NAME.safetensors; module:Class of yours, found in "
            "this folder first; or HOST:PORT of one that listens on this machine.",
            autocompletion=lambda: list(AGENTS),
        ),
    ] = None,
    agent_command: Annotated[
        str | None, typer.Option(help="A command that starts the agent, in any language, spoken to in JSON lines.")
    ] = None,
    tours: Annotated[Path | None, typer.Option(help="IVLN's tours: the episodes of each are one walk.")] = None,
    protocol: Annotated[str | None, typer.Option(help="Walk by this protocol, not the tasks' own.")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes at work; one for each core if left out, 0 to walk in this one.")
    ] = None,
    seed: options.Seed = 0,
    limit_seconds: Annotated[
        float | None, typer.Option(help="Seconds an episode may take; then it has failed.")
    ] = None,
    reply_seconds: Annotated[
        float | None, typer.Option(help="Seconds an agent in another process may take for a reply; 60 if left out.")
    ] = None,
    max_episodes: Annotated[int | None, typer.Option(help="Walk the first so many only.")] = None,
    choices: Annotated[bool, typer.Option("--choices", help="Keep what the agent thinks of its actions.")] = False,
    restart: Restart = False,
    views: senses.Views = None,
    objects: senses.Objects = None,
    rooms: senses.Rooms = None,
    camera: senses.Camera = None,
    channels: senses.Channels = None,
    fov: senses.Fov = None,
    camera_height: senses.CameraHeight = None,
    panorama: senses.Panorama = False,
    drive: bodies.Drive = None,
    vmax: bodies.Vmax = None,
    wmax: bodies.Wmax = None,
    json: options.Json = False,
) -> None:
    """Let an agent walk its tasks: one walk for each episode, or for each tour.

    A run that was stopped goes on where it was when the same command is given again, and ends with the same file. That
    does not depend on the number of workers either. An episode in which the agent fails is recorded as failed, with
    the reason, and the run goes on.

    Example: itinera run --agent my_agent:Agent --tasks R2R_val_unseen.json --worlds connectivity/ --out walks.jsonl
    """
    from itinera.formats.draft import Draft
    from itinera.runs.config import Rules

    who = agent or agent_command
    if who is None or (agent and agent_command):
        raise BadArgument("Say who walks: give --agent or --agent-command, one of them.")
    split = read_split(tasks, tours)
    walked = bodies.driven(chosen_protocol(protocol, split), drive, vmax=vmax, wmax=wmax)
    rules = Rules(walked, seed, limit_seconds, choices)
    fits(rules.protocol, split)
    eye = senses.eye_of(camera, channels=channels, fov=fov, height=camera_height, panorama=panorama)
    setting = Setting(who, tasks, worlds, rules.protocol, tours, agent is None, reply_seconds)
    shown = senses.senses_of(
        split, worlds, views=views, objects=objects, rooms=rooms, eye=eye, learned=learned_by(setting)
    )
    setting = replace(setting, senses=shown)
    asked = asked_of(split, max_episodes)
    told = replace(given.provenance_of(inputs_of(setting), sys.argv[1:]), seed=seed)
    plan = plan_of(told, setting, rules.protocol.digest, rules.limit_seconds, rules.keep_choices, max_episodes)
    tally = Tally(split, lambda: walking_worlds(worlds, rules.protocol), rules.protocol)
    if not restart and is_done(out, plan):
        _count_done(out, tally)
    else:
        draft = Draft(out, "walks", plan, restart=restart)
        _walk_all(setting, asked, rules, processes(workers), draft, told, tally)
    _print(out, tally, json=json)


def asked_of(split: Split, most: int | None = None) -> list[Asked]:
    """The tours of a split, or its episodes as tours of one; the first `most` episodes of them."""
    from itinera.runs.config import Asked
    from itinera.tasks import Tour

    if most is not None and most < 1:
        raise BadArgument(f"--max-episodes must be at least 1, not {most}.")
    tours = split.tours or tuple(Tour(e.id, e.world_id, (e.id,)) for e in split.episodes)
    asked, left = [], len(split.episodes) if most is None else most
    for tour in tours:
        ids = tour.episode_ids[:left]
        left -= len(ids)
        if ids:
            asked.append(Asked(replace(tour, episode_ids=ids), tuple(split.by_id[name] for name in ids)))
    return asked


def processes(asked: int | None) -> int:
    """How many processes work: as many as asked for, or one for each core."""
    if asked is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return asked


def _count_done(out: Path, tally: Tally) -> None:
    from itinera.formats.native_predictions import read_predictions

    for walk in read_predictions(out).rollouts:
        tally.add(walk)


def _walk_all(
    setting: Setting,
    asked: list[Asked],
    rules: Rules,
    workers: int,
    draft: Draft,
    told: Provenance,
    tally: Tally,
) -> None:
    from itinera.formats.native import Header
    from itinera.formats.native_predictions import record_of, walk_of
    from itinera.runs.workers import run_tours

    # Results stand alone on stdout, whatever an agent in this process prints.
    with redirect_stdout(sys.stderr), draft, watched(tally, sum(len(one.episodes) for one in asked)) as seen:
        left = [number for number in range(len(asked)) if number not in draft]
        for number in range(len(asked)):
            if number in draft:
                seen(walk_of(draft[number]))
        if len(draft):
            output.remark(f"{len(draft)} of {len(asked)} walks are there already; going on with the rest.")
        if workers == 0 and rules.limit_seconds is not None:
            output.remark("An agent in this very process cannot be ended: there is no time limit with --workers 0.")
        try:
            for number, walk in run_tours(
                partial(make_crew, setting), [asked[k] for k in left], rules, workers=workers
            ):
                draft.add(left[number], record_of(walk))
                seen(walk)
        except KeyboardInterrupt:
            output.remark(f"Stopped with {len(draft)} of {len(asked)} walks. The same command goes on from here.")
            raise typer.Exit(1) from None
        draft.finish(Header(itinera="walks", provenance=told, protocol=rules.protocol))


def _print(out: Path, tally: Tally, *, json: bool) -> None:
    rate = tally.success()
    endings = {name: tally.endings[name] for name in ("stopped", "out of steps", "failed")}
    if json:
        success = None if rate is None else {"mean": rate.mean, "low": rate.low, "high": rate.high}
        output.print_json(
            {"file": str(out), "walks": tally.tours, "episodes": sum(endings.values()), **endings, "SR": success}
        )
    else:
        ended = ", ".join(f"{count} {name}" for name, count in endings.items())
        typer.echo(f"{out}: {tally.tours} walks of {sum(endings.values())} episodes; {ended}. {tally}".rstrip())
    for reason, count in tally.reasons.most_common(SHOWN_REASONS):
        output.remark(f"{count} failed: {reason}")
