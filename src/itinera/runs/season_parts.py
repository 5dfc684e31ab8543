"""Parts of a Hearth season: folders with some of its houses, which `join_seasons` assembles.

A house is copied only if its files are those that its record names, with their digests; see `build_season.py`.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats.parts import Ids, Part
from itinera.hearth.language.generate import LANGUAGES
from itinera.hearth.season import SPLITS, VERSION, check_radius, house_indices, public_season
from itinera.records import Provenance
from itinera.records.shards import digest_bytes
from itinera.runs.build_season import (
    HOUSE_FILE,
    SeasonConfig,
    build_season,
    digest_files,
    house_records,
    is_built,
    read_house,
)

_REMEDY = "Make the part again."


class _Settings(msgspec.Struct):
    """The settings of a season as its parts state them; see `SeasonConfig.describe`."""

    hearth: int
    season: str
    houses: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    splits: list[str]
    robot_radius: float
    scenes: bool
    languages: list[str]
    faults: Annotated[float, msgspec.Meta(ge=0, le=1)]
    seed: Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]
    commitment: None = None
    sealed: bool = False


def verify_houses(part: Part, see: Callable[[Ids], object] = lambda ids: None) -> None:
    """Raise BadFile unless every house of a part is there and as it was built; `see` is called with the id of each."""
    config = _read_config(part, part.path)
    lost = [config.season.house_id(index) for index in config.own_indices if not is_built(config, index)]
    faults = [Fault(f'house "{name}"', "is missing, incomplete or damaged.", _REMEDY) for name in lost]
    faults += [
        Fault(f'house "{config.season.house_id(index)}"', "has other files than its record names.", _REMEDY)
        for index in config.own_indices
        if not faults and not _has_exact_files(config.part(index))
    ]
    if not faults and digest_bytes(house_records(config)) != part.plan.digest:
        faults.append(Fault("", "the records of its houses are not those that were written.", _REMEDY))
    if faults:
        raise BadFile(str(part.path), faults)
    for index in config.own_indices:
        see((config.season.house_id(index),))


def _has_exact_files(folder: Path) -> bool:
    record = read_house(folder)
    linked = any(file.is_symlink() for file in folder.rglob("*"))
    return record is not None and not linked and digest_files(folder, HOUSE_FILE) == record.files


def _read_config(part: Part, out: Path) -> SeasonConfig:
    """The configuration of the season that a part belongs to, with its shard, in the folder `out`."""
    assert part.header is not None
    source = str(part.path)
    try:
        found = msgspec.convert(part.header.settings, _Settings)
        indices = house_indices(found.houses, tuple(found.splits))
        check_radius(found.robot_radius)
    except (msgspec.ValidationError, BadArgument) as error:
        raise BadFile(source, [Fault("", str(error), _REMEDY, "settings")]) from None
    known = set(found.splits) <= set(SPLITS) and set(found.languages) <= set(LANGUAGES)
    if not known or found.hearth != VERSION or len(indices) != part.plan.total:
        raise BadFile(source, [Fault("", "are not those of a season of this version.", _REMEDY, "settings")])
    return SeasonConfig(
        public_season(found.seed),
        out,
        found.houses,
        tuple(found.splits),
        found.robot_radius,
        scenes=found.scenes,
        languages=tuple(one for one in LANGUAGES if one in found.languages),
        faults=found.faults,
        shard=part.plan.shard,
    )


def join_seasons(parts: Sequence[Part], out: Path, provenance: Provenance, *, overwrite: bool) -> None:
    """Copy the houses of all parts, which were verified, and assemble the season."""
    whole = replace(_read_config(parts[0], out), shard=None)
    for part in parts:
        config = _read_config(part, part.path)
        for index in config.own_indices:
            if not is_built(whole, index):
                _copy_house(config.part(index), whole.part(index))
    build_season(whole, workers=0, provenance=provenance, overwrite=overwrite)


def _copy_house(source: Path, target: Path) -> None:
    """Copy a house; its folder appears when all of its files are there."""
    unfinished = target.with_name(f"{target.name}.{uuid.uuid4().hex}.part")
    shutil.copytree(source, unfinished)
    shutil.rmtree(target, ignore_errors=True)
    unfinished.replace(target)
