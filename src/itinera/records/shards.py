"""Shards: equal parts of a long command for machines that share nothing, and what a part states about the whole.

Shard 3 of 16 is a block of consecutive records of the full list, so a part is a piece of the result. `formats/parts.py`
reads and checks parts, `itinera gather` joins them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from itinera.errors import BadArgument
from itinera.records.provenance import Provenance

MAX_SHARDS = 1_000_000
_OPTION = "--shard"


@dataclass(frozen=True)
class Shard:
    """One of several equal parts of a list, numbered from 1; printed as 3/16."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def block(self, total: int) -> range:
        """The indices of this shard in a list; blocks differ by one in size, and are empty if there are more shards.

        >>> [list(Shard(number, 3).block(7)) for number in (1, 2, 3)]
        [[0, 1], [2, 3], [4, 5, 6]]
        """
        return range((self.number - 1) * total // self.count, self.number * total // self.count)


def parse_shard(shard: str | Shard | None) -> Shard | None:
    """The shard of an option such as "3/16"; None if none is given."""
    if shard is None or isinstance(shard, Shard):
        return shard
    found = re.fullmatch(r"\s*(\d{1,7})\s*/\s*(\d{1,7})\s*", shard) if isinstance(shard, str) else None
    number, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= count <= MAX_SHARDS:
        raise BadArgument(
            f"shard (--shard) must be a number and a count such as 3/16, from 1/16 to 16/16 (got {str(shard)[:40]!r})."
        )
    return Shard(number, count)


def part_path(out: Path, shard: Shard | None) -> Path:
    """The file of a part, beside where the whole would be; `out` itself without a shard.

    >>> part_path(Path("runs/preds.jsonl.gz"), Shard(3, 16)).name, part_path(Path("hearth"), Shard(1, 2)).name
    ('preds.3-of-16.jsonl.gz', 'hearth.1-of-2')
    """
    if shard is None:
        return out
    packed = ".gz" if out.name.endswith(".gz") else ""
    stem, dot, suffix = out.name.removesuffix(packed).rpartition(".")
    stem, suffix = (stem, f".{suffix}") if dot else (suffix, "")
    return out.with_name(f"{stem}.{shard.number}-of-{shard.count}{suffix}{packed}")


@dataclass(frozen=True)
class PartPlan:
    """What a part states: which shard it is, and everything that decides the whole, by name."""

    command: str  # the verb: "run", "study run", "build r4r", …
    number: int
    count: int
    total: int  # records of the full list
    list_digest: str  # blake2b of the ids of all records of the full list, in order; see `encode_ids`
    plan: str  # the fingerprint that the whole will have
    settings: Mapping[str, str]  # version, seed, digests of inputs, protocol, options
    digest: str = ""  # of the bytes of the records

    @property
    def shard(self) -> Shard:
        return Shard(self.number, self.count)

    @property
    def block(self) -> range:
        """The indices of the part's records in the full list."""
        return self.shard.block(self.total)


def plan_part(
    command: str,
    shard: Shard | None,
    ids: Iterable[Sequence[object]],
    plan: str,
    settings: Mapping[str, object],
    *,
    total: int,
) -> PartPlan | None:
    """What a part states before its records are known; None without a shard.

    `ids` are those of the full list, which has one for each of its `total` records unless some are empty.
    """
    if shard is None:
        return None
    plain = {name: str(value) for name, value in settings.items()}
    state = hashlib.blake2b(digest_size=16)
    for one in ids:
        state.update(encode_ids(one))
    return PartPlan(command, shard.number, shard.count, total, state.hexdigest(), plan, plain)


def encode_ids(ids: Sequence[object]) -> bytes:
    """The ids of a record as the digest of the full list takes them: it changes if one is lost, doubled or moved."""
    return json.dumps(list(ids)).encode() + b"\n"


def digest_bytes(records: bytes) -> str:
    """The digest of a part's records, as `PartPlan.digest` has it."""
    return hashlib.blake2b(records, digest_size=16).hexdigest()


def without_shard(provenance: Provenance) -> Provenance:
    """The provenance as the same command without --shard would have it."""
    return replace(provenance, command=replace_shard(provenance.command, None))


def replace_shard(command: Sequence[str], shard: Shard | None) -> tuple[str, ...]:
    """The words of a command for another shard, or for all the work."""
    words: list[str] = []
    follows = False
    for word in command:
        if follows or word.startswith(f"{_OPTION}="):
            follows = False
            continue
        follows = word == _OPTION
        if not follows:
            words.append(word)
    return (*words, *((_OPTION, str(shard)) if shard is not None else ()))
