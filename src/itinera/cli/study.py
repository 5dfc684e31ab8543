"""`itinera study`: designs, runs and analyzes a skill study; each step writes a file."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.formats.action_probabilities import ActionProbabilities
    from itinera.formats.trials import Study

app = typer.Typer(
    help="Which skills an agent has: stopping, turning, seeking objects and rooms, from its action probabilities.",
    no_args_is_help=True,
)

Trials = Annotated[Path, typer.Option("--trials", help="Trials written by `itinera study design`.")]
TrialsFile = Annotated[Path, typer.Argument(metavar="TRIALS", help="Trials written by `itinera study design`.")]
Graphs = Annotated[Path, typer.Option("--worlds", help="Connectivity folder or archive, or Hearth season.")]
Objects = Annotated[
    Path | None, typer.Option(help="REVERIE's BBox folder or archive. Default: that of the Hearth season.")
]
Rooms = Annotated[Path | None, typer.Option(help="CSV table of rooms. Default: that of the Hearth season.")]


@app.command("design")
def design(
    skills: Annotated[
        list[str],
        typer.Argument(
            metavar="SKILL…",
            help="stop, direction, object, room-1, room (1 to 8 steps), room-within, all; or one, as direction-left.",
        ),
    ],
    tasks: Annotated[
        Path, typer.Option("--tasks", help="Tasks with words aligned with places: RxR, Fine-Grained R2R, native.")
    ],
    worlds: Graphs,
    out: options.Out,
    alignment: Annotated[Path | None, typer.Option(help="RxR's folder or archive of guide pose traces.")] = None,
    objects: Objects = None,
    rooms: Rooms = None,
    categories: Annotated[
        Path | None, typer.Option(help="Matterport's category_mapping.tsv, instead of the small built-in table.")
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(
            help="paper; released: sentences and filters of the released scripts; hearth: the paper's, with Hearth's "
            "names of rooms and objects. Default: hearth for a season, else paper.",
            autocompletion=lambda: ["paper", "released", "hearth"],
        ),
    ] = None,
    max_episodes: Annotated[int | None, typer.Option(help="Truncate only the first N episodes.")] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Design trials: truncate episodes and add a sentence that asks for a skill; each trial has its control.

    Filter counts say how many candidate trials were dropped, and why.

    Example: itinera study design stop direction --tasks hearth/rxr/rxr_val_unseen_guide.jsonl.gz --worlds hearth
    --out trials.jsonl
    """
    from itinera import api

    study = api.design_study(
        skills,
        tasks,
        worlds,
        alignment=alignment,
        objects=objects,
        rooms=rooms,
        categories=categories,
        variant=variant,
        max_episodes=max_episodes,
        seed=seed,
        out=out,
        command_words=output.command_words(),
    )
    _print_design(out, study, json=json)


def _print_design(out: Path, study: Study, *, json: bool) -> None:
    from itinera.reports.skill_findings import format_filter_counts

    interventions = Counter(trial.skill for trial in study.trials if trial.arm == "intervention")
    if json:
        import msgspec

        counts = {name: msgspec.to_builtins(found) for name, found in study.filter_counts.items()}
        output.print_json(
            {"file": str(out), "trials": len(study), "interventions": dict(interventions), "designed": counts}
        )
        return
    output.print_line(f"{out}: {len(study)} trials, {interventions.total()} of them interventions.")
    for sentence in format_filter_counts(study.filter_counts):
        output.remark(sentence)


@app.command("run")
def run(
    trials: Trials,
    worlds: Graphs,
    out: options.Out,
    agent: options.Agent = None,
    agent_command: options.AgentCommand = None,
    agent_option: options.AgentOption = None,
    agent_file: options.AgentFile = None,
    policy: options.PolicyClass = None,
    isolate: options.Isolate = False,
    name: Annotated[str | None, typer.Option(help="Name of the agent in tables. Default: how it is given.")] = None,
    workers: options.Workers = None,
    engine: options.Engine = "processes",
    reply_seconds: options.ReplySeconds = None,
    views: options.Views = None,
    objects: options.ViewObjects = None,
    rooms: options.ViewRooms = None,
    seed: options.Seed = 0,
    shard: options.Shard = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Guide an agent along the path of every trial, and record its action probabilities at the end.

    The agent must report action probabilities. A trial in which it fails is recorded as failed, with the reason. If
    interrupted, rerun the command to resume. The result does not depend on that, nor on the number of workers.

    Example: itinera study run --agent reader --trials trials.jsonl --worlds hearth --out reader.jsonl
    """
    from itinera import api
    from itinera.agents.loading import parse_options

    # Results stand alone on stdout, whatever an agent in this process prints.
    with redirect_stdout(sys.stderr), output.progress("probing", None) as done:
        try:
            responses = api.run_study(
                agent,
                trials,
                worlds,
                command=agent_command,
                agent_options=parse_options(agent_option or ()),
                agent_files=agent_file or (),
                policy=policy,
                isolate=isolate,
                name=name,
                seed=seed,
                workers=workers,
                engine=engine,
                reply_seconds=reply_seconds,
                views=views,
                objects=objects,
                rooms=rooms,
                shard=shard,
                out=out,
                overwrite=overwrite,
                progress=done,
                start_method="spawn",
                command_words=output.command_words(),
            )
        except KeyboardInterrupt:
            raise SystemExit(output.INTERRUPTED) from None  # what is kept has been reported
    _print_responses(options.written_file(out, shard), len(responses), responses, json=json)


def _print_responses(out: Path, trials: int, responses: ActionProbabilities, *, json: bool) -> None:
    reasons = Counter(one.failed for one in responses if one.failed)
    failed = reasons.total()
    counts = {"completed": len(responses) - failed, "failed": failed, "missing": trials - len(responses)}
    if json:
        output.print_json({"file": str(out), "trials": trials, **counts})
    else:
        output.print_line(f"{out}: {trials} trials; {', '.join(f'{count} {name}' for name, count in counts.items())}.")
    output.print_reasons(reasons)


@app.command("export")
def export(
    trials: TrialsFile,
    out: options.Out,
    to: Annotated[
        str, typer.Option(help="Format of the tasks: r2r or rxr.", autocompletion=lambda: ["r2r", "rxr"])
    ] = "rxr",
) -> None:
    """Write trials as tasks for an agent that runs elsewhere; `itinera study import` reads its action probabilities.

    Trials are numbered from 0 in their order. Trial N is RxR's instruction_id N, or R2R's path N with one instruction.
    The agent must be guided along the path of a task before its action probabilities are logged.

    Example: itinera study export trials.jsonl --to r2r --out R2R_trials.json
    """
    from itinera import api

    count = api.export_study(trials, out, to=to, command_words=output.command_words())  # type: ignore[arg-type]
    output.print_line(f"{out}: {count} trials in the format {to}.")


@app.command("import")
def import_(
    answers: Annotated[Path, typer.Argument(help="Action probabilities: vln-behave's records, or Itinera's format.")],
    trials: Trials,
    out: options.Out,
    name: Annotated[str | None, typer.Option(help="Name of the agent in tables. Default: the file's name.")] = None,
    json: options.Json = False,
) -> None:
    """Read action probabilities that an agent logged elsewhere, check them against the trials, and write a native file.

    Example: itinera study import submit_trials_0.json --trials trials.jsonl --name HAMT --out hamt.jsonl
    """
    from itinera import api

    study = api.read_study(trials)
    responses = api.import_study(answers, study, name=name, out=out, command_words=output.command_words())
    _print_responses(out, len(study), responses, json=json)


@app.command("analyse")
def analyse(
    trials: TrialsFile,
    responses: Annotated[
        list[Path], typer.Argument(help="Action probabilities: one file of `study run` or `import` per agent.")
    ],
    scores: Annotated[
        list[Path] | None,
        typer.Option(help="Score bundle of each agent, in their order: adds SR and nDTW to the skill table."),
    ] = None,
    worlds: Annotated[
        Path | None, typer.Option(help="Graphs, for distances to rooms. Default: those the trials were designed with.")
    ] = None,
    rooms: Annotated[Path | None, typer.Option(help="CSV table of rooms; see --worlds.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Mixed model: default, fm1, fm2, fm3. May be repeated; the first is reported.",
            autocompletion=lambda: ["default", "fm1", "fm2", "fm3"],
        ),
    ] = None,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples of scenes.")] = 2000,
    seed: options.Seed = 0,
    figures: Annotated[Path | None, typer.Option(help="Draw figures into this folder (extra figures).")] = None,
    train: Annotated[
        Path | None, typer.Option(help="With --figures: training tasks of the agents, for their turns and lengths.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print a sentence on each effect too.")] = False,
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
) -> None:
    """Analyze which skills agents have: a verdict for each, with interval and p-value, and a table of skill scores.

    Effects and p-values are those of a linear mixed-effects model with scenes as the sample; other intervals resample
    scenes. --verbose adds a sentence on each. --csv, --markdown and --latex print the table of scores only.

    Example: itinera study analyse trials.jsonl reader.jsonl forward.jsonl --figures figures/
    """
    shape = output.output_format(json=json, csv=csv, markdown=markdown, latex=latex)
    if train is not None and figures is None:
        raise BadArgument("--train adds a figure: give --figures too.")
    from itinera import api

    analysis = api.analyze_study(
        trials,
        responses,
        scores=scores or (),
        worlds=worlds,
        rooms=rooms,
        models=model or ("default",),
        resamples=resamples,
        seed=seed,
        figures=figures,
        train=train,
    )
    if shape == "json":
        output.print_json(analysis.to_dict())
        return
    if shape == "terminal":
        output.print_table(analysis.effects_table(), shape)
        for sentence in analysis.verdicts() if verbose else ():
            output.print_line(sentence)
        output.print_line("")
    if any(row.scores for row in analysis.rows):
        output.print_table(analysis.to_table(), shape)
    for sentence in analysis.remarks():
        output.remark(sentence)
