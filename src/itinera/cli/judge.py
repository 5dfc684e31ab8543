"""`itinera judge`: checks, replays and scores an entry to a challenge, by the rules of its host."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output

SHOWN = 20


def judge(
    entry: Annotated[Path, typer.Argument(help="Predictions of a participant, best those of `itinera run`.")],
    challenge: Annotated[
        Path, typer.Option("--challenge", help="The rules: a TOML file, or the folder of a challenge.toml.")
    ],
    phase: Annotated[str | None, typer.Option(help="Phase of a challenge that has phases.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write a score bundle, for `compare`, `report` and `check`.")] = None,
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
) -> None:
    """Judge an entry to a challenge: check it, replay its actions, and score what the replay gives.

    Episodes, worlds, protocol, suite and the rule for missing episodes are those of the challenge. Only the actions of
    an entry count: places, times and phases are claims, which are compared. Entries without actions are refused unless
    the challenge allows positions. Exit code 1 if the entry is refused.

    Example: itinera judge entry.jsonl --challenge challenge.toml --out entry-scores.jsonl
    """
    shape = output.output_format(json=json, csv=csv, markdown=markdown, latex=latex)
    from itinera import api
    from itinera.records.summary import summarize, summary_table

    with output.progress("replaying", None) as progress:
        judgement = api.judge(
            entry, challenge, phase=phase, out=out, progress=progress, command_words=output.command_words()
        )
    if shape == "json":
        output.print_json(judgement.to_dict())
        return
    summary = summarize(judgement.scores)
    output.print_table(summary_table(summary, separate_bounds=shape != "terminal"), shape)
    (output.print_line if shape == "terminal" else output.remark)(judgement.summary)
    for difference in judgement.differences[:SHOWN]:
        output.remark(str(difference))
