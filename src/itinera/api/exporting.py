"""Export of Hearth's houses and tasks for other simulators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from itinera.errors import BadArgument, validate_choice

if TYPE_CHECKING:
    from itinera.formats.hearth_season import SeasonDescription
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
    appearance: of these images: "flat", "day", "evening" or "lamps"; see `itinera.rendering.appearance`.
    secret: the secret file of a season that was built from one; its houses cannot be built without.
    workers: number of worker processes (0: in this process); by default one per core.
    overwrite: replace an earlier export.
    progress: called with the number of houses just finished.
    """
    from itinera.formats.hearth_season import read_season
    from itinera.formats.io import check_outputs
    from itinera.formats.scene_export.panoramas import KINDS, require_pillow
    from itinera.records.provenance import make_provenance
    from itinera.rendering.appearance import APPEARANCES
    from itinera.runs.export_season import FORMATS, ExportConfig, export_season
    from itinera.runs.workers import count_workers

    validate_choice("to", to, tuple(FORMATS))
    kinds = (images,) if isinstance(images, str) else tuple(images)
    for kind in kinds:
        validate_choice("images", kind, KINDS)
    validate_choice("appearance", appearance, tuple(APPEARANCES))
    if to == "matterport" and kinds:
        require_pillow()
    if workers is not None and workers < 0:
        raise BadArgument(f"workers must be ≥ 0 (got {workers}).")
    folder = Path(season)
    check_outputs([out], [folder])
    described = read_season(folder)
    found = _house_seeds(folder, described, secret)
    chosen = _choose_houses(folder, found, houses)
    config = ExportConfig(
        folder,
        Path(out),
        to,
        {name: found[name] for name in chosen},
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


def _house_seeds(folder: Path, described: SeasonDescription, secret: File | None) -> Mapping[str, tuple[int, int]]:
    """Seed and index of each house of a season, by id."""
    from itinera.formats.hearth_season import read_secret
    from itinera.hearth.season import secret_season

    seed = described.seed
    if secret is not None:
        season = secret_season(read_secret(Path(secret)))
        if season.commitment != described.commitment:
            raise BadArgument(f"{secret} is not the secret of {folder}: its SHA-256 is not that of the season.")
        seed = season.seed
    if seed is None:
        remedy = "Its host can export it with the file of the secret (--secret)."
        raise BadArgument(f"{folder} was built from a secret, so its houses cannot be built again. {remedy}")
    return {name: (seed, index) for name, index in sorted(described.houses.items())}


def _choose_houses(folder: Path, found: Mapping[str, tuple[int, int]], houses: Sequence[str | int]) -> list[str]:
    """The ids of the chosen houses, in their order; all if none is chosen."""
    by_index = {str(index): name for name, (_, index) in found.items()}
    wanted = [str(house) for house in ((houses,) if isinstance(houses, str | int) else houses)]
    names = {house: house if house in found else by_index.get(house.lstrip("0") or "0") for house in wanted}
    missing = [house for house, name in names.items() if name is None]
    if missing:
        some = ", ".join(list(found)[:5]) + (", …" if len(found) > 5 else "")
        raise BadArgument(f"{folder} has no house {', '.join(missing)} (--house). It has {len(found)}: {some}")
    return [name for name in found if not wanted or name in names.values()]
