"""`itinera export`: houses of Hearth for other simulators; scores for the Hugging Face Hub, TensorBoard and W&B."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import options, output

if TYPE_CHECKING:
    from itinera.runs.export_season import SeasonExport

FORMATS = ("gltf", "habitat", "usd", "mjcf", "ros", "matterport")

app = typer.Typer(help="Export houses for other simulators, and scores for other tools.", no_args_is_help=True)


@app.callback()
def _export() -> None:
    """Export houses for other simulators, and scores for other tools."""


@app.command("hearth")
def hearth(
    season: Annotated[Path, typer.Argument(help="Folder of a season that `itinera build hearth` built.")],
    to: Annotated[
        str,
        typer.Option("--to", help=f"Format to write: {', '.join(FORMATS)}.", autocompletion=lambda: list(FORMATS)),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    house: Annotated[
        list[str] | None,
        typer.Option("--house", help="Export only this house, by id or index; may be given several times."),
    ] = None,
    images: Annotated[
        str, typer.Option(help="Images of --to matterport, separated by commas; empty for none.")
    ] = "skybox,equirectangular,views",
    appearance: Annotated[
        str, typer.Option(help="Appearance of these images: flat, day, evening or lamps; day:7 randomizes it.")
    ] = "day",
    secret: Annotated[Path | None, typer.Option(help="Secret file of a season that was built from one.")] = None,
    workers: options.Workers = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier export.")] = False,
    json: options.Json = False,
) -> None:
    """Export a season of Hearth: scenes, start poses and tasks in the frame and layout of another simulator.

    The same season and options give the same bytes with any number of workers.

    Example: itinera export hearth hearth --to usd --out hearth-usd --house 0
    """
    from itinera import api

    with output.progress("exporting houses", len(house) if house else None) as progress:
        exported = api.export_hearth(
            season,
            out,
            to=to,  # type: ignore[arg-type]
            houses=house or (),
            images=[name.strip() for name in images.split(",") if name.strip()],
            appearance=appearance,
            secret=secret,
            workers=workers,
            overwrite=overwrite,
            progress=progress,
            command_words=output.command_words(),
        )
    if json:
        sizes = {one.id: {"bytes": one.size, "seconds": one.seconds} for one in exported.houses}
        output.print_json({"folder": str(out), "files": exported.files, "bytes": exported.size, "houses": sizes})
    else:
        _print(exported)


@app.command("hf")
def hub(
    bundles: Annotated[list[Path], typer.Argument(help="Score bundle of the model, or those of its runs.")],
    dataset: Annotated[str, typer.Option(metavar="OWNER/NAME", help="The benchmark on the Hugging Face Hub.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write, such as a clone of the model's repository.")],
    name: Annotated[str, typer.Option(help="Name of the model.")] = "model",
    task: Annotated[str, typer.Option(help="First part of the benchmark's task ids, TASK.METRIC.")] = "",
    url: Annotated[str, typer.Option(help="Page with the results.")] = "",
    metrics: options.Metrics = None,
    json: options.Json = False,
) -> None:
    """Export scores for a model on the Hugging Face Hub: evaluation results as YAML, and a section for its card.

    Example: itinera export hf mine.jsonl --dataset me/r2r --task val_unseen --name mine --out mine-hub
    """
    from itinera import api

    written = api.export_hub(
        bundles, out, dataset=dataset, name=name, task=task, url=url, metrics=options.metrics_list(metrics)
    )
    _print_files(written, json=json)


@app.command("logs")
def logs(
    bundles: Annotated[list[Path] | None, typer.Argument(help="Score bundles, one per step of the training.")] = None,
    *,
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE", help="A bundle of a system, or a pattern of its bundles; NAME is its folder of logs."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Export scores over training as logs of TensorBoard and W&B. The last number in a file's name is its step.

    Example: itinera export logs step*.jsonl --out logs
    """
    from itinera import api

    _print_files(api.export_logs(options.named_files(bundles, name), out), json=json)


def _print_files(written: list[Path], *, json: bool) -> None:
    if json:
        output.print_json({"files": [str(path) for path in written]})
        return
    for path in written:
        output.print_line(f"{path}: {path.stat().st_size:,} bytes.")


def _print(exported: SeasonExport) -> None:
    from itinera.records.tables import TextTable

    rows = tuple((one.id, str(len(one.files)), f"{one.size / 1e6:.2f}") for one in exported.houses)
    houses = output.count(len(exported.houses), "house")
    title = f"{exported.folder}: {houses} as {exported.format}, {exported.size / 1e6:.1f} MB."
    output.print_table(TextTable(("house", "files", "MB"), rows, title), "terminal")
