"""A split: the episodes of one file and the tours through them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadFile, Fault, GoalsWithheld
from itinera.tasks.episode import Episode, Tour


@dataclass(frozen=True, eq=False)
class Split:
    """Episodes in file order, with the tours that visit them (none: every episode stands alone)."""

    name: str
    episodes: tuple[Episode, ...]
    tours: tuple[Tour, ...] = ()
    protocol: str = "r2r"  # the protocol the file's format is judged by unless another is chosen

    @cached_property
    def by_id(self) -> dict[str, Episode]:
        return {episode.id: episode for episode in self.episodes}

    @cached_property
    def world_ids(self) -> tuple[str, ...]:
        """The worlds of its episodes, in order of appearance."""
        return tuple(self.rows_by_world)

    @cached_property
    def rows_by_world(self) -> dict[str, NDArray[np.int64]]:
        """Where the episodes of each world stand."""
        rows: dict[str, list[int]] = {}
        for i, episode in enumerate(self.episodes):
            rows.setdefault(episode.world_id, []).append(i)
        return {world_id: np.array(numbers, dtype=np.int64) for world_id, numbers in rows.items()}

    @cached_property
    def withheld(self) -> int:
        """Episodes that do not tell their goal."""
        return len([episode for episode in self.episodes if not len(episode.goals)])

    def ask_for_goals(self, remedy: str) -> None:
        """Raise GoalsWithheld unless every episode tells its goal."""
        if self.withheld:
            problem = f"goals withheld: {self.withheld} of {len(self.episodes)} episodes do not tell their goal."
            raise GoalsWithheld(self.name, [Fault("", problem, remedy)])

    def with_tours(self, tours: tuple[Tour, ...], source: str = "tours") -> Split:
        """This split toured so; tours must visit known episodes of their own world, each at most once."""
        faults = []
        visited: dict[str, str] = {}
        for tour in tours:
            for episode_id in tour.episode_ids:
                problem = self._problem_of_visiting(tour, episode_id, visited)
                if problem:
                    remedy = "Tours and tasks must be of one split, each episode visited once."
                    faults.append(Fault(f'tour "{tour.id}"', f'episode "{episode_id}" {problem}', remedy))
                visited.setdefault(episode_id, tour.id)
        if faults:
            raise BadFile(source, faults)
        return replace(self, tours=tours)

    def _problem_of_visiting(self, tour: Tour, episode_id: str, visited: dict[str, str]) -> str:
        episode = self.by_id.get(episode_id)
        if episode is None:
            return f"is not in {self.name}."
        if episode.world_id != tour.world_id:
            return f"is in world {episode.world_id}, not {tour.world_id}."
        if episode_id in visited:
            return f'is visited by tour "{visited[episode_id]}" already.'
        return ""
