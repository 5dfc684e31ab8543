"""Teacher forcing over tours, for policies that remember: truncated back-propagation through time.

Tours are packed into lanes, one after another. A step learns from the next episode of every lane: states are carried
from episode to episode without their gradients, oracle phases are remembered on the way, and a tour begins without
memory. The instructions of a path share its frames, as three tours of a house share their order. A checkpoint contains
the carried states.

The released code shuffles the episodes of a tour in every epoch, and does not show oracle phases; here a tour keeps
its order and is whole, as in evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from itinera.errors import BadArgument
from itinera.policies.base import select_rows
from itinera.policies.ground.base import GroundPolicy, detach
from itinera.seeding import generator
from itinera.training.ground.batches import GroundBatch, Texts, imitation_loss, make_batch
from itinera.training.ground.experience import Experience
from itinera.training.ground.lane_agents import pad_words
from itinera.training.ground.state_rows import choose_rows, merge_rows, state_tensors
from itinera.training.trainer import Trainer

STATE = "state."  # prefix of the carried tensors


@dataclass(frozen=True)
class LaneEpisode:
    """An episode in a lane: its tour and its position there."""

    tour: int
    position: int


class TourLaneSampler:
    """Which episode every lane is at, step by step; it depends on the seed and the step alone."""

    def __init__(self, lengths: Sequence[int], lanes: int, *, seed: int) -> None:
        """`lengths` are the numbers of episodes of the tours."""
        if not len(lengths):
            raise BadArgument("There are no tours to train on.")
        self._lengths, self._lanes, self._seed = list(lengths), min(lanes, len(lengths)), seed
        self._starts = [0]  # the first step of each epoch that is known
        self._epochs: list[list[list[LaneEpisode]]] = []

    def __getitem__(self, step: int) -> list[LaneEpisode | None]:
        """The episode of each lane; None for a lane that has none left in this epoch."""
        while self._starts[-1] <= step:
            lanes = self._pack(len(self._epochs))
            self._epochs.append(lanes)
            self._starts.append(self._starts[-1] + max(map(len, lanes)))
        epoch = int(np.searchsorted(self._starts, step, side="right")) - 1
        at = step - self._starts[epoch]
        return [lane[at] if at < len(lane) else None for lane in self._epochs[epoch]]

    def is_epoch_start(self, step: int) -> bool:
        """Whether an epoch begins with this step."""
        _ = self[step]
        return step in self._starts

    def _pack(self, epoch: int) -> list[list[LaneEpisode]]:
        """Shuffled tours, each appended to the shortest lane; long ones first, so that lanes end alike."""
        order = generator(self._seed, "lanes", str(epoch)).permutation(len(self._lengths)).tolist()
        lanes: list[list[int]] = [[] for _ in range(self._lanes)]
        loads = [0] * self._lanes
        for tour in sorted(order, key=lambda tour: -self._lengths[tour]):
            shortest = loads.index(min(loads))
            lanes[shortest].append(tour)
            loads[shortest] += self._lengths[tour]
        rank = {tour: k for k, tour in enumerate(order)}
        return [
            [LaneEpisode(tour, k) for tour in sorted(lane, key=rank.__getitem__) for k in range(self._lengths[tour])]
            for lane in lanes
        ]


class TourTraining:
    """Teacher forcing over tours: `run` makes the steps of a trainer."""

    def __init__(
        self,
        policy: GroundPolicy[Any, Any],
        tours: Sequence[Sequence[Experience]],
        texts: Texts,
        *,
        lanes: int,
        seed: int,
        texts_per_path: int = 3,
        inflection_weight: float = 3.2,
        progress_weight: float = 0.0,
    ) -> None:
        """The experience of whole tours, with their guided steps."""
        self._policy, self._tours, self._texts = policy, tours, texts
        self._count, self._progress_weight = texts_per_path, progress_weight
        self._inflection_weight = inflection_weight
        self._device = next(policy.parameters()).device
        self.sampler = TourLaneSampler([len(tour) for tour in tours], lanes, seed=seed)
        self._state: Any = None  # (lanes · texts) rows; those of idle lanes are kept

    def run(self, trainer: Trainer, on_loss: Callable[[int, float, float], None] | None = None) -> None:
        """Make the steps left."""
        for step in trainer:
            if self._state is None and trainer.carried:
                self._state = self._restore(trainer.carried)
            loss = self.loss(step, on_loss)
            trainer.carried = {f"{STATE}{name}": value for name, value in state_tensors(self._state).items()}
            trainer.update(loss)

    def loss(self, step: int, on_loss: Callable[[int, float, float], None] | None = None) -> Tensor:
        """The loss of the episodes of a step; the states after them are carried."""
        at = self.sampler[step]
        lanes = [lane for lane, episode in enumerate(at) if episode is not None]
        episodes = [episode for episode in at if episode is not None]
        if self._state is None or self.sampler.is_epoch_start(step):
            self._state = self._blank(len(at))
        batch = self._batch(episodes)
        state = self._begin(lanes, episodes, batch)
        last, output = self._policy.unroll(state, batch.sequence)
        self._state = merge_rows(self._state, self._rows(lanes), detach(last))
        loss = imitation_loss(output, batch, progress_weight=self._progress_weight)
        if on_loss is not None:
            on_loss(step, float(loss.actions.detach()), float(loss.progress.detach()))
        return loss.total

    def _begin(self, lanes: Sequence[int], episodes: Sequence[LaneEpisode], batch: GroundBatch) -> Any:
        """The states at the beginning of these episodes, without gradients to earlier ones."""
        first = torch.tensor([episode.position == 0 for episode in episodes], device=self._device)
        first = first.repeat_interleave(self._count)
        known = select_rows(self._state, self._rows(lanes))
        state = self._policy.update_instruction(known, batch.words, batch.lengths)
        if bool(first.any()):
            fresh = self._policy.encode_instruction(batch.words, batch.lengths)
            state = choose_rows(first, fresh, state)
        return state

    def _batch(self, episodes: Sequence[LaneEpisode]) -> GroundBatch:
        part, after = [], []
        for episode in episodes:
            tour = self._tours[episode.tour]
            part.append(tour[episode.position])
            after.append(tour[episode.position + 1] if episode.position + 1 < len(tour) else None)
        words = [self._texts.of_path(one.episode_id, self._count) for one in part]
        options: dict[str, Any] = {"inflection_weight": self._inflection_weight, "device": self._device}
        return make_batch(part, words, None, following=after, **options)

    def _rows(self, lanes: Sequence[int]) -> Tensor:
        rows = np.asarray(lanes, dtype=np.int64)[:, None] * self._count + np.arange(self._count)
        return torch.from_numpy(rows.reshape(-1)).to(self._device)

    def _blank(self, lanes: int) -> Any:
        """States of lanes that have not begun: those of an instruction of one word."""
        words, lengths = pad_words([np.ones(1, dtype=np.int64)] * (lanes * self._count))
        with torch.no_grad():
            return self._policy.encode_instruction(words.to(self._device), lengths.to(self._device))

    def _restore(self, carried: dict[str, Tensor]) -> Any:
        blank = self._blank(1)
        values = {name.removeprefix(STATE): value for name, value in carried.items() if name.startswith(STATE)}
        values = {name: value.to(self._device) for name, value in values.items()}
        return replace(blank, **values)
