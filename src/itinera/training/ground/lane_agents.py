"""The agents of all lanes: they look, decide and remember. `LaneAgents` joins a perception, a decider and a recorder.

A decider is the expert, stored actions, a policy, or DAgger's mixture of expert and policy. A recorder keeps what
training needs of each episode (`experience.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from typing import Protocol as Contract

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itinera.mapping.config import MapLifetime
from itinera.planners.motion.geodesic_follower import ExpertLabels
from itinera.policies.base import select_rows
from itinera.policies.ground.base import GroundPolicy
from itinera.policies.ground.observation import encode_previous_actions
from itinera.policies.tokenizer import PAD
from itinera.runs.config import TourJob
from itinera.seeding import generator
from itinera.simulators.simulator import STOP
from itinera.simulators.vectorized import VectorizedGround
from itinera.tasks import Episode
from itinera.training.ground.frames import Frames
from itinera.training.ground.perception import Perception
from itinera.training.ground.state_rows import merge_rows
from itinera.training.ground.tour_lanes import Lanes
from itinera.training.ground.trajectories import TourActions
from itinera.worlds import Array

EXPERT_RADIUS = 0.5  # metres from its goal where the expert stops, as VLN-CE's
NO_ACTION = -1

Actions = NDArray[np.int64]


class Decider(Contract):
    """Chooses the actions of the lanes that act."""

    needs_frames: bool
    needs_labels: bool

    def start_tours(self, lanes: Lanes, jobs: Sequence[TourJob]) -> None: ...

    def start_episodes(self, lanes: Lanes, episodes: Sequence[Episode]) -> None: ...

    def decide(self, lanes: Lanes, frames: Frames | None, previous: Actions, labels: ExpertLabels | None) -> Actions:
        """(n,) an action for each lane; `previous` are the codes of the actions before."""
        ...

    def observe(self, lanes: Lanes, frames: Frames) -> None:
        """Lanes are guided and see this."""
        ...


class Recorder(Contract):
    """Keeps what happens in all lanes."""

    def start_tours(self, lanes: Lanes, jobs: Sequence[TourJob]) -> None: ...

    def start_episodes(self, lanes: Lanes, episodes: Sequence[Episode]) -> None: ...

    def add_guided(self, lanes: Lanes, frames: Frames) -> None: ...

    def add(self, lanes: Lanes, frames: Frames, previous: Actions, actions: Actions, labels: ExpertLabels) -> None: ...


class LaneAgents:
    """The agents of all lanes of a stage: a `LaneAgent`."""

    def __init__(
        self,
        stage: VectorizedGround,
        decider: Decider,
        *,
        perception: Perception | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self._stage, self._decider, self._recorder = stage, decider, recorder
        self._perception = perception if decider.needs_frames or recorder is not None else None
        self._needs_labels = decider.needs_labels or recorder is not None
        self._last = np.full(stage.num_envs, NO_ACTION, dtype=np.int64)  # the agent's last action in this episode
        self._followers = [part for part in (decider, recorder) if part is not None]

    def start_tours(self, lanes: Lanes, jobs: Sequence[TourJob]) -> None:
        if self._perception is not None:
            self._perception.start_tours(lanes, [job.tour.world_id for job in jobs])
        for part in self._followers:
            part.start_tours(lanes, jobs)

    def start_episodes(self, lanes: Lanes, episodes: Sequence[Episode]) -> None:
        self._last[lanes] = NO_ACTION
        if self._needs_labels:
            self._stage.set_goals(
                lanes, [nearest_goal(self._stage, *pair) for pair in zip(lanes, episodes, strict=True)]
            )
        if self._perception is not None:
            self._perception.start_episodes(lanes)
        for part in self._followers:
            part.start_episodes(lanes, episodes)

    def act(self, acting: Lanes, guided: Lanes) -> Actions:
        frames = None
        if self._perception is not None and len(acting) + len(guided):
            frames, guided_frames = self._perception.look(acting, guided)
            if guided_frames is not None and len(guided):
                if self._recorder is not None:
                    self._recorder.add_guided(guided, guided_frames)
                self._decider.observe(guided, guided_frames)
        if not len(acting):
            return np.empty(0, dtype=np.int64)
        previous = encode_previous_actions(self._last[acting], self._stage.collided[acting])
        labels = self._stage.expert(EXPERT_RADIUS, acting) if self._needs_labels else None
        actions = self._decider.decide(acting, frames, previous, labels)
        if self._recorder is not None:
            assert frames is not None
            assert labels is not None
            self._recorder.add(acting, frames, previous, actions, labels)
        self._last[acting] = actions
        return actions


def nearest_goal(stage: VectorizedGround, lane: int, episode: Episode) -> Array:
    """The goal of an episode that is nearest to the body of a lane, in a straight line."""
    goals = np.asarray(episode.goals, dtype=np.float64)
    far = np.linalg.norm(goals - stage.positions[int(lane)], axis=1)
    return np.asarray(goals[int(far.argmin())])


class ExpertDecider:
    """Takes the expert's actions."""

    needs_frames, needs_labels = False, True

    def start_tours(self, lanes: Lanes, jobs: Sequence[TourJob]) -> None: ...

    def start_episodes(self, lanes: Lanes, episodes: Sequence[Episode]) -> None: ...

    def decide(self, lanes: Lanes, frames: Frames | None, previous: Actions, labels: ExpertLabels | None) -> Actions:
        assert labels is not None
        return labels.actions

    def observe(self, lanes: Lanes, frames: Frames) -> None: ...


class ReplayDecider:
    """Takes stored actions: those of each tour by the ids of its episodes."""

    needs_frames = needs_labels = False

    def __init__(self, tours: Sequence[TourActions]) -> None:
        self._tours = {tour.episode_ids: tour for tour in tours}
        self._running: dict[int, TourActions] = {}
        self._actions: dict[int, list[int]] = {}  # of the current episode, in reverse

    def start_tours(self, lanes: Lanes, jobs: Sequence[TourJob]) -> None:
        for lane, job in zip(lanes.tolist(), jobs, strict=True):
            self._running[lane] = self._tours[tuple(episode.id for episode in job.episodes)]

    def start_episodes(self, lanes: Lanes, episodes: Sequence[Episode]) -> None:
        for lane, episode in zip(lanes.tolist(), episodes, strict=True):
            stored = {one.episode_id: one for one in self._running[lane].episodes}
            self._actions[lane] = stored[episode.id].array.tolist()[::-1]

    def decide(self, lanes: Lanes, frames: Frames | None, previous: Actions, labels: ExpertLabels | None) -> Actions:
        return np.array([self._actions[lane].pop() for lane in lanes.tolist()], dtype=np.int64)

    def observe(self, lanes: Lanes, frames: Frames) -> None: ...


class PolicyDecider:
    """Takes the most probable actions of a policy; keeps its state for every lane."""

    needs_frames = True
    needs_labels = False

    def __init__(
        self, policy: GroundPolicy[Any, Any], words: Mapping[str, Actions], lanes: int, lifetime: MapLifetime | None
    ) -> None:
        """`words` are the token ids of the instruction of each episode, by its id."""
        self._policy, self._words, self._lifetime = policy, words, lifetime
        self._device = next(policy.parameters()).device
        self._state: Any = None
        self._lanes = lanes
        self._is_new = np.ones(lanes, dtype=np.bool_)  # whether a tour has begun and no episode of it yet

    def start_tours(self, lanes: Lanes, jobs: Sequence[TourJob]) -> None:
        self._is_new[lanes] = True

    @torch.no_grad()
    def start_episodes(self, lanes: Lanes, episodes: Sequence[Episode]) -> None:
        is_new = self._is_new[lanes]
        for chosen, first in ((lanes[is_new], True), (lanes[~is_new], False)):
            if not len(chosen):
                continue
            at = {int(lane): k for k, lane in enumerate(lanes)}
            tokens = [self._words[episodes[at[int(lane)]].id] for lane in chosen]
            words, lengths = (tensor.to(self._device) for tensor in pad_words(tokens))
            if first:
                state = self._policy.encode_instruction(words, lengths)
            else:
                state = self._policy.update_instruction(self._take(chosen), words, lengths)
            self._put(chosen, state)
        self._is_new[lanes] = False

    @torch.no_grad()
    def decide(self, lanes: Lanes, frames: Frames | None, previous: Actions, labels: ExpertLabels | None) -> Actions:
        assert frames is not None
        observation = frames.observation(previous, self._lifetime, self._device)
        state, output = self._policy(self._take(lanes), observation)
        self._put(lanes, state)
        return self.choose(lanes, output.logits.double().cpu().numpy(), labels)

    def choose(self, lanes: Lanes, logits: Array, labels: ExpertLabels | None) -> Actions:
        """(n,) the actions, of logits (n, 4)."""
        return np.asarray(logits.argmax(axis=1))

    @torch.no_grad()
    def observe(self, lanes: Lanes, frames: Frames) -> None:
        if self._policy.remembers_tours:
            none = np.zeros(len(lanes), dtype=np.int64)
            observation = frames.observation(none, self._lifetime, self._device)
            self._put(lanes, self._policy.observe(self._take(lanes), observation))

    def _take(self, lanes: Lanes) -> Any:
        return select_rows(self._state, torch.from_numpy(lanes).to(self._device))

    def _put(self, lanes: Lanes, state: Any) -> None:
        if self._state is None:
            every = torch.zeros(self._lanes, dtype=torch.int64, device=self._device)
            self._state = select_rows(state, every)
        self._state = merge_rows(self._state, torch.from_numpy(lanes).to(self._device), state)


class DaggerDecider(PolicyDecider):
    """Takes the expert's action with probability beta at each step, otherwise a sample of the policy.

    The draws of a tour depend on the seed, the iteration and the ids of its episodes alone.
    """

    needs_labels = True

    def __init__(
        self,
        policy: GroundPolicy[Any, Any],
        words: Mapping[str, Actions],
        lanes: int,
        lifetime: MapLifetime | None,
        *,
        beta: float,
        seed: int,
        iteration: int,
    ) -> None:
        super().__init__(policy, words, lanes, lifetime)
        self._beta, self._seed, self._iteration = beta, seed, iteration
        self._rng: dict[int, np.random.Generator] = {}

    def start_tours(self, lanes: Lanes, jobs: Sequence[TourJob]) -> None:
        super().start_tours(lanes, jobs)
        for lane, job in zip(lanes.tolist(), jobs, strict=True):
            names = ("dagger", str(self._iteration), job.tour.id, job.episodes[0].id)
            self._rng[lane] = generator(self._seed, *names)

    def choose(self, lanes: Lanes, logits: Array, labels: ExpertLabels | None) -> Actions:
        assert labels is not None
        draws = np.array([self._rng[lane].random(2) for lane in lanes.tolist()])
        weights = np.exp(logits - logits.max(axis=1, keepdims=True)).cumsum(axis=1)
        sampled = (draws[:, 1:] * weights[:, -1:] >= weights).sum(axis=1)
        return np.where(draws[:, 0] < self._beta, labels.actions, np.minimum(sampled, logits.shape[1] - 1))


def pad_words(tokens: Sequence[Actions]) -> tuple[Tensor, Tensor]:
    """(n, max words) token ids, padded, and the number of words of each instruction."""
    lengths = np.array([max(1, len(row)) for row in tokens], dtype=np.int64)
    table = np.full((len(tokens), int(lengths.max())), PAD, dtype=np.int64)
    for k, row in enumerate(tokens):
        table[k, : len(row)] = row
    return torch.from_numpy(table), torch.from_numpy(lengths)


def stop_included(actions: NDArray[np.integer], stopped: bool) -> Actions:
    """The agent's actions of an episode as they are stored: STOP is one of them."""
    taken = np.asarray(actions, dtype=np.int64)
    return np.append(taken, STOP) if stopped else taken
