"""`itinera build`: long journeys, and by `build_tours.py` tours, from any split."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from itinera.cli import build_tours, output
from itinera.cli import inputs as given

if TYPE_CHECKING:
    from itinera.builders.joining import Joining, Journey
    from itinera.tasks import Split
    from itinera.worlds import World

app = typer.Typer(help="Build long journeys (R4R, R6R, R8R) and tours from any split.", no_args_is_help=True)

Graphs = Annotated[Path, typer.Option("--worlds", help="Connectivity folder or archive.")]
Positions = Annotated[
    str, typer.Option(help="pose, or panorama: the positions of the first release, which its published counts need.")
]


def _joined(parts: int, name: str, words: str) -> None:
    def build(
        tasks: given.Tasks,
        worlds: Graphs,
        out: given.Out,
        positions: Positions = "pose",
        threshold: Annotated[float, typer.Option(help="Metres from the end of a path to the start of the next.")] = 3.0,
        round_trips: Annotated[bool, typer.Option(help="Keep journeys that end where they start.")] = True,
        sharpest_turn: Annotated[
            float | None, typer.Option(help="Degrees: leave out joins with a sharper turn than this.")
        ] = None,
        journeys: Annotated[int | None, typer.Option(help="At most so many per scene, drawn at random.")] = None,
        texts: Annotated[int | None, typer.Option(help="At most so many instructions each, drawn at random.")] = None,
        seed: given.Seed = 0,
        resume: given.Resume = False,
        json: output.Json = False,
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


def _build_journeys(
    tasks: Path, worlds: Path, out: Path, positions: str, joining: Joining, *, resume: bool, as_json: bool
) -> None:
    from itinera.builders.parts import Parts
    from itinera.formats import catalogue, r2r
    from itinera.formats.matterport import read_worlds
    from itinera.formats.sidecar import write_sidecar

    given.one_of("--positions", positions, ("pose", "panorama"))
    split = catalogue.read_tasks(tasks)
    places = read_worlds(worlds, positions=positions)  # type: ignore[arg-type]
    told = given.provenance_of({"tasks": tasks, "worlds": worlds}, sys.argv[1:])
    parts = Parts(out, f"{told.version} {dict(told.digests)} {positions} {joining}", resume=resume)
    made, journeys, texts = [], 0, 0
    with output.progress("joining", len(split.world_ids)) as done:
        for number, world_id in enumerate(split.world_ids):
            first = journeys
            part = parts.made(number, lambda w=world_id, n=first: _lines(split, w, places, joining, n))  # type: ignore[misc]
            made.append(part)
            for line in parts.lines([part]):
                journeys, texts = journeys + 1, texts + r2r.count_instructions(line)
            done(1)
    r2r.write_records(out, parts.lines(made))
    write_sidecar(out, told)
    parts.remove()
    if as_json:
        output.print_json({"file": str(out), "scenes": len(split.world_ids), "paths": journeys, "instructions": texts})
    else:
        typer.echo(f"{out}: {journeys} paths, {texts} instructions in {len(split.world_ids)} scenes.")


def _lines(split: Split, world_id: str, worlds: Mapping[str, World], joining: Joining, first: int) -> Iterator[bytes]:
    from itinera.builders.joining import join_scene

    encoder = msgspec.json.Encoder()
    for number, journey in enumerate(join_scene(split, world_id, worlds, joining), start=first):
        yield encoder.encode(_record(journey, number))


def _record(journey: Journey, number: int) -> object:
    from itinera.formats import r2r
    from itinera.formats.frames import heading_to_r2r

    return r2r.PathRecord(
        scan=journey.world_id,
        path_id=number,
        path=list(journey.path),
        heading=heading_to_r2r(journey.heading),
        instructions=list(journey.texts),
        distance=journey.length,
        shortest_path=list(journey.shortest),
        shortest_path_distance=journey.shortest_length,
        **dict(zip(r2r.PARTS, map(r2r.number_or_name, journey.part_ids), strict=False)),
    )
