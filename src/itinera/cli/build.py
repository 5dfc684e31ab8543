"""`itinera build`: houses with tasks, joined paths (R4R), tours, and ablated instructions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import build_ablated, build_hearth, build_tours, options, output

app = typer.Typer(
    help="Build Hearth houses with tasks; from any split R4R, R6R or R8R, tours, or tasks with ablated instructions.",
    no_args_is_help=True,
)


def _add_joined(parts: int, name: str, words: str) -> None:
    def build(
        tasks: options.Tasks,
        worlds: Annotated[Path, typer.Option("--worlds", help="Connectivity folder or archive, or Hearth season.")],
        out: options.Out,
        positions: Annotated[
            str,
            typer.Option(
                help="Node positions: pose, or panorama (those of the first release, which its published counts need).",
                autocompletion=lambda: ["pose", "panorama"],
            ),
        ] = "pose",
        threshold: Annotated[
            float, typer.Option(help="Maximum distance from the end of a path to the start of the next, meters.")
        ] = 3.0,
        round_trips: Annotated[bool, typer.Option(help="Keep paths that end where they start.")] = True,
        max_turn: Annotated[
            float | None, typer.Option(help="Maximum turn between two joined paths, degrees. Default: any.")
        ] = None,
        max_paths: Annotated[
            int | None, typer.Option(help="Maximum number of joined paths of each scene, sampled. Default: all.")
        ] = None,
        max_instructions: Annotated[
            int | None, typer.Option(help="Maximum number of instructions of each joined path, sampled. Default: all.")
        ] = None,
        allow_large: Annotated[
            bool, typer.Option("--all", help="Write every path and instruction, even if the file exceeds 2 GB.")
        ] = False,
        workers: options.Workers = None,
        engine: options.Engine = "processes",
        seed: options.Seed = 0,
        shard: options.Shard = None,
        overwrite: options.Overwrite = False,
        json: options.Json = False,
    ) -> None:
        from itinera import api

        with output.progress("joining scenes", None) as progress:
            built = api.build_r4r(
                tasks,
                worlds,
                out,
                parts=parts,
                threshold=threshold,
                round_trips=round_trips,
                max_turn_deg=max_turn,
                max_paths=max_paths,
                max_instructions=max_instructions,
                seed=seed,
                positions=positions,  # type: ignore[arg-type]
                shard=shard,
                allow_large=allow_large,
                workers=workers,
                engine=engine,
                overwrite=overwrite,
                progress=progress,
                command_words=output.command_words(),
            )
        if json:
            counts = {"scenes": built.scenes, "paths": built.paths, "instructions": built.instructions}
            output.print_json({"file": str(built.file), **counts})
        else:
            scenes = output.count(built.scenes, "scene")
            output.print_line(f"{built.file}: {built.paths} paths, {built.instructions} instructions in {scenes}.")

    build.__doc__ = f"""Build {name.upper()}: {words} paths joined end to start, with instructions in every combination.

    Writes a JSON list in R2R's format. If interrupted, rerun the command to resume. The file does not depend on that,
    nor on the number of workers.

    Example: itinera build {name} --tasks R2R_val_unseen.json --worlds connectivity/ --out {name}_val_unseen.json
    """
    app.command(name)(build)


_add_joined(2, "r4r", "two")
_add_joined(3, "r6r", "three")
_add_joined(4, "r8r", "four")
app.command("tours")(build_tours.tours)
app.command("hearth")(build_hearth.hearth)
app.command("ablated")(build_ablated.build_ablated)
