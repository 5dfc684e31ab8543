"""The success rate of a run in progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from itinera.errors import ItineraError
from itinera.metrics.score import score
from itinera.metrics.suites import default_suite, pointnav
from itinera.records import Predictions, Rollout
from itinera.stats import Interval, interval
from itinera.tasks import Protocol, Split
from itinera.worlds import World


class RunningScore:
    """Counts rollouts as they finish. Many are scored at once, so `success` should be asked for now and then only."""

    def __init__(
        self, split: Split, make_worlds: Callable[[], Mapping[str, World]], protocol: Protocol, *, total: int
    ) -> None:
        self._split, self._make_worlds, self._protocol = split, make_worlds, protocol
        self._worlds: Mapping[str, World] | None = None
        self._unscored: list[Rollout] = []
        self._successes: list[float] = []
        self._scenes: list[str] = []
        self._has_goals = not split.withheld_goals
        self.total = total  # episodes of the run
        self.rollouts = 0
        self.endings: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()  # of failed episodes

    @property
    def episodes(self) -> int:
        """Finished ones."""
        return self.endings.total()

    def add(self, rollout: Rollout) -> None:
        self.rollouts += 1
        self._unscored.append(rollout)
        for trajectory in rollout.trajectories:
            self.endings[trajectory.ending.value] += 1
            if "failed" in trajectory.notes:
                self.reasons[str(trajectory.notes["failed"])] += 1

    def success(self) -> Interval | None:
        """The success rate so far with its 95 % interval, scenes as the sample; None if goals are withheld."""
        try:
            self._score()
        except ItineraError:  # an episode that does not fit its world: `score` reports it
            self._has_goals = False
        if not self._has_goals or not self._successes:
            return None
        return interval(self._successes, clusters=self._scenes, bounds=(0.0, 1.0))

    def _score(self) -> None:
        if not self._has_goals or not self._unscored:
            return
        self._worlds = self._worlds or self._make_worlds()
        suite = pointnav(self._protocol)  # needs no reference paths
        suite = replace(suite, metrics=tuple(metric for metric in suite.metrics if metric.name == "SR"))
        episodes = tuple(self._split.by_id[t.episode_id] for rollout in self._unscored for t in rollout.trajectories)
        predictions = Predictions("", tuple(self._unscored))
        table = score(predictions, Split("", episodes), self._worlds, suite, protocol=self._protocol)
        self._successes += table.values["SR"].tolist()
        self._scenes += table.world_ids
        self._unscored = []

    def __str__(self) -> str:
        rate = self.success()
        if rate is None:
            return ""
        # In REVERIE success is to see the object, which a run does not know: what is counted is named in full.
        near = f" within {self._protocol.success_radius:g} m" if default_suite(self._protocol) == "reverie" else ""
        return f"SR{near} {100 * rate.mean:.1f} % ({100 * rate.low:.1f} – {100 * rate.high:.1f})"
