"""How a run is going: how its episodes ended, and the success rate so far with its interval."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from itinera.cli import output
from itinera.errors import ItineraError

if TYPE_CHECKING:
    from itinera.records import Rollout
    from itinera.stats import Interval
    from itinera.tasks import Protocol, Split
    from itinera.worlds import World

REFRESHED = 2.0  # seconds between two looks at the success rate


class Tally:
    """Walks counted as they come. Scores are made from many at once, so they are asked for now and then only."""

    def __init__(self, split: Split, worlds: Callable[[], Mapping[str, World]], protocol: Protocol) -> None:
        self._split, self._make_worlds, self._protocol = split, worlds, protocol
        self._worlds: Mapping[str, World] | None = None
        self._fresh: list[Rollout] = []
        self._successes: list[float] = []
        self._scenes: list[str] = []
        self.known = not split.withheld  # whether success can be told
        self.tours = 0
        self.endings: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()

    def add(self, walk: Rollout) -> None:
        self.tours += 1
        self._fresh.append(walk)
        for trajectory in walk.trajectories:
            self.endings[trajectory.ending.value] += 1
            if "failed" in trajectory.notes:
                self.reasons[str(trajectory.notes["failed"])] += 1

    def success(self) -> Interval | None:
        """The success rate of all walks so far; None where it cannot be told."""
        from itinera.stats import interval

        try:
            self._judge()
        except ItineraError:  # an episode that does not fit its world is for the score to name
            self.known = False
        if not self.known or not self._successes:
            return None
        return interval(self._successes, clusters=self._scenes, bounds=(0.0, 1.0))

    def _judge(self) -> None:
        if not self.known or not self._fresh:
            return
        from dataclasses import replace

        from itinera.metrics.score import score
        from itinera.metrics.suites import pointnav
        from itinera.records import Predictions
        from itinera.tasks import Split

        self._worlds = self._worlds or self._make_worlds()
        suite = pointnav(self._protocol)  # which asks for no reference
        suite = replace(suite, metrics=tuple(metric for metric in suite.metrics if metric.name == "SR"))
        asked = tuple(self._split.by_id[t.episode_id] for walk in self._fresh for t in walk.trajectories)
        table = score(
            Predictions("", tuple(self._fresh)), Split("", asked), self._worlds, suite, protocol=self._protocol
        )
        self._successes += table.values["SR"].tolist()
        self._scenes += table.world_ids
        self._fresh = []

    def __str__(self) -> str:
        rate = self.success()
        return "" if rate is None else f"SR {100 * rate.mean:.1f} % ({100 * rate.low:.1f} – {100 * rate.high:.1f})"


@contextmanager
def watched(tally: Tally, total: int) -> Iterator[Callable[[Rollout], None]]:
    """A bar with the success rate so far, told of each walk; silent where nobody watches."""
    if not output.watched():
        yield tally.add
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("walking", total=total)
        looked = time.monotonic()

        def add(walk: Rollout) -> None:
            nonlocal looked
            tally.add(walk)
            shown: dict[str, Any] = {"advance": len(walk.trajectories)}
            if time.monotonic() - looked > REFRESHED:
                shown["description"] = f"walking  {tally}"
                looked = time.monotonic()
            bar.update(task, **shown)

        yield add
