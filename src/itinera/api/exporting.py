"""Export of Hearth's houses and tasks for other simulators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from itinera.errors import BadArgument, validate_choice

if TYPE_CHECKING:
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
