"""The host's side of a live phase: its simulator, and the tours that sessions play in it. Start with `LiveHost`.

Everything here can be computed again from the secret of a session and the answers of its agent, so a process may be
killed at any time.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from itinera.agents.remote import OPTIONAL
from itinera.formats.live_log import LiveLog, tour_order
from itinera.records import Predictions, Rollout
from itinera.rendering.camera import CHANNELS
from itinera.runs.config import ObservationConfig, RunConfig, TourJob, load_worlds
from itinera.runs.context import read_descriptions
from itinera.runs.live_tour import LiveTour, replay_answers
from itinera.runs.prepare import make_jobs
from itinera.simulators.factory import make_simulator
from itinera.simulators.simulator import Simulator
from itinera.tasks import Protocol, Split
from itinera.worlds import World

if TYPE_CHECKING:
    from itinera.formats.hosted_challenge import LiveRules
    from itinera.simulators.view_features import ViewSource

MAX_TOURS = 4096  # that are kept in memory; others are replayed when they are asked for
ALL = frozenset(OPTIONAL) - {"instances"}  # what agents may want; instances are the host's names of objects


@dataclass(frozen=True)
class TourState:
    """The requests that an agent must answer next, or that end the tour."""

    payload: bytes
    done: bool
    frames: int  # images that were rendered for it


class LiveHost:
    """The tours of a split, for any number of sessions.

    worlds: the folder of the worlds, or a season. live: what agents observe.
    """

    def __init__(self, split: Split, worlds: Path, protocol: Protocol, live: LiveRules) -> None:
        self.protocol, self._wanted = protocol, _configure(split, worlds, live)
        self._config = RunConfig("still", Split("", ()), worlds, protocol, observations=self._wanted)
        self._jobs = make_jobs(split)
        self._tours: OrderedDict[tuple[str, int, bool, frozenset[str]], LiveTour] = OrderedDict()
        self._orders: dict[str, Sequence[int]] = {}

    @property
    def tours(self) -> int:
        """The number of tours, or of single episodes."""
        return len(self._jobs)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The meanings of the numbers of a view, where there are views."""
        from itinera.runs.observations import view_columns

        return () if self._views is None else tuple(view_columns(self._views))

    def play(
        self,
        secret: str,
        number: int,
        known: int,
        answers: Sequence[tuple[int, str]],
        *,
        wants: frozenset[str] | None = None,
        replay: bool = False,
    ) -> TourState | None:
        """The state of a tour of a session after `known` earlier answers and these; None if the earlier are needed.

        replay: of a second copy of the tour, for an agent that has lost its memory.
        """
        wanted = ALL if wants is None else wants & ALL
        key, before = (secret, number, replay, wanted), 0
        tour = self._tours.pop(key, None)
        if tour is not None and known <= tour.answers <= known + len(answers):
            before = tour.frames
        elif known:
            return None
        else:
            tour = self._open(secret, number, wanted)
            tour.start()
        for answer, reason in answers[tour.answers - known :]:
            if tour.done:
                break
            tour.answer(answer, reason)
        if not tour.done:
            self._tours[key] = tour
            if len(self._tours) > MAX_TOURS:
                self._tours.popitem(last=False)
        return TourState(tour.payload, tour.done, tour.frames - before)

    def rebuild(self, log: LiveLog, source: str) -> Predictions:
        """The predictions of a session: its answers, taken again."""
        rollouts: list[Rollout] = []
        for one in log.tours:
            if one.tour < self.tours:
                tour = self._open(log.secret, one.tour, frozenset())
                rollouts.append(replay_answers(tour, one.answers, one.reasons))
        return Predictions(source, tuple(rollout for rollout in rollouts if rollout.trajectories))

    def _open(self, secret: str, number: int, wants: frozenset[str]) -> LiveTour:
        job = self._find_job(secret, number)
        simulator = copy.copy(self._blind if not wants & set(CHANNELS) else self._simulator)  # they share what is read
        return LiveTour(
            simulator, self._worlds[job.tour.world_id], job, protocol=self.protocol, secret=secret, wants=wants
        )

    def _find_job(self, secret: str, number: int) -> TourJob:
        order = self._orders.get(secret)
        if order is None:
            if len(self._orders) > 1000:
                self._orders.clear()
            order = self._orders[secret] = tour_order(secret, len(self._jobs))
        return self._jobs[order[number]]

    @cached_property
    def _worlds(self) -> Mapping[str, World]:
        return load_worlds(self._config.worlds, self.protocol)

    @cached_property
    def _views(self) -> ViewSource | None:
        if self._wanted.views is None:
            return None
        from itinera.runs.observations import open_views

        return open_views(self._wanted, self._config.worlds_path, self._worlds)

    @cached_property
    def _simulator(self) -> Simulator:
        return make_simulator(
            self.protocol,
            views=self._views,
            descriptions=read_descriptions(self._config),
            camera=self._wanted.camera,
        )

    @cached_property
    def _blind(self) -> Simulator:
        """The same without a camera, for agents that do not want images."""
        if self._wanted.camera is None:
            return self._simulator
        return make_simulator(self.protocol)


def _configure(split: Split, worlds: Path, live: LiveRules) -> ObservationConfig:
    from itinera.runs.observations import configure_observations, make_camera

    camera = None if live.camera is None else make_camera(live.camera, channels=live.channels, fov=live.fov)
    return configure_observations(split, worlds, views=live.views, camera=camera)
