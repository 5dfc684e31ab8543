"""`itinera run`: runs an agent on tasks and writes its predictions."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.metrics.running import RunningScore
    from itinera.metrics.stopping import StoppingRule

REFRESH_SECONDS = 2.0  # between two updates of the success rate


def run(
    tasks: options.OptionalTasks = None,
    worlds: Annotated[
        Path | None,
        typer.Option(help="Connectivity folder or archive, or Hearth season; on the ground a season or scenes folder."),
    ] = None,
    out: options.OptionalOut = None,
    challenge: Annotated[
        str | None, typer.Option(help="Address of a challenge server: act in a live phase instead of on files.")
    ] = None,
    phase: Annotated[str, typer.Option(help="With --challenge: the phase.")] = "",
    method: Annotated[str, typer.Option(help="With --challenge: name of your method on the board.")] = "",
    notes: Annotated[str, typer.Option(help="With --challenge: words about the entry.")] = "",
    visibility: Annotated[
        str, typer.Option(help="With --challenge: who may see the entry: public, anonymous, host or team.")
    ] = "public",
    token: options.Token = "",
    agent: options.Agent = None,
    agent_command: options.AgentCommand = None,
    agent_option: options.AgentOption = None,
    agent_file: options.AgentFile = None,
    policy: options.PolicyClass = None,
    isolate: options.Isolate = False,
    tours: Annotated[Path | None, typer.Option(help="Tours of IVLN: the episodes of each are one rollout.")] = None,
    protocol: Annotated[str | None, typer.Option(help="Protocol to use instead of the tasks' own.")] = None,
    workers: options.Workers = None,
    engine: options.Engine = "processes",
    seed: options.Seed = 0,
    limit_seconds: Annotated[
        float | None, typer.Option(help="Time limit of an episode, seconds; then it has failed.")
    ] = None,
    reply_seconds: options.ReplySeconds = None,
    episodes: options.Episodes = None,
    max_episodes: Annotated[int | None, typer.Option(help="Run only the first N episodes.")] = None,
    shard: options.Shard = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar='"SR ± 2"',
            help="Run episodes in random order, and stop when the metric's mean over the whole split is known to ± so "
            "many points with 95 %.",
        ),
    ] = None,
    record_probabilities: Annotated[
        bool, typer.Option("--record-probabilities", help="Record the agent's action probabilities.")
    ] = False,
    record: Annotated[
        list[str] | None,
        typer.Option(metavar="maps", help="Record the agent's maps beside the predictions, for itinera show."),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Run all episodes even if the agent fails in all of the first ones.")
    ] = False,
    overwrite: options.Overwrite = False,
    base_url: options.BaseUrl = None,
    prompt: options.Prompt = None,
    price: options.Price = None,
    max_cost: options.MaxCost = None,
    answers: options.Answers = None,
    views: options.Views = None,
    objects: options.ViewObjects = None,
    rooms: options.ViewRooms = None,
    camera: options.Camera = None,
    channels: options.Channels = None,
    fov: options.Fov = None,
    camera_height: options.CameraHeight = None,
    panorama: options.Panorama = False,
    appearance: options.Appearance = None,
    map_lifetime: options.MapLifetime = None,
    semantics: options.Semantics = None,
    waypoints: options.Waypoints = None,
    driver: options.Driver = None,
    stops: options.Stops = None,
    drive: options.Drive = None,
    vmax: options.DriveVmax = None,
    wmax: options.DriveWmax = None,
    clock: options.Clock = None,
    overlap: options.Overlap = False,
    json: options.Json = False,
) -> None:
    """Run an agent on tasks: one rollout per episode, or per tour.

    If interrupted, rerun the command to resume. The result does not depend on that, nor on the number of workers. An
    episode in which the agent fails is recorded as failed, with the reason, and the run continues, unless the first
    five fail in the same way.

    Agents: still, uniform, random, forward, expert, reader, and the pretrained ones of docs/agents.md; language models
    as openai:MODEL with --base-url, see docs/language-models.md.

    With --challenge, the agent acts in a live phase of a challenge server, in worlds that the host has: see
    docs/server.md. Set ITINERA_TOKEN to the token of your team.

    Example: itinera run --agent my_agent:Agent --tasks R2R_val_unseen.json --worlds connectivity/ --out preds.jsonl
    """
    from itinera import api
    from itinera.agents.loading import parse_options
    from itinera.agents.services.settings import parse_price
    from itinera.runs.observations import make_camera

    if challenge is not None:
        _act_live(
            agent,
            challenge,
            phase=phase,
            method=method,
            notes=notes,
            visibility=visibility,
            token=token,
            command=agent_command,
            agent_options=parse_options(agent_option or ()),
            policy=policy,
            reply_seconds=reply_seconds,
            workers=workers,
            files=(tasks, worlds, out),
            json=json,
        )
        return
    if tasks is None or worlds is None or out is None:
        raise BadArgument("Give --tasks, --worlds and --out, or the address of a challenge with --challenge.")
    sensor = make_camera(camera, channels=channels, fov=fov, height=camera_height, panorama=panorama)
    # Results stand alone on stdout, whatever an agent in this process prints.
    rules: list[StoppingRule] = []
    with redirect_stdout(sys.stderr), _progress_bar() as (progress, scores):
        try:
            api.run(
                agent,
                tasks,
                worlds,
                command=agent_command,
                agent_options=parse_options(agent_option or ()),
                agent_files=agent_file or (),
                policy=policy,
                isolate=isolate,
                keep_going=keep_going,
                tours=tours,
                protocol=protocol,
                seed=seed,
                workers=workers,
                engine=engine,
                out=out,
                overwrite=overwrite,
                limit_seconds=limit_seconds,
                reply_seconds=reply_seconds,
                max_episodes=max_episodes,
                episodes=options.selection(episodes),
                shard=shard,
                until=until,
                on_stop=rules.append,
                record_probabilities=record_probabilities,
                record=record or (),
                base_url=base_url,
                prompt=prompt,
                price=None if price is None else parse_price(price),
                max_cost=max_cost,
                answers=answers,
                views=views,
                objects=objects,
                rooms=rooms,
                camera=sensor,
                appearance=appearance,
                map_lifetime=map_lifetime,
                semantics=semantics,
                waypoints=waypoints,
                driver=driver,
                stops=stops,
                drive=drive,
                vmax=vmax,
                wmax=None if wmax is None else math.radians(wmax),
                clock=clock,
                overlap=overlap,
                progress=progress,
                start_method="spawn",
                command_words=output.command_words(),
            )
        except KeyboardInterrupt:
            raise SystemExit(output.INTERRUPTED) from None  # what is kept has been reported
    _print(options.written_file(out, shard), scores[-1], rules, json=json)


def _act_live(agent: str | None, url: str, *, files: tuple[Path | None, ...], json: bool, **given: Any) -> None:
    """Play a session, and print its entry."""
    from itinera import api

    if files != (None,) * 3:
        raise BadArgument("The host of a challenge has tasks and worlds: leave out --tasks, --worlds and --out.")

    def show(done: int, tours: int) -> None:
        if output.is_interactive() or done in (0, tours):
            output.remark(f"{done} of {tours} tours or episodes are over.")

    with redirect_stdout(sys.stderr):
        report = api.run(agent, challenge=url, on_tour=show, **given)
    output.print_entry(report, json=json)


@contextmanager
def _progress_bar() -> Iterator[tuple[Callable[[RunningScore], None], list[RunningScore]]]:
    """A callback that shows the success rate so far, and the score it was last called with."""
    scores: list[RunningScore] = []

    def keep(score: RunningScore) -> None:
        scores[:] = [score]

    if not output.is_interactive():
        yield keep, scores
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("running", total=None)
        updated = time.monotonic()

        def show(score: RunningScore) -> None:
            nonlocal updated
            keep(score)
            bar.update(task, completed=score.episodes, total=score.total)
            if time.monotonic() - updated > REFRESH_SECONDS:
                bar.update(task, description=f"running  {score}")
                updated = time.monotonic()

        yield show, scores


def _print(out: Path, score: RunningScore, rules: list[StoppingRule], *, json: bool) -> None:
    rate = score.success()
    always = ("stopped", "out of steps", "failed")
    endings = {name: score.endings[name] for name in (*always, *sorted(score.endings.keys() - set(always)))}
    if json:
        success = None if rate is None else {"mean": rate.mean, "low": rate.low, "high": rate.high}
        counts = {"rollouts": score.rollouts, "episodes": score.episodes, **endings}
        until = {"until": rules[0].to_dict()} if rules else {}
        output.print_json({"file": str(out), **counts, "SR": success, **until})
    else:
        numbers = ", ".join(f"{count} {name}" for name, count in endings.items())
        rollouts = output.count(score.rollouts, "rollout")
        episodes = output.count(score.episodes, "episode")
        found = rules[0] if rules else score
        output.print_line(f"{out}: {rollouts}, {episodes}; {numbers}. {found}".rstrip())
    output.print_reasons(score.reasons)
