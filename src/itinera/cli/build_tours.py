"""`itinera build tours`: the paths of every scene in the order that leads an agent least far."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import inputs as given
from itinera.cli import options, output
from itinera.errors import BadFile, Fault

if TYPE_CHECKING:
    from itinera.builders.tours import OrderedPaths, Touring
    from itinera.tasks import Split
    from itinera.worlds import World


def tours(
    tasks: options.Tasks,
    out: options.Out,
    worlds: options.Worlds = None,
    order: Annotated[
        str, typer.Option(help="end-to-start, or start-to-start where goals are hidden (the test split's rule).")
    ] = "end-to-start",
    solver: Annotated[str, typer.Option(help="exact: proven optimal; lkh: a heuristic (extra lkh).")] = "exact",
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds per set of paths, then the best order and its bound are taken.")
    ] = None,
    per_set: Annotated[
        int | None,
        typer.Option("--tours", help="Tours per set of paths; as many as its fewest instructions if left out."),
    ] = None,
    single: Annotated[bool, typer.Option(help="Keep sets of one path, as tours of one episode.")] = False,
    seed: options.Seed = 0,
    resume: options.Resume = False,
    json: options.Json = False,
) -> None:
    """Order the paths of every scene into tours, each proven to lead the agent the least way between its episodes.

    The file is IVLN's: {split: {scan: [[episode, …], …]}}, for `itinera score --tours`. --json reports cost, bound and
    gap of every set of paths.

    Example: itinera build tours --tasks R2R_val_unseen.json --worlds connectivity/ --out tours.json
    """
    from itinera.builders.tours import Touring
    from itinera.formats import catalog, ivln
    from itinera.formats.provenance import write_sidecar
    from itinera.tasks import Tour

    given.one_of("--order", order, ("end-to-start", "start-to-start"))
    given.one_of("--solver", solver, ("exact", "lkh"))
    touring = Touring(order, per_set, single, seed)  # type: ignore[arg-type]
    split = catalog.read_tasks(tasks)
    told = given.provenance_of({"tasks": tasks, "worlds": worlds}, sys.argv[1:])
    plan = f"{told.version} {dict(told.digests)} {touring} {solver} {time_limit}"
    made = _ordered(split, given.worlds_of(split, worlds), touring, solver, time_limit, out, plan, resume=resume)
    listed = [(record.world_id, ids) for record in made for ids in record.tours]
    if not listed:
        problem = "has no two paths that can be reached from one another, so there is no tour."
        raise BadFile(str(tasks), [Fault("", problem, "--single makes tours of one episode.")])
    ivln.write_tours(out, {_plain_name(split.name): [Tour(str(i), w, ids) for i, (w, ids) in enumerate(listed)]})
    write_sidecar(out, told)
    if json:
        output.print_json(_told_tours(out, made))
    else:
        _print_tours(out, split, made)


def _ordered(
    split: Split,
    worlds: Mapping[str, World],
    touring: Touring,
    solver: str,
    time_limit: float | None,
    out: Path,
    plan: str,
    *,
    resume: bool,
) -> list[OrderedPaths]:
    import msgspec

    from itinera.builders.draft import Draft
    from itinera.builders.tours import OrderedPaths, tour_scene
    from itinera.planners.tsp.ordering import best_order, lkh_order

    solve = lkh_order if solver == "lkh" else partial(best_order, time_limit=time_limit)
    draft = Draft(out, plan, resume=resume)

    def lines(world_id: str) -> Iterator[bytes]:
        for group in tour_scene(split, world_id, worlds, touring, solve):
            # No way is shorter than nothing, which is all that is known of a heuristic's order.
            found = replace(group.found, cost=float(group.found.cost), bound=max(0.0, float(group.found.bound)))
            yield msgspec.json.encode(replace(group, found=found)) + b"\n"

    with output.progress("ordering", len(split.world_ids)) as done:
        done(len(draft.counts))
        for world_id in split.world_ids[len(draft.counts) :]:
            draft.add(lines(world_id))
            done(1)
    made = [msgspec.json.decode(line, type=OrderedPaths) for line in draft.lines()]
    draft.remove()
    return made


def _plain_name(name: str) -> str:
    """The name IVLN's files give a split: "val_unseen" for R2R_val_unseen."""
    known = [plain for plain in ("val_unseen", "val_seen", "train", "test") if plain in name]
    return known[0] if known else name


def _told_tours(out: Path, made: list[OrderedPaths]) -> dict[str, object]:
    return {
        "file": str(out),
        "tours": sum(len(record.tours) for record in made),
        "episodes": sum(len(ids) for record in made for ids in record.tours),
        "cost": sum(record.found.cost for record in made),
        "proven": sum(record.found.proven for record in made),
        "sets": [
            {
                "scene": record.world_id,
                "paths": len(record.path_ids),
                "tours": len(record.tours),
                "cost": record.found.cost,
                "bound": record.found.bound,
                "gap": record.found.gap,
                "proven": record.found.proven,
            }
            for record in made
        ],
    }


def _print_tours(out: Path, split: Split, made: list[OrderedPaths]) -> None:
    episodes = sum(len(ids) for record in made for ids in record.tours)
    tours = output.count(sum(len(record.tours) for record in made), "tour")
    scenes = output.count(len({record.world_id for record in made}), "scene")
    typer.echo(f"{out}: {tours} of {output.count(episodes, 'episode')} in {scenes}.")
    proven = sum(record.found.proven for record in made)
    cost = sum(record.found.cost for record in made)
    typer.echo(f"{cost:.1f} m led between episodes; {proven} of {len(made)} orders are proven to be the shortest.")
    left = len(split.episodes) - episodes
    if left:
        output.remark(f"{left} episodes are in no tour: instructions beyond the fewest of a set, or paths alone.")
