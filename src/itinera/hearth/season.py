"""A season of Hearth: which houses it has, what each is for and how many paths it gives. R2R's shape at any size.

What a house is for depends on its number alone, so a small season is the beginning of a large one, and no house of a
test ever was one to train on.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Literal

from itinera.errors import BadArgument

VERSION = 1  # of how houses and tasks are made; a new one makes other houses of the same seed
WIDEST = 0.20  # metres, the radius of the robot that every room and every edge of a graph has room for

Role = Literal["train", "val_unseen", "test"]

HOUSES: dict[Role, int] = {"train": 61, "val_unseen": 11, "test": 18}
"""How many houses R2R has of each role; the numbers repeat after these 90."""

PATHS = {"train": 4675, "val_seen": 340, "val_unseen": 783, "test": 1391}
"""How many paths R2R has in each split; those of val_seen lie in houses that are trained on."""

SPLITS = tuple(PATHS)
IN_ALL = sum(HOUSES.values())
UNSEEN = 12  # every so many houses to train on, one gives no path to val_seen: five of R2R's 61
FEWEST_LETTERS = 16  # of a secret; a shorter one could be found by trying


@dataclass(frozen=True)
class Season:
    """A seed and the name its houses go by. Of a secret season only the name and the commitment are made public."""

    seed: int
    name: str
    commitment: str = ""  # SHA-256 of the secret text, in hexadecimal; empty for a public seed

    def house_id(self, index: int) -> str:
        return f"hearth-{self.name}-{index:03d}"


def public_season(seed: int) -> Season:
    """The season of a seed that everybody knows."""
    if seed < 0:
        raise BadArgument(f"Seasons count from 0, not {seed}. Season 1 is the public one.")
    return Season(seed, str(seed))


def secret_season(secret: bytes) -> Season:
    """The season of a secret text, known by its SHA-256 until the text itself is published.

    White space around the text does not count, so an editor's last line break changes nothing.
    """
    text = secret.strip()
    if len(text) < FEWEST_LETTERS:
        problem = f"A secret of {len(text)} bytes could be guessed."
        raise BadArgument(f"{problem} Write at least {FEWEST_LETTERS}, such as the output of a password generator.")
    commitment = hashlib.sha256(text).hexdigest()
    # Another function of the text than the one that is published, so that nobody gets from one to the other.
    seed = int.from_bytes(hashlib.blake2b(text, digest_size=16, person=b"hearth season").digest(), "little")
    return Season(seed, commitment[:8], commitment)


def check_radius(radius: float) -> None:
    """Refuse robots that do not fit."""
    if not 0 < radius <= WIDEST:
        fit = f"Rooms are furnished for radii up to {WIDEST:.2f} m, and doors are 0.8 m wide"
        raise BadArgument(f"A robot of radius {radius:g} m does not fit through these houses. {fit}.")


def role_of(index: int) -> Role:
    """What a house is for."""
    return _roles()[index % IN_ALL]


def paths_of(index: int) -> dict[str, int]:
    """How many paths a house gives to each of its splits."""
    role, rank = role_of(index), _ranks()[index % IN_ALL]
    told: dict[str, int] = {role: _share(PATHS[role], HOUSES[role], rank)}
    if role == "train" and rank % UNSEEN != UNSEEN - 1:
        shown = HOUSES["train"] - HOUSES["train"] // UNSEEN
        told["val_seen"] = _share(PATHS["val_seen"], shown, rank - rank // UNSEEN)
    return told


def indices_of(houses: int, splits: tuple[str, ...] = SPLITS) -> tuple[int, ...]:
    """The houses, among the first so many, that give paths to any of these splits."""
    fewest = len(HOUSES)
    if houses < fewest:
        purpose = "one each to train on, to validate with and to test with"
        raise BadArgument(f"A season needs at least {fewest} houses, {purpose}, not {houses}.")
    return tuple(index for index in range(houses) if paths_of(index).keys() & set(splits))


@cache
def _roles() -> tuple[Role, ...]:
    """One of each first; then at every turn the role that lags most behind its share."""
    roles: list[Role] = list(HOUSES)
    count = Counter(roles)
    while len(roles) < IN_ALL:
        behind = {role: HOUSES[role] * (len(roles) + 1) - IN_ALL * count[role] for role in HOUSES}
        role = max(behind, key=lambda role: behind[role])  # the first of them where two lag alike
        roles.append(role)
        count[role] += 1
    return tuple(roles)


@cache
def _ranks() -> tuple[int, ...]:
    """The place of each house among those of its role."""
    seen: Counter[str] = Counter()
    ranks = []
    for role in _roles():
        ranks.append(seen[role])
        seen[role] += 1
    return tuple(ranks)


def _share(total: int, parts: int, k: int) -> int:
    """The k-th of so many parts of a total, as equal as whole numbers can be."""
    return (k + 1) * total // parts - k * total // parts
