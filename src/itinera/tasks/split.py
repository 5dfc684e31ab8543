"""Splits: the episodes of one file, and the tours that visit them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadFile, Fault, GoalsWithheld, MissingPackage
from itinera.tasks.episode import Episode, Tour


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """Episodes in file order, with the tours that visit them (none: every episode is a tour of one).

    `len`, iteration and indexing are about episodes: `split[0]`, `split["4332_1"]`, and slices, which are splits.
    """

    name: str
    episodes: tuple[Episode, ...]
    tours: tuple[Tour, ...] = ()
    protocol: str = "r2r"  # the protocol of the file's format, used unless another is chosen

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
        episodes = self.episodes[key]
        ids = {episode.id for episode in episodes}
        return replace(self, episodes=episodes, tours=tuple(t for t in self.tours if ids.issuperset(t.episode_ids)))

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
        return f"Split({self.name!r}: {len(self)} episodes in {len(self.world_ids)} worlds{tours})"

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
