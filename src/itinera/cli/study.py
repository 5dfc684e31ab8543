"""`itinera study`: which skills an agent has. Trials are designed, asked and analysed; each step is a file."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import inputs as given
from itinera.cli import options, output, senses, study_analysis
from itinera.cli.crews import AGENTS, code_of, learned_by
from itinera.cli.going_on import Restart, is_done, plan_of
from itinera.cli.run import processes
from itinera.cli.study_inputs import Places, StudySetting, aligned_split, make_panel
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.formats.draft import Draft
    from itinera.formats.trials import Counts
    from itinera.records.action_probabilities import Leaning
    from itinera.skills.filter_counts import Tally
    from itinera.skills.trials import Skill
    from itinera.tasks.trial import Trial
    from itinera.worlds import World

app = typer.Typer(
    help="Which skills an agent has: stopping, turning, seeking objects and rooms, told from what it leans to.",
    no_args_is_help=True,
)

SHOWN_REASONS = 3

Trials = Annotated[Path, typer.Option("--trials", help="The trials, as `itinera study design` writes them.")]
TrialsFile = Annotated[
    Path, typer.Argument(metavar="TRIALS", help="The trials, as `itinera study design` writes them.")
]
Graphs = Annotated[Path, typer.Option("--worlds", help="Connectivity folder or archive, or a season of Hearth.")]
Objects = Annotated[Path | None, typer.Option(help="REVERIE's BBox folder or archive. A season has its own.")]
Rooms = Annotated[Path | None, typer.Option(help="A table of rooms, CSV. A season has its own.")]


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
        Path, typer.Option("--tasks", help="Tasks whose words are tied to places: RxR, Fine-Grained R2R, native.")
    ],
    worlds: Graphs,
    out: options.Out,
    alignment: Annotated[Path | None, typer.Option(help="RxR's folder or archive of guide pose traces.")] = None,
    objects: Objects = None,
    rooms: Rooms = None,
    categories: Annotated[
        Path | None, typer.Option(help="Matterport's category_mapping.tsv, instead of a small table of ours.")
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(
            help="paper; released: sentences and filters of the released scripts; hearth: the paper's, with rooms and "
            "things called as Hearth calls them. Unless given: hearth for a season, else paper."
        ),
    ] = None,
    max_episodes: Annotated[int | None, typer.Option(help="Cut the first so many only.")] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Cut episodes short and add what asks for a skill: trials, each with its control twin.

    Counts tell what was filtered out and why.

    Example: itinera study design stop direction --tasks hearth/rxr/rxr_val_unseen_guide.jsonl.gz --worlds hearth
    --out trials.jsonl
    """
    from itinera.formats.trials import TrialFile, write_trials
    from itinera.skills.registry import VARIANTS, named
    from itinera.skills.trials import design as design_trials
    from itinera.skills.truncation import CUTTING_RULES, cut

    places = Places(worlds, objects, rooms)
    chosen = given.one_of("--variant", variant or ("hearth" if places.is_season else "paper"), VARIANTS)
    split = aligned_split(tasks, alignment)
    known = places.read(objects=any(name in ("object", "all") for name in skills))
    wanted = named(skills, _skills(chosen, categories, known, split.world_ids))
    episodes = split.episodes if max_episodes is None else split.episodes[:max_episodes]
    cuttings = cut(episodes, rule=CUTTING_RULES["released" if chosen == "released" else "paper"])
    study = design_trials(wanted, cuttings.cuts, known, seed=seed)
    if not study.trials:
        output.remark("No candidate passed its filter: there are no trials.")
    told = given.provenance_of({"tasks": tasks, "alignment": alignment, "categories": categories, **places.inputs},
                               sys.argv[1:])  # fmt: skip
    counted = {"cuts": cuttings.tally, **study.tallies}
    file = TrialFile(study.trials, _counts(counted), split.name, replace(told, seed=seed))
    write_trials(out, file)
    study_analysis.print_design(out, file, as_json=json)


def _skills(
    variant: str, categories: Path | None, worlds: Mapping[str, World], world_ids: tuple[str, ...]
) -> dict[str, Skill]:
    from itinera.formats.categories import read_categories
    from itinera.skills.categories import OURS
    from itinera.skills.registry import skill_table
    from itinera.skills.trials import graph_of

    names = OURS if categories is None else read_categories(categories)
    if variant != "released":
        return skill_table(variant, categories=names)  # type: ignore[arg-type]
    from itinera.simulators.candidates import graph_candidates

    shown = {
        world_id: {node: ways.nodes for node, ways in graph_candidates(graph_of(worlds[world_id])).items()}
        for world_id in world_ids
    }
    return skill_table("released", categories=names, orders=shown)


def _counts(tallies: Mapping[str, Tally]) -> dict[str, Counts]:
    from dataclasses import asdict

    import msgspec

    from itinera.formats.trials import Counts

    return {name: msgspec.convert(asdict(tally), Counts) for name, tally in tallies.items()}


@app.command("run")
def run(
    trials: Trials,
    worlds: Graphs,
    out: options.Out,
    agent: Annotated[
        str | None,
        typer.Option(
            help=f"Who is asked: {', '.join(AGENTS)}; a model file, NAME.safetensors; module:Class of yours, found in "
            "this folder first; or HOST:PORT.",
            autocompletion=lambda: list(AGENTS),
        ),
    ] = None,
    agent_command: Annotated[
        str | None, typer.Option(help="A command that starts the agent, in any language, spoken to in JSON lines.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="What tables call the agent, instead of how it is given here.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes at work; one for each core if left out, 0 to ask in this one.")
    ] = None,
    reply_seconds: Annotated[
        float | None, typer.Option(help="Seconds an agent in another process may take for a reply; 60 if left out.")
    ] = None,
    views: senses.Views = None,
    objects: senses.Objects = None,
    rooms: senses.Rooms = None,
    seed: options.Seed = 0,
    restart: Restart = False,
    json: options.Json = False,
) -> None:
    """Lead an agent along the path of every trial, then ask how likely each action is to it.

    The agent must be able to weigh. Where it fails, the trial is recorded as failed, with the reason. What was stopped
    goes on when the same command is given again. The file depends neither on that nor on the number of workers.

    Example: itinera study run --agent reader --trials trials.jsonl --worlds hearth --out reader.jsonl
    """
    from itinera.formats.action_logs import read_leanings
    from itinera.formats.draft import Draft
    from itinera.formats.native import Header
    from itinera.formats.trials import read_trials
    from itinera.tasks.protocol import RXR

    who = agent or agent_command
    if who is None or (agent and agent_command):
        raise BadArgument("Say who is asked: give --agent or --agent-command, one of them.")
    study = read_trials(trials)
    setting = StudySetting(who, trials, worlds, RXR, None, agent is None, reply_seconds, rooms=rooms)
    learned = learned_by(setting)
    seeing = views is not None or (learned is not None and bool(learned.columns))
    shown = senses.senses_of(setting.split(), worlds, views=views, objects=objects if seeing else None,
                             rooms=rooms if seeing else None, eye=None, learned=learned)  # fmt: skip
    setting = replace(setting, senses=shown)
    used = {"trials": trials, **Places(worlds, objects, rooms).inputs, **code_of(setting)}
    told = replace(given.provenance_of(used, sys.argv[1:]), seed=seed)
    plan = plan_of(told, setting, name)
    if restart or not is_done(out, plan):
        with Draft(out, "leanings", plan, restart=restart) as draft:
            _ask_all(setting, study.trials, seed, processes(workers), draft)
            draft.finish(Header(itinera="leanings", agent=name or who, provenance=told))
    _print_answers(out, study.trials, read_leanings(out).leanings, as_json=json)


def _ask_all(setting: StudySetting, trials: tuple[Trial, ...], seed: int, workers: int, draft: Draft) -> None:
    """Ask about the trials that the draft has no answers to."""
    from itinera.formats.action_logs import record_of
    from itinera.runs.probing import ask_all
    from itinera.skills.registry import SKILLS

    onward = frozenset(name for name, skill in SKILLS.items() if skill.rolls_out)
    left = [number for number in range(len(trials)) if number not in draft]
    if len(draft):
        output.remark(f"{len(draft)} of {len(trials)} trials are answered already; going on with the rest.")
    asking = ask_all(partial(make_panel, setting), [trials[k] for k in left], seed=seed, workers=workers, onward=onward)
    # Results stand alone on stdout, whatever an agent in this process prints.
    with redirect_stdout(sys.stderr), output.progress("asking", len(left)) as done:
        try:
            for batch in asking:
                for number, leaning in batch:
                    draft.add(left[number], record_of(leaning))
                done(len(batch))
        except KeyboardInterrupt:
            output.remark(f"Stopped with {len(draft)} of {len(trials)} trials. The same command goes on from here.")
            raise typer.Exit(1) from None


def _print_answers(out: Path, trials: tuple[Trial, ...], leanings: tuple[Leaning, ...], *, as_json: bool) -> None:
    reasons = Counter(leaning.failed for leaning in leanings if leaning.failed)
    failed = reasons.total()
    counts = {
        "trials": len(trials),
        "answered": len(leanings) - failed,
        "failed": failed,
        "unanswered": len(trials) - len(leanings),
    }
    if as_json:
        output.print_json({"file": str(out), **counts})
    else:
        told = ", ".join(f"{count} {name}" for name, count in list(counts.items())[1:])
        typer.echo(f"{out}: {len(trials)} trials; {told}.")
    for reason, count in reasons.most_common(SHOWN_REASONS):
        output.remark(f"{count} failed: {reason}")


@app.command("export")
def export(
    trials: TrialsFile,
    out: options.Out,
    to: Annotated[str, typer.Option(help="r2r or rxr: the form of the tasks that the agent reads.")] = "rxr",
) -> None:
    """Write trials as episodes that an agent elsewhere can read; its answers come back by `itinera study import`.

    Trials are numbered from 0 in their order. Trial N is RxR's instruction_id N, or R2R's path N with one instruction.
    The path of an episode is the one the agent must be led along before it is asked.

    Example: itinera study export trials.jsonl --to r2r --out R2R_trials.json
    """
    from itinera.formats import r2r, rxr
    from itinera.formats.provenance import write_sidecar
    from itinera.formats.trials import read_trials
    from itinera.tasks import Split

    given.one_of("--to", to, ("r2r", "rxr"))
    study = read_trials(trials)
    numbered = [
        replace(trial.episode, id=str(number), path_id=str(number)) for number, trial in enumerate(study.trials)
    ]
    write = {"r2r": r2r.write_split, "rxr": rxr.write_split}[to]
    write(out, Split(study.name or "trials", tuple(numbered)))
    write_sidecar(out, given.provenance_of({"trials": trials}, sys.argv[1:]))
    typer.echo(f"{out}: {len(numbered)} trials in the form of {to}.")


@app.command("import")
def import_(
    answers: Annotated[Path, typer.Argument(help="Logged distributions: vln-behave's records, or ours.")],
    trials: Trials,
    out: options.Out,
    name: Annotated[str | None, typer.Option(help="What tables call the agent, instead of the file's name.")] = None,
    json: options.Json = False,
) -> None:
    """Read what an agent leaned to elsewhere, check it against the trials, and keep it as our own file.

    Example: itinera study import submit_trials_0.json --trials trials.jsonl --name HAMT --out hamt.jsonl
    """
    from itinera.formats.action_logs import LeaningFile, read_behave, read_leanings, refuse_unknown, write_leanings
    from itinera.formats.catalog import look_inside
    from itinera.formats.trials import read_trials

    study = read_trials(trials)
    if look_inside(answers).begins(r"\["):
        found = LeaningFile(answers.stem, read_behave(answers, study.trials))
    else:
        found = read_leanings(answers)
        refuse_unknown(str(answers), found.leanings, {trial.id: trial for trial in study.trials})
    told = given.provenance_of({"answers": answers, "trials": trials}, sys.argv[1:])
    write_leanings(out, replace(found, agent=name or found.agent, provenance=told))
    _print_answers(out, study.trials, found.leanings, as_json=json)


app.command("analyse")(study_analysis.analyse)
