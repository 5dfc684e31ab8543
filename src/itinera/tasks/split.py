"""Splits: the episodes of one file, and the tours that visit them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault, GoalsWithheld, MissingPackage
from itinera.tasks.episode import Episode, Tour


@dataclass(frozen=True)
class SplitPart:
    """Which part of a split was scored."""

    total: int  # episodes of the whole split
    digest: str  # of the ids of the part, in any order
    selection: str = ""  # as it was given: "scan=17DRP5sb8fy", "/_0$/"

    @property
    def name(self) -> str:
        """The name and digest of a subset that was drawn; empty for any other part."""
        return self.selection if self.selection.startswith("subset of ") else ""


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """Episodes in file order, with the tours that visit them (none: every episode is a tour of one).

    `len`, iteration and indexing are about episodes: `split[0]`, `split["4332_1"]`, and slices, which are splits.
    """

    name: str
    episodes: tuple[Episode, ...]
    tours: tuple[Tour, ...] = ()
    protocol: str = "r2r"  # the protocol of the file's format, used unless another is chosen
    left_out: frozenset[str] = frozenset()  # ids of the episodes of the file that this part of it does not have
    selection: str = ""  # how the part was chosen

    def __len__(self) -> int:
        return len(self.episodes)

    def __iter__(self) -> Iterator[Episode]:
        return iter(self.episodes)

    @overload
    def __getitem__(self, key: int | str) -> Episode: ...
    @overload
    def __getitem__(self, key: slice) -> Split: ...
    def __getitem__(self, key: int | str | slice) -> Episode | Split:
        """The episode at an index or of an id, or the split of a slice, with the tours that lie within it."""
        if isinstance(key, str):
            if key not in self.by_id:
                raise KeyError(
                    f"no episode {key!r} in {self.name}, whose ids are such as {next(iter(self.by_id), '')!r}."
                )
            return self.by_id[key]
        if not isinstance(key, slice):
            return self.episodes[key]
        parts = (key.start, key.stop) if key.step is None else (key.start, key.stop, key.step)
        return self._take(self.episodes[key], f"[{':'.join('' if k is None else str(k) for k in parts)}]")

    def select(self, ids: Collection[str], *, selection: str = "") -> Split:
        """The part with these episodes, in file order, and the tours that lie within it.

        Trajectories of the other episodes are left out when the part is scored; `selection` says how it was chosen.
        """
        unknown = [name for name in ids if name not in self.by_id]
        if unknown:
            raise BadArgument(f"Episode {unknown[0]!r} is not in {self.name} ({len(self):,} episodes).")
        wanted = set(ids)
        return self._take(tuple(e for e in self.episodes if e.id in wanted), selection)

    def _take(self, episodes: tuple[Episode, ...], selection: str) -> Split:
        ids = {episode.id for episode in episodes}
        tours = tuple(t for t in self.tours if ids.issuperset(t.episode_ids))
        absent = self.by_id.keys() - ids
        selection = " ".join(filter(None, (self.selection, selection if absent else "")))
        return replace(self, episodes=episodes, tours=tours, left_out=self.left_out | absent, selection=selection)

    @property
    def part(self) -> SplitPart | None:
        """Which part of its file this is; None if it is the whole."""
        if not self.left_out:
            return None
        return SplitPart(len(self) + len(self.left_out), digest_ids(self.by_id), self.selection)

    def __contains__(self, key: object) -> bool:
        """Whether this is the id of an episode, or an episode of the split."""
        return self.by_id.get(key.id) is key if isinstance(key, Episode) else key in self.by_id

    def to_dicts(self) -> list[dict[str, Any]]:
        """A plain dict per episode: ids, instruction, start, goals and reference path."""
        return [_plain(episode) for episode in self.episodes]

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row per episode, indexed by its id."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise MissingPackage("to_pandas()", "pandas") from None
        return DataFrame(self.to_dicts()).set_index("episode_id")

    def __repr__(self) -> str:
        tours = f", {len(self.tours)} tours" if self.tours else ""
        of = f" of {len(self) + len(self.left_out)}" if self.left_out else ""
        return f"Split({self.name!r}: {len(self)}{of} episodes in {len(self.world_ids)} worlds{tours})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(e.id)}</td><td>{escape(e.world_id)}</td><td>{escape(e.instruction.text)}</td></tr>"
            for e in self.episodes[:_SHOWN]
        )
        more = f", first {_SHOWN} shown" if len(self) > _SHOWN else ""
        head = "<tr><th>episode</th><th>world</th><th>instruction</th></tr>"
        return f"<table><caption>{escape(repr(self))}{more}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"

    @cached_property
    def by_id(self) -> dict[str, Episode]:
        """The episodes by their id."""
        return {episode.id: episode for episode in self.episodes}

    @cached_property
    def world_ids(self) -> tuple[str, ...]:
        """The worlds of its episodes, in order of appearance."""
        return tuple(self.rows_by_world)

    @cached_property
    def rows_by_world(self) -> dict[str, NDArray[np.int64]]:
        """The indices of the episodes of each world."""
        rows: dict[str, list[int]] = {}
        for i, episode in enumerate(self.episodes):
            rows.setdefault(episode.world_id, []).append(i)
        return {world_id: np.array(numbers, dtype=np.int64) for world_id, numbers in rows.items()}

    @cached_property
    def withheld_goals(self) -> int:
        """The number of episodes without a goal, as in a hidden test split."""
        return len([episode for episode in self.episodes if not len(episode.goals)])

    def require_goals(self, remedy: str) -> None:
        """Raise GoalsWithheld unless every episode has a goal."""
        if self.withheld_goals:
            problem = f"goals withheld: {self.withheld_goals} of {len(self.episodes)} episodes have no goal."
            raise GoalsWithheld(self.name, [Fault("", problem, remedy)])

    def with_tours(self, tours: tuple[Tour, ...], source: str = "tours") -> Split:
        """This split with these tours; they must visit episodes of the split in their own world, each at most once."""
        faults = []
        visited: dict[str, str] = {}
        for tour in tours:
            for episode_id in tour.episode_ids:
                problem = self._visit_problem(tour, episode_id, visited)
                if problem:
                    remedy = "Tours and tasks must be of one split, each episode visited once."
                    faults.append(Fault(f'tour "{tour.id}"', f'episode "{episode_id}" {problem}', remedy))
                visited.setdefault(episode_id, tour.id)
        if faults:
            raise BadFile(source, faults)
        return replace(self, tours=tours)

    def _visit_problem(self, tour: Tour, episode_id: str, visited: dict[str, str]) -> str:
        episode = self.by_id.get(episode_id)
        if episode is None:
            return f"is not in {self.name}."
        if episode.world_id != tour.world_id:
            return f"is in world {episode.world_id}, not {tour.world_id}."
        if episode_id in visited:
            return f'is visited by tour "{visited[episode_id]}" already.'
        return ""


def digest_ids(ids: Collection[str]) -> str:
    """A digest of a set of ids: 16 hexadecimal digits, whatever their order."""
    import hashlib

    return hashlib.blake2b(json.dumps(sorted(ids)).encode(), digest_size=8).hexdigest()


_SHOWN = 10  # rows of a long table in a notebook


def _plain(episode: Episode) -> dict[str, Any]:
    def places(values: Any) -> list[Any]:
        return values.tolist() if isinstance(values, np.ndarray) else list(values)

    start = episode.start.place
    return {
        "episode_id": episode.id,
        "world_id": episode.world_id,
        "path_id": episode.path_id,
        "instruction": episode.instruction.text,
        "language": episode.instruction.language,
        "start": start if isinstance(start, str) else start.tolist(),
        "heading": episode.start.heading,
        "goals": places(episode.goals),
        "reference": places(episode.reference),
    }
