"""A season of Hearth: its houses, the role of each, and the number of paths it contributes. R2R's proportions.

The role of a house depends on its index alone, so a small season is a prefix of a large one, and no test house is
ever a training house.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from itinera.errors import BadArgument

VERSION = 2  # of the generator; a new version makes other houses from the same seed
MAX_ROBOT_RADIUS = 0.20  # metres; the largest robot radius for which every room and graph edge has room

_HOUSE = re.compile(r"(?:hearth-(\d{1,18})-)?(\d{1,9})")

Role = Literal["train", "val_unseen", "test"]

HOUSES_PER_ROLE: dict[Role, int] = {"train": 61, "val_unseen": 11, "test": 18}
"""The number of houses per role in R2R; the sequence of roles repeats after these 90."""

PATHS_PER_SPLIT = {"train": 4675, "val_seen": 340, "val_unseen": 783, "test": 1391}
"""The number of paths per split in R2R; those of val_seen lie in training houses."""

SPLITS = tuple(PATHS_PER_SPLIT)
HOUSE_CYCLE = sum(HOUSES_PER_ROLE.values())
NO_VAL_SEEN = 12  # one of so many training houses contributes no path to val_seen: five of R2R's 61
SECRET_BYTES = 32  # bytes of a secret
MIN_DISTINCT_BYTES = 16  # of a secret; 32 random bytes have fewer once in 10^13 draws


@dataclass(frozen=True)
class Season:
    """A seed and the name in its house ids. Of a secret season only the name and the commitment are public."""

    seed: int
    name: str
    commitment: str = ""  # SHA-256 of the secret, in hexadecimal; empty for a public seed
    sealing_key: bytes = field(default=b"", repr=False)  # decides the tasks of a sealed split; empty for a public seed

    def house_id(self, index: int) -> str:
        return f"hearth-{self.name}-{index:03d}"


def public_season(seed: int) -> Season:
    """The season of a public seed."""
    if seed < 0:
        raise BadArgument(f"A season's seed must be ≥ 0 (got {seed}). Season 1 is the public one.")
    return Season(seed, str(seed))


def secret_season(secret: bytes) -> Season:
    """The season of 32 secret bytes, identified by their SHA-256 until they are published."""
    if len(secret) != SECRET_BYTES or len(set(secret)) < MIN_DISTINCT_BYTES:
        raise BadArgument(f"A secret must be {SECRET_BYTES} random bytes, so that nobody can guess it.")
    commitment = hashlib.sha256(secret).hexdigest()

    def derive(purpose: bytes, size: int) -> bytes:
        # Other hashes than the published one. The houses are published and their generator is not a cryptographic
        # one: an attacker who finds their seed knows neither the secret nor the key of the sealed tasks.
        return hashlib.blake2b(secret, digest_size=size, person=purpose).digest()

    seed = int.from_bytes(derive(b"hearth season", 16), "little")
    return Season(seed, commitment[:8], commitment, derive(b"hearth answers", 32))


def parse_house(house: str, season: int | None = None) -> tuple[int, int]:
    """The season's seed and the index of a house given as "7" or "hearth-1-007"; season 1 unless given.

    >>> parse_house("hearth-2-007"), parse_house("7")
    ((2, 7), (1, 7))
    """
    found = _HOUSE.fullmatch(house)
    if found is None:
        raise BadArgument(f"{house!r} is not a house. Give an index, such as 7, or an id, such as hearth-1-007.")
    own = None if found[1] is None else int(found[1])
    if own is not None and season is not None and own != season:
        raise BadArgument(f"{house} is a house of season {own}, not of season {season} (--season).")
    if season is not None and season < 0:
        raise BadArgument(f"A season's seed must be ≥ 0 (got {season}).")
    return next(seed for seed in (own, season, 1) if seed is not None), int(found[2])


def check_radius(radius: float) -> None:
    """Raise BadArgument for robots too wide for the houses."""
    if not 0 < radius <= MAX_ROBOT_RADIUS:
        fit = f"Rooms are furnished for radii up to {MAX_ROBOT_RADIUS:.2f} m, and doors are 0.8 m wide"
        raise BadArgument(f"A robot of radius {radius:g} m does not fit through these houses. {fit}.")


def house_role(index: int) -> Role:
    """The split group a house belongs to."""
    return _roles()[index % HOUSE_CYCLE]


def paths_per_split(index: int) -> dict[str, int]:
    """The number of paths a house contributes to each of its splits."""
    role, rank = house_role(index), _ranks()[index % HOUSE_CYCLE]
    told: dict[str, int] = {role: _share(PATHS_PER_SPLIT[role], HOUSES_PER_ROLE[role], rank)}
    if role == "train" and rank % NO_VAL_SEEN != NO_VAL_SEEN - 1:
        shown = HOUSES_PER_ROLE["train"] - HOUSES_PER_ROLE["train"] // NO_VAL_SEEN
        told["val_seen"] = _share(PATHS_PER_SPLIT["val_seen"], shown, rank - rank // NO_VAL_SEEN)
    return told


def house_indices(houses: int, splits: tuple[str, ...] = SPLITS) -> tuple[int, ...]:
    """The indices, among the first `houses`, of houses that contribute paths to any of these splits."""
    fewest = len(HOUSES_PER_ROLE)
    if houses < fewest:
        purpose = "one each for training, validation and test"
        raise BadArgument(f"A season needs at least {fewest} houses, {purpose} (got {houses}).")
    return tuple(index for index in range(houses) if paths_per_split(index).keys() & set(splits))


@cache
def _roles() -> tuple[Role, ...]:
    """One of each role first; then always the role that lags most behind its share."""
    roles: list[Role] = list(HOUSES_PER_ROLE)
    count = Counter(roles)
    while len(roles) < HOUSE_CYCLE:
        behind = {
            role: HOUSES_PER_ROLE[role] * (len(roles) + 1) - HOUSE_CYCLE * count[role] for role in HOUSES_PER_ROLE
        }
        role = max(behind, key=lambda role: behind[role])  # the first one on a tie
        roles.append(role)
        count[role] += 1
    return tuple(roles)


@cache
def _ranks() -> tuple[int, ...]:
    """The rank of each house among those of its role."""
    seen: Counter[str] = Counter()
    ranks = []
    for role in _roles():
        ranks.append(seen[role])
        seen[role] += 1
    return tuple(ranks)


def _share(total: int, parts: int, k: int) -> int:
    """The k-th of `parts` near-equal integer parts of a total."""
    return (k + 1) * total // parts - k * total // parts
