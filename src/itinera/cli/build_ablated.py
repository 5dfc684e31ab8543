"""`itinera build ablated`: the same tasks told with fewer words, or with wrong ones."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from itinera.cli import inputs as given
from itinera.cli import options, output

PLAINER = {"fgr2r": "r2r"}  # forms of tasks whose words are cut by sense, which words left out are not


def ablated(
    tasks: options.Tasks,
    rule: Annotated[
        str,
        typer.Option(
            help="full; last-N, as last-5: the last so many tokens; none; other: another path's; without-turns, "
            "without-rooms, without-objects: such words masked."
        ),
    ],
    out: options.Out,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Tell the same tasks with fewer words, or with another's: how much of what an agent does hangs on what it reads?

    The file is in the form of the tasks; of Fine-Grained R2R it is R2R's. Run and score an agent on each.

    Example: itinera build ablated --tasks R2R_val_unseen.json --rule last-5 --out R2R_val_unseen_last5.json
    """
    from itinera.builders.ablations import KINDS
    from itinera.builders.ablations import ablated as told_by
    from itinera.formats import catalog
    from itinera.formats.provenance import write_sidecar
    from itinera.skills.categories import OURS

    found = catalog.detect(tasks)
    split = catalog.read_tasks(tasks)
    kinds = {**KINDS, "objects": KINDS["objects"] | OURS.keys()}
    changed = told_by(split, rule, seed=seed, kinds=kinds)
    catalog.named(PLAINER.get(found.name, found.name)).write(out, changed)
    write_sidecar(out, replace(given.provenance_of({"tasks": tasks}, sys.argv[1:]), seed=seed))
    texts = [(a.instruction.text, b.instruction.text) for a, b in zip(split.episodes, changed.episodes, strict=True)]
    other = sum(before != after for before, after in texts)
    if json:
        output.print_json({"file": str(out), "rule": rule, "episodes": len(texts), "changed": other})
    else:
        typer.echo(f"{out}: {len(texts)} episodes, the words of {other} changed.")
