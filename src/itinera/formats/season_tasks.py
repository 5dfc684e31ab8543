"""The houses of a built Hearth season and the tasks of one of them, also for the host of a secret season."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from itinera.errors import BadArgument
from itinera.formats import r2r, reverie, rxr
from itinera.formats.hearth_season import SeasonDescription, read_season, read_secret, split_files
from itinera.hearth.season import secret_season
from itinera.tasks import Alignment, Episode, Split

SECRET_FILE = "secret.txt"


def answers_folder(folder: Path) -> Path:
    """The folder in which the host of a sealed season has its answers and its secret."""
    return folder.resolve().with_name(f"{folder.resolve().name}-answers")


def read_season_houses(folder: Path, *, secret: Path | None = None) -> dict[str, tuple[int, int]]:
    """The seed and index of every house of a season, by id; those of a secret season need its secret.

    `secret` is the secret file; by default that of the folder of answers beside the season.
    """
    season = read_season(folder)
    seed = _open_seed(folder, season, secret) if season.seed is None else season.seed
    if secret is not None and season.seed is not None:
        raise BadArgument(f"{folder} is a season of a public seed: omit secret (--secret).")
    return {name: (seed, index) for name, index in sorted(season.houses.items())}


def _open_seed(folder: Path, season: SeasonDescription, secret: Path | None) -> int:
    """The seed of a secret season."""
    file = answers_folder(folder) / SECRET_FILE if secret is None else secret
    if secret is None and not file.exists():
        raise BadArgument(
            f"{folder} is a secret season: only who has its secret can build its houses. Give the secret file "
            f"(--secret), or put the folder of answers beside it ({file.parent})."
        )
    opened = secret_season(read_secret(file))
    if opened.commitment != season.commitment:
        raise BadArgument(f"{file} is not the secret of {folder}: its SHA-256 is {opened.commitment}.")
    return opened.seed


def read_house_tasks(folder: Path, house_id: str, splits: Iterable[str]) -> dict[str, tuple[Episode, ...]]:
    """The episodes of a house on its navigation graph, by data set and split, such as "R2R val_unseen".

    Those of RxR are listed unless R2R has the same instruction, which then gets their aligned words. The answers of a
    sealed split are read from the folder beside the season, where it exists.
    """
    tasks = {}
    for split in splits:
        for name, episodes in _read_split(folder, house_id, split):
            if episodes:
                tasks[f"{name} {split}"] = tuple(episodes)
    return tasks


def _read_split(folder: Path, house_id: str, split: str) -> Iterator[tuple[str, Sequence[Episode]]]:
    files, answers = split_files(split), answers_folder(folder)
    root = answers if os.path.exists(answers / files["r2r"]) else folder
    if not os.path.exists(root / files["r2r"]):
        return
    written = _of_house(r2r.read_split(root / files["r2r"]), house_id)
    spoken = _of_house(_read_spoken(root / files["rxr"], root / files["traces"]), house_id)
    aligned = {(one.path_id, one.instruction.text): one.alignment for one in spoken}
    yield "R2R", [replace(one, alignment=_alignment(one, aligned)) for one in written]
    same = {(one.path_id, one.instruction.text) for one in written}
    yield "RxR", [one for one in spoken if (one.path_id, one.instruction.text) not in same]
    yield "REVERIE", _of_house(reverie.read_split(root / files["reverie"]), house_id)


def _of_house(split: Split, house_id: str) -> list[Episode]:
    return [episode for episode in split.episodes if episode.world_id == house_id]


def _read_spoken(file: Path, traces: Path) -> Split:
    split = rxr.read_split(file)
    return rxr.with_alignment(split, traces) if os.path.exists(traces) else split


def _alignment(episode: Episode, aligned: dict[tuple[str, str], Alignment | None]) -> Alignment | None:
    return aligned.get((episode.path_id, episode.instruction.text)) or episode.alignment
