"""`itinera study analyse`: what a study found, in sentences, tables and figures; and what a design is told of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import options, output
from itinera.cli.study_inputs import Places
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.formats.action_logs import LeaningFile
    from itinera.formats.trials import TrialFile
    from itinera.records import ScoreTable
    from itinera.skills.analysis import Analysis, Finding
    from itinera.skills.responses import Answers
    from itinera.skills.skill_table import SkillRow
    from itinera.worlds import World


def analyse(
    trials: Annotated[Path, typer.Argument(help="The trials, as `itinera study design` writes them.")],
    leanings: Annotated[
        list[Path], typer.Argument(help="What agents leaned to: one file of `study run` or `import` each.")
    ],
    scores: Annotated[
        list[Path] | None,
        typer.Option(help="A result bundle for each file of leanings, in their order: SR and nDTW beside the skills."),
    ] = None,
    worlds: Annotated[
        Path | None, typer.Option(help="Graphs, for distances to rooms; those the trials were designed in if left out.")
    ] = None,
    rooms: Annotated[Path | None, typer.Option(help="The table of rooms; see --worlds.")] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="default, fm1, fm2, fm3; several may be given, the first is reported.")
    ] = None,
    resamples: Annotated[int, typer.Option(help="Of the bootstrap over scenes.")] = 2000,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    figures: Annotated[Path | None, typer.Option(help="Draw figures into this folder (extra figures).")] = None,
    train: Annotated[
        Path | None, typer.Option(help="With --figures: tasks the agents were trained on, for their turns and lengths.")
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
) -> None:
    """Say which skills agents have: a verdict for each, with interval and p-value, and a table of skill scores.

    Effects and p-values are those of a linear mixed-effects model with scenes as the sample; other intervals redraw
    scenes. --csv, --markdown and --latex print the table alone.

    Example: itinera study analyse trials.jsonl reader.jsonl forward.jsonl --figures figures/
    """
    from itinera.formats.trials import read_trials
    from itinera.skills.analysis import Analysis, find
    from itinera.skills.skill_table import skill_row

    shape = output.chosen(json=json, csv=csv, markdown=markdown, latex=latex)
    if train is not None and figures is None:
        raise BadArgument("--train is for a figure: give --figures too.")
    how = Analysis(tuple(model or ("default",)), seed, resamples)
    study = read_trials(trials)
    agents, tables = _agents(study, leanings), _bundles(scores or [], leanings)
    known = _worlds(study, worlds, rooms)
    answers = {name: _answers(study, told, known) for name, told in agents.items()}
    found = {name: [find(of_skill, how) for of_skill in by_skill.values()] for name, by_skill in answers.items()}
    rows = [
        skill_row(name, by_skill, table, how) for (name, by_skill), table in zip(answers.items(), tables, strict=True)
    ]
    _print(shape, study, found, rows)
    if figures is not None:
        _draw(figures, answers, known, how)
    if train is not None and figures is not None:
        _draw_training(figures, train, _places(study, worlds, rooms))


def _agents(study: TrialFile, files: Sequence[Path]) -> dict[str, LeaningFile]:
    """The files by the names of their agents; those of the same name by the names of the files."""
    from itinera.formats.action_logs import read_leanings, refuse_unknown

    known = {trial.id: trial for trial in study.trials}
    read = [read_leanings(path) for path in files]
    for path, told in zip(files, read, strict=True):
        refuse_unknown(str(path), told.leanings, known)
    names = [told.agent for told in read]
    if len(set(names)) < len(names):
        names = [path.stem for path in files]
    if len(set(names)) < len(names):
        names = list(map(str, files))
    return dict(zip(names, read, strict=True))


def _bundles(scores: Sequence[Path], leanings: Sequence[Path]) -> list[ScoreTable | None]:
    from itinera.formats.bundles import read_scores

    if scores and len(scores) != len(leanings):
        raise BadArgument(f"There are {len(scores)} bundles for {len(leanings)} agents. Give one for each, in order.")
    return [read_scores(path) for path in scores] or [None] * len(leanings)


def _worlds(study: TrialFile, worlds: Path | None, rooms: Path | None) -> Mapping[str, World]:
    """The worlds of a study, where its skills measure distances; from where they were when it was designed."""
    from itinera.skills.registry import SKILLS

    if all(SKILLS[trial.skill].unit != "m" for trial in study.trials if trial.skill in SKILLS):
        return {}
    return _places(study, worlds, rooms).read(objects=False)


def _places(study: TrialFile, worlds: Path | None, rooms: Path | None) -> Places:
    known = {} if study.provenance is None else study.provenance.inputs
    place = worlds or (_place(known["worlds"]) if "worlds" in known else None)
    table = rooms or (Path(known["rooms"]) if "rooms" in known and worlds is None else None)
    if place is None or not place.exists():
        raise BadArgument(
            "Distances are measured on graphs, and those the trials were designed in are not where they were: give "
            "--worlds, and --rooms unless they are a season."
        )
    return Places(place, rooms=table)


def _place(told: str) -> Path:
    from itinera.formats.hearth_season import ABOUT

    path = Path(told)
    return path.parent if path.name == ABOUT else path


def _answers(study: TrialFile, told: LeaningFile, worlds: Mapping[str, World]) -> dict[str, Answers]:
    from itinera.skills.registry import SKILLS
    from itinera.skills.responses import answers_by_skill

    return answers_by_skill(study.trials, told.leanings, SKILLS, worlds)


def _print(shape: str, study: TrialFile, found: Mapping[str, Sequence[Finding]], rows: Sequence[SkillRow]) -> None:
    from itinera.reports import skill_findings as told

    if shape == "json":
        output.print_json(told.as_plain(found, rows, study.tallies))
        return
    if shape == "terminal":
        for name, findings in found.items():
            for finding in findings:
                for sentence in told.verdicts(name, finding):
                    typer.echo(sentence)
        typer.echo()
    if any(row.scores for row in rows):
        output.print_grid(told.table_grid(rows), shape)
    for sentence in told.filtered(study.tallies):
        output.remark(sentence)
    for name, findings in found.items():
        for finding in findings:
            for sentence in told.losses(name, finding):
                output.remark(sentence)


def _draw(
    folder: Path, answers: Mapping[str, Mapping[str, Answers]], worlds: Mapping[str, World], how: Analysis
) -> None:
    from itinera.reports.charts.skills import draw_all

    drawn = draw_all(folder, answers, worlds, how)
    output.remark(f"{len(drawn)} figures in {folder}.")


def _draw_training(folder: Path, tasks: Path, places: Places) -> None:
    import numpy as np

    from itinera.formats.catalog import read_tasks
    from itinera.reports.charts.skills import ENDING, draw_training
    from itinera.skills.distributions import heading_changes

    split = read_tasks(tasks)
    lengths = np.array([len(episode.reference) for episode in split.episodes])
    draw_training(heading_changes(split, places.read(objects=False)), lengths, folder / f"training{ENDING}")


def print_design(out: Path, study: TrialFile, *, as_json: bool) -> None:
    """What was designed: so many trials, and what became of every candidate."""
    from itinera.reports.skill_findings import filtered

    by_skill: dict[str, int] = {}
    for trial in study.trials:
        by_skill[trial.skill] = by_skill.get(trial.skill, 0) + (trial.arm == "intervention")
    if as_json:
        import msgspec

        tallies = {name: msgspec.to_builtins(counts) for name, counts in study.tallies.items()}
        output.print_json(
            {"file": str(out), "trials": len(study.trials), "interventions": by_skill, "designed": tallies}
        )
        return
    typer.echo(f"{out}: {len(study.trials)} trials, {sum(by_skill.values())} of them interventions.")
    for sentence in filtered(study.tallies):
        output.remark(sentence)
