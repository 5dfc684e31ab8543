"""Export of scores for the Hugging Face Hub, TensorBoard and W&B, and of Hearth's houses for other simulators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from itinera.errors import BadArgument, validate_choice

if TYPE_CHECKING:
    from datetime import date

    from itinera.records import ScoreTable
    from itinera.runs.export_season import SeasonExport

File: TypeAlias = str | PathLike[str]


def export_hearth(
    season: File,
    out: File,
    *,
    to: Literal["gltf", "habitat", "usd", "mjcf", "ros", "matterport"],
    houses: Sequence[str | int] = (),
    images: Sequence[str] = ("skybox", "equirectangular", "views"),
    appearance: str = "day",
    secret: File | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
    command_words: Sequence[str] = (),
) -> SeasonExport:
    """Write the houses and tasks of a season in the format of another simulator, in its frame and layout.

    The same season and parameters give the same bytes with any number of workers.

    >>> import itinera
    >>> itinera.export_hearth("hearth", "hearth-usd", to="usd", houses=[7]).size  # doctest: +SKIP

    season: the folder of a built season.
    out: the folder to write.
    to: the format; docs/exports.md describes each.
    houses: ids or indices of the houses; by default all of them.
    images: of "matterport", the kinds of panorama images: "skybox", "equirectangular" and "views" (36 per viewpoint).
    appearance: of these images: "flat", "day", "evening" or "lamps"; "day:7" randomizes it by a seed.
    secret: the secret file of a secret season; by default that of the folder of answers beside it.
    workers: number of worker processes (0: in this process); by default one per core.
    overwrite: replace an earlier export.
    progress: called with the number of houses just finished.
    """
    from itinera.api.viewing import select_names
    from itinera.formats.hearth_season import read_season
    from itinera.formats.io import check_outputs
    from itinera.formats.scene_export.panoramas import KINDS, require_pillow
    from itinera.formats.season_tasks import read_season_houses
    from itinera.records.provenance import make_provenance
    from itinera.rendering.appearance import parse_appearance
    from itinera.runs.engines.processes import count_workers
    from itinera.runs.export_season import FORMATS, ExportConfig, export_season

    validate_choice("to", to, tuple(FORMATS))
    kinds = (images,) if isinstance(images, str) else tuple(images)
    for kind in kinds:
        validate_choice("images", kind, KINDS)
    parse_appearance(appearance)
    if to == "matterport" and kinds:
        require_pillow()
    if workers is not None and workers < 0:
        raise BadArgument(f"workers must be ≥ 0 (got {workers}).")
    folder = Path(season)
    check_outputs([out], [folder])
    described = read_season(folder)
    seeds = read_season_houses(folder, secret=None if secret is None else Path(secret))
    wanted = (houses,) if isinstance(houses, int) else houses
    config = ExportConfig(
        folder,
        Path(out),
        to,
        {name: seeds[name] for name in select_names(str(folder), list(seeds), wanted, option="--house")},
        tuple(described.splits),
        described.robot_radius,
        tuple(kind for kind in KINDS if kind in kinds),
        appearance,
    )
    return export_season(
        config,
        workers=count_workers(workers),
        provenance=make_provenance({"season": folder / "season.json"}, command_words),
        overwrite=overwrite,
        progress=progress,
    )


def export_hub(
    scores: ScoreTable | File | Sequence[ScoreTable | File],
    out: File,
    *,
    dataset: str,
    name: str = "model",
    task: str = "",
    url: str = "",
    metrics: Sequence[str] | None = None,
    day: date | None = None,
) -> list[Path]:
    """Write scores for a model on the Hugging Face Hub: evaluation results as YAML and a section for its card.

    >>> import itinera
    >>> itinera.export_hub("mine.jsonl", "hub", dataset="me/r2r", name="mine")  # doctest: +SKIP

    scores: a score table or bundle, or a list of the runs of the model.
    out: a folder; `.eval_results/itinera.yaml` and `model-card.md` are written into it.
    dataset: OWNER/NAME of the benchmark on the Hub. task: the first part of its task ids, TASK.METRIC.
    url: of a page with the results. metrics: those to export; by default all that have a direction.
    day: of the evaluation; by default today.
    """
    from datetime import UTC, datetime

    from itinera.api.comparing import read_system
    from itinera.formats.hub import encode_results, list_results, render_card
    from itinera.formats.writing import atomic_write

    table = read_system(name, scores)
    table = table if metrics is None else table.choose(metrics)
    results = encode_results(
        list_results(table, task),
        dataset=dataset,
        day=datetime.now(UTC).date() if day is None else day,
        source=(url, name) if url else None,
    )
    contents = {".eval_results/itinera.yaml": results, "model-card.md": render_card(name, table).encode()}
    for file, content in contents.items():
        with atomic_write(Path(out) / file) as stream:
            stream.write(content)
    return [Path(out) / file for file in contents]


def export_logs(
    scores: Mapping[str, Sequence[ScoreTable | File]] | Sequence[ScoreTable | File],
    out: File,
    *,
    steps: Sequence[int] | None = None,
) -> list[Path]:
    """Write scores over training as logs that TensorBoard and W&B read, such as those of all checkpoints.

    >>> import itinera
    >>> itinera.export_logs(["step100.jsonl", "step200.jsonl"], "logs")  # doctest: +SKIP

    scores: a score table or bundle per step; a mapping has the steps of several systems, each with a folder of its own.
    out: a folder, for TensorBoard events, `wandb-history.jsonl` and `wandb-summary.json`.
    steps: of the scores; by default the last numbers in the names of the files, else 0, 1, 2 …
    """
    from itinera.api.comparing import read_system
    from itinera.formats.score_logs import check_steps, find_steps, write_logs

    systems = dict(scores) if isinstance(scores, Mapping) else {"": scores}
    written = []
    for name, given in systems.items():
        if name in (".", "..") or "/" in name or "\\" in name:
            raise BadArgument(f"{name!r} is no name of a folder.")
        paths = [Path(one) if isinstance(one, (str, PathLike)) else Path() for one in given]
        found = find_steps(paths) if steps is None else list(steps)
        check_steps(found, len(paths))
        written += write_logs(Path(out) / name, [read_system(name, one) for one in given], found)
    return written
