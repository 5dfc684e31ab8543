"""`itinera build`: long journeys from any split; tours are in `build_tours.py`, houses in `build_hearth.py`,
other words for the same tasks in `build_ablated.py`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import build_ablated, build_hearth, build_tours, options, output
from itinera.cli import inputs as given

if TYPE_CHECKING:
    from itinera.builders.joining import Joining
    from itinera.tasks import Split
    from itinera.worlds import World

app = typer.Typer(
    help="Build houses with tasks; from any split, long journeys (R4R, R6R, R8R), tours, and tasks with fewer words.",
    no_args_is_help=True,
)

Graphs = Annotated[Path, typer.Option("--worlds", help="Connectivity folder or archive.")]
Positions = Annotated[
    str, typer.Option(help="pose, or panorama: the positions of the first release, which its published counts need.")
]


def _joined(parts: int, name: str, words: str) -> None:
    def build(
        tasks: options.Tasks,
        worlds: Graphs,
        out: options.Out,
        positions: Positions = "pose",
        threshold: Annotated[float, typer.Option(help="Metres from the end of a path to the start of the next.")] = 3.0,
        round_trips: Annotated[bool, typer.Option(help="Keep journeys that end where they start.")] = True,
        sharpest_turn: Annotated[
            float | None, typer.Option(help="Degrees: leave out joins with a sharper turn than this.")
        ] = None,
        journeys: Annotated[int | None, typer.Option(help="At most so many per scene, drawn at random.")] = None,
        texts: Annotated[int | None, typer.Option(help="At most so many instructions each, drawn at random.")] = None,
        seed: options.Seed = 0,
        resume: options.Resume = False,
        json: options.Json = False,
    ) -> None:
        from itinera.builders.joining import Joining

        turn = None if sharpest_turn is None else math.radians(sharpest_turn)
        joining = Joining(parts, threshold, round_trips, turn, journeys, texts, seed)
        _build_journeys(tasks, worlds, out, positions, joining, resume=resume, as_json=json)

    build.__doc__ = f"""Join {words} paths end to start into {name.upper()} journeys, instructions in every combination.

    The file is a plain JSON list in R2R's form, written as it is made.

    Example: itinera build {name} --tasks R2R_val_unseen.json --worlds connectivity/ --out {name}_val_unseen.json
    """
    app.command(name)(build)


_joined(2, "r4r", "two")
_joined(3, "r6r", "three")
_joined(4, "r8r", "four")
app.command("tours")(build_tours.tours)
app.command("hearth")(build_hearth.hearth)
app.command("ablated")(build_ablated.ablated)


def _build_journeys(
    tasks: Path, worlds: Path, out: Path, positions: str, joining: Joining, *, resume: bool, as_json: bool
) -> None:
    from itinera.builders.draft import Draft
    from itinera.formats import catalog
    from itinera.formats.matterport import read_worlds
    from itinera.formats.provenance import write_sidecar

    given.spare_blas()
    given.one_of("--positions", positions, ("pose", "panorama"))
    split = catalog.read_tasks(tasks)
    places = catalog.read_worlds(worlds) if positions == "pose" else read_worlds(worlds, positions="panorama")
    told = given.provenance_of({"tasks": tasks, "worlds": worlds}, sys.argv[1:])
    draft = Draft(out, f"{told.version} {dict(told.digests)} {positions} {joining}", resume=resume)
    scenes = split.world_ids
    with output.progress("joining", len(scenes)) as done:
        done(len(draft.counts))
        for world_id in scenes[len(draft.counts) :]:
            first = sum(paths for paths, _ in draft.counts)
            counts = [0, 0]
            draft.add(_blocks(split, world_id, places, joining, first, counts), counts)
            done(1)
    paths, texts = (sum(column) for column in zip(*draft.counts, strict=True))
    draft.add([b"\n]\n" if paths else b"[]\n"])
    draft.finish()
    write_sidecar(out, told)
    if as_json:
        output.print_json({"file": str(out), "scenes": len(scenes), "paths": paths, "instructions": texts})
    else:
        typer.echo(f"{out}: {paths} paths, {texts} instructions in {output.count(len(scenes), 'scene')}.")


def _blocks(
    split: Split, world_id: str, worlds: Mapping[str, World], joining: Joining, first: int, counts: list[int]
) -> Iterator[bytes]:
    """The journeys of a scene as members of a JSON list, numbered from `first`; `counts` is kept meanwhile."""
    import msgspec

    from itinera.builders.joining import join_scene
    from itinera.formats.frames import heading_to_r2r
    from itinera.formats.r2r import PARTS, PathRecord, number_or_name

    encode = msgspec.json.Encoder().encode
    for journey in join_scene(split, world_id, worlds, joining):
        number = first + counts[0]
        record = PathRecord(
            scan=world_id,
            path_id=number,
            path=journey.path,  # type: ignore[arg-type]
            heading=heading_to_r2r(journey.heading),
            instructions=journey.texts,  # type: ignore[arg-type]
            distance=journey.length,
            shortest_path=journey.shortest,  # type: ignore[arg-type]
            shortest_path_distance=journey.shortest_length,
            **dict(zip(PARTS, map(number_or_name, journey.part_ids), strict=False)),
        )
        yield b",\n" if number else b"[\n"
        yield encode(record)
        counts[0] += 1
        counts[1] += len(journey.texts)
