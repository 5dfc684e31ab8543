"""Stopping a run once a metric is known well enough: `StoppingRule`, fed with rollouts in a random order."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from itinera.errors import BadArgument, BadFile, Fault
from itinera.metrics.score import score
from itinera.metrics.suites import SUITES, Suite, default_suite
from itinera.records import Predictions, Rollout
from itinera.stats import Interval
from itinera.stats.sequential import ConfidenceSequence
from itinera.tasks import Protocol, Split
from itinera.worlds import World

_RULE = re.compile(r"\s*([A-Za-z_∩-]+)\s*(?:±|\+/?-)\s*(\d+(?:\.\d*)?|\.\d+)\s*%?\s*")


def parse_rule(text: str) -> tuple[str, float]:
    """The metric and the half-width, a fraction, of a rule such as "SR ± 2", in points as tables print them.

    >>> parse_rule("SR ± 2"), parse_rule("SPL +- 1.5")
    (('SR', 0.02), ('SPL', 0.015))
    """
    found = _RULE.fullmatch(text)
    if found is None or not 0 < float(found[2]) < 50:
        raise BadArgument(
            f'until (--until) must be a metric and the half-width of its interval in points, such as "SR ± 2" or '
            f'"SPL +- 1.5", not {text!r}.'
        )
    return found[1], float(found[2]) / 100


class StoppingRule:
    """Whether the mean of a metric over the whole split is known to ± a half-width, rollout after rollout.

    The rollouts must come in an order drawn at random before the run, one episode each. The interval is a confidence
    sequence (`stats/sequential.py`): it covers the mean of the split with 95 % although one looks after every episode.
    """

    def __init__(
        self, rule: str, split: Split, make_worlds: Callable[[], Mapping[str, World]], protocol: Protocol
    ) -> None:
        self.metric, half_width = parse_rule(rule)
        self.rule = f"{self.metric} ± {100 * half_width:g}"
        split.require_goals("A run is stopped by its scores (--until): run all episodes of a split without goals.")
        self._split, self._make_worlds, self._protocol = split, make_worlds, protocol
        self._suite = _single_metric(self.metric, protocol)
        self._worlds: Mapping[str, World] | None = None
        self._sequence = ConfidenceSequence(len(split), half_width=half_width)

    def add(self, rollout: Rollout) -> bool:
        """Take the next rollout; whether the run is done."""
        self._worlds = self._worlds or self._make_worlds()
        episodes = tuple(self._split.by_id[one.episode_id] for one in rollout.trajectories)
        found = score(
            Predictions("", (rollout,)), Split("", episodes), self._worlds, self._suite, protocol=self._protocol
        )
        for name, value in zip(found.episode_ids, found[self.metric].tolist(), strict=True):
            if not math.isfinite(value):
                remedy = "Stop by another metric (--until)."
                raise BadFile("--until", [Fault(f'episode "{name}"', f"{self.metric} is undefined.", remedy)])
            self._sequence.add(float(np.clip(value, 0.0, 1.0)))
        return self._sequence.is_done

    @property
    def episodes(self) -> int:
        """The number of episodes taken."""
        return self._sequence.count

    def interval(self) -> Interval:
        """The mean so far, with the interval for the mean over the whole split."""
        return self._sequence.interval()

    def to_dict(self) -> dict[str, Any]:
        """The rule and what it found, for the header of the predictions."""
        found = self.interval()
        ends = {"mean": found.mean, "low": found.low, "high": found.high, "level": found.level}
        return {"rule": self.rule, "episodes": self.episodes, "of": len(self._split), self.metric: ends}

    def __str__(self) -> str:
        found = self.interval()
        ends = f"{100 * found.low:.1f} – {100 * found.high:.1f}"
        return (
            f"{self.metric} {100 * found.mean:.1f} % ({ends}) of the full split, after {self.episodes:,} of "
            f"{len(self._split):,} episodes"
        )


def _single_metric(name: str, protocol: Protocol) -> Suite:
    """The default suite of the protocol with this metric only, which must be a fraction of each episode."""
    suite = SUITES[default_suite(protocol)](protocol)
    if suite.add_targets is not None:
        raise BadArgument(f"until (--until) does not apply to {suite.name}, where success needs objects.")
    possible = [one for one in suite.metrics if not one.unit and one.weight is None]
    chosen = tuple(one for one in possible if one.name == name)
    if not chosen:
        names = ", ".join(one.name for one in possible)
        raise BadArgument(f"until (--until) takes a metric between 0 and 1: {names}; not {name}.")
    return replace(suite, metrics=chosen, tour_metrics=())
