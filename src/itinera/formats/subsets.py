"""Files of named subsets: the ids of the episodes drawn, the strata, the digest of the split and the stated error."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import decode
from itinera.formats.io import FaultList, read_bytes
from itinera.formats.writing import atomic_write
from itinera.records import Provenance
from itinera.tasks.subset import SampledPath, Stratum, Subset

FORMAT = 1
_Count = Annotated[int, msgspec.Meta(ge=1, le=2**31)]
_Width = Annotated[float, msgspec.Meta(ge=0)]


class _Path(msgspec.Struct):
    episodes: _Count
    ids: Annotated[list[str], msgspec.Meta(min_length=1)]


class _Stratum(msgspec.Struct):
    name: str
    paths: _Count
    episodes: _Count
    sample: Annotated[list[_Path], msgspec.Meta(min_length=1)]


class _Error(msgspec.Struct, omit_defaults=True):
    """Half-widths of the 95 % interval of the full split's mean."""

    at_most: _Width  # of any metric between 0 and 1, whatever the agent
    expected: dict[str, _Width] = {}  # by metric, of an agent like the reference
    reference: str = ""


class _File(msgspec.Struct, kw_only=True):
    itinera: Literal["subset"]
    format: int = FORMAT
    split: str
    episodes: _Count
    split_digest: str
    digest: str
    by: list[str]
    seed: int
    stated_error: _Error
    ids: Annotated[list[str], msgspec.Meta(min_length=1)]
    scenes: dict[str, _Count]
    strata: Annotated[list[_Stratum], msgspec.Meta(min_length=1)]
    provenance: Provenance | None = None


def read_subset(path: str | Path) -> Subset:
    """The subset of a file; its counts and its digest must agree with its ids."""
    path = Path(path)
    found = decode(read_bytes(path), _File, str(path))
    if found.format > FORMAT:
        problem = f"is of format {found.format}, but this version reads up to {FORMAT}."
        raise BadFile(str(path), [Fault("", problem, "Install a newer itinera.", "format")])
    strata = tuple(
        Stratum(one.name, one.paths, one.episodes, tuple(SampledPath(p.episodes, tuple(p.ids)) for p in one.sample))
        for one in found.strata
    )
    error = found.stated_error
    subset = Subset(
        found.split, found.episodes, found.split_digest, tuple(found.by), found.seed, strata, found.scenes,
        error.at_most, error.expected, error.reference,
    )  # fmt: skip
    FaultList(str(path), _faults(found, subset)).raise_any()
    return subset


def _faults(found: _File, subset: Subset) -> Iterator[Fault]:
    remedy = "The file was changed: draw the subset again, with its seed, by itinera sample."
    if subset.ids != tuple(found.ids) or len(set(subset.ids)) < len(subset):
        yield Fault("", "does not list the ids of its strata, each once.", remedy, "ids")
    elif subset.digest != found.digest:
        yield Fault("", f"has the digest {found.digest}, but its ids have {subset.digest}.", remedy, "digest")
    totals = {sum(found.scenes.values()), sum(one.episodes for one in subset.strata)}
    if totals != {subset.total}:
        yield Fault("", f"has scenes or strata that do not add up to {subset.total} episodes.", remedy, "episodes")
    widths = (subset.worst_half_width, *subset.half_widths.values())
    if not all(map(math.isfinite, widths)):
        yield Fault("", "is not finite.", remedy, "stated_error")
    for number, stratum in enumerate(subset.strata):
        drawn, reached = len(stratum.sample), sum(one.episodes for one in stratum.sample)
        where, complete = f"stratum {number} ({stratum.name})", drawn == stratum.paths
        if drawn > stratum.paths or reached > stratum.episodes or (complete and reached < stratum.episodes):
            yield Fault(where, "has other paths or episodes than its sample.", remedy, "sample")
        elif drawn < 2 and not complete:
            yield Fault(where, "has one sampled path of several, which shows no variance.", remedy, "sample")
        elif any(len(one.ids) > one.episodes for one in stratum.sample):
            yield Fault(where, "has a path with more ids than episodes.", remedy, "sample")


def write_subset(path: str | Path, subset: Subset, provenance: Provenance | None = None) -> None:
    """Write a subset."""
    content = _File(
        itinera="subset",
        split=subset.split,
        episodes=subset.total,
        split_digest=subset.split_digest,
        digest=subset.digest,
        by=list(subset.by),
        seed=subset.seed,
        stated_error=_Error(subset.worst_half_width, dict(subset.half_widths), subset.reference),
        ids=list(subset.ids),
        scenes=dict(subset.scenes),
        strata=[
            _Stratum(
                one.name, one.paths, one.episodes, [_Path(drawn.episodes, list(drawn.ids)) for drawn in one.sample]
            )
            for one in subset.strata
        ],
        provenance=provenance,
    )
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n")
