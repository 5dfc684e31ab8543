"""Batches of experience as tensors: the frames of a path once, its instructions beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itinera.errors import BadArgument
from itinera.mapping.config import MapLifetime
from itinera.policies.ground.base import GroundOutput
from itinera.policies.ground.observation import GroundSequence
from itinera.policies.tokenizer import Tokenizer
from itinera.seeding import generator
from itinera.tasks import Split
from itinera.training.ground.experience import Experience
from itinera.training.ground.frames import Frames, stack_frames
from itinera.training.ground.lane_agents import Actions, pad_words

INFLECTION_WEIGHT = 3.2  # of steps whose expert action differs from the one before, as VLN-CE's for R2R


@dataclass(frozen=True, eq=False)
class Texts:
    """The instructions of a split as token ids, and which episodes share a path."""

    words: Mapping[str, Actions]  # by episode id
    siblings: Mapping[str, tuple[str, ...]]  # by episode id: all episodes of its path, itself first

    @classmethod
    def from_split(cls, split: Split, tokenizer: Tokenizer, *, max_words: int = 80) -> Texts:
        """The texts of all episodes of a split."""
        paths: dict[tuple[str, str], list[str]] = {}
        for episode in split.episodes:
            paths.setdefault((episode.world_id, episode.path_id or episode.id), []).append(episode.id)
        siblings = {
            name: (name, *(other for other in names if other != name)) for names in paths.values() for name in names
        }
        words = {
            episode.id: tokenizer.encode(episode.instruction.text, max_length=max_words) for episode in split.episodes
        }
        return cls(words, siblings)

    def of_path(self, episode_id: str, count: int) -> list[Actions]:
        """`count` instructions of the path of an episode, its own first; they repeat where there are fewer."""
        names = self.siblings[episode_id]
        return [self.words[names[k % len(names)]] for k in range(count)]


@dataclass(frozen=True, eq=False)
class GroundBatch:
    """Trajectories with `texts` instructions each: rows k·texts to (k + 1)·texts - 1 belong to trajectory k."""

    sequence: GroundSequence
    words: Tensor  # (trajectories · texts, max words)
    lengths: Tensor  # (trajectories · texts,)
    labels: Tensor  # (trajectories, max steps) the expert's actions
    weights: Tensor  # (trajectories, max steps) of the loss of each step; 0 for padding
    progress: Tensor  # (trajectories, max steps)
    texts: int

    @property
    def agent_steps(self) -> int:
        """The number of steps of all instructions."""
        return int(self.sequence.mask.sum()) * self.texts


def make_batch(
    experience: Sequence[Experience],
    words: Sequence[Sequence[Actions]],
    lifetime: MapLifetime | None,
    *,
    following: Sequence[Experience | None] | None = None,
    inflection_weight: float = INFLECTION_WEIGHT,
    device: torch.device | str = "cpu",
) -> GroundBatch:
    """The batch of these trajectories, each with its instructions.

    With the episode `following` each on its tour, the steps that lead there are guided frames at the end.
    """
    counts = {len(of_path) for of_path in words}
    if len(counts) != 1 or len(words) != len(experience):
        raise BadArgument("Every trajectory of a batch needs the same number of instructions.")
    steps = [len(one) for one in experience]
    after = [None] * len(steps) if following is None else following
    guided = [0 if one is None else one.guided for one in after]
    parts, previous = list[Frames](), list[NDArray[np.uint8]]()
    for one, other in zip(experience, after, strict=True):
        parts.append(one.frames.unpack().take(slice(one.guided, None)))
        previous.append(one.previous)
        if other is not None and other.guided:
            parts.append(other.frames.unpack().take(slice(0, other.guided)))
            previous.append(np.zeros(other.guided, dtype=np.uint8))
    observation = stack_frames(parts).observation(np.concatenate(previous).astype(np.int64), lifetime, device)
    lengths_in_all = [a + b for a, b in zip(steps, guided, strict=True)]
    sequence = GroundSequence.from_lengths(observation, lengths_in_all, guided)
    shape = (len(steps), max(steps))
    labels, weights = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.float32)
    progress = np.zeros(shape, dtype=np.float32)
    for k, one in enumerate(experience):
        labels[k, : steps[k]] = one.labels
        weights[k, : steps[k]] = inflection_weights(one.labels, inflection_weight)
        progress[k, : steps[k]] = one.progress
    tokens, lengths = pad_words([row for of_path in words for row in of_path])
    return GroundBatch(
        sequence,
        tokens.to(device),
        lengths.to(device),
        torch.from_numpy(labels).to(device),
        torch.from_numpy(weights).to(device),
        torch.from_numpy(progress).to(device),
        counts.pop(),
    )


def inflection_weights(labels: NDArray[np.integer], weight: float) -> NDArray[np.float32]:
    """(steps,) `weight` for the first step and every one whose expert action differs from the one before, else 1.

    >>> inflection_weights(np.array([1, 1, 2, 2, 1, 0]), 3.2).tolist()[:4]
    [3.200000047683716, 1.0, 3.200000047683716, 1.0]
    """
    is_inflection = np.append(True, labels[1:] != labels[:-1])
    return np.where(is_inflection, np.float32(weight), np.float32(1.0))


@dataclass(frozen=True, eq=False)
class ImitationLoss:
    """The loss of a batch, and what it is made of."""

    total: Tensor
    actions: Tensor  # the mean over trajectories and texts of the weighted cross-entropy
    progress: Tensor  # the mean squared error of the progress monitor


def imitation_loss(output: GroundOutput, batch: GroundBatch, *, progress_weight: float = 1.0) -> ImitationLoss:
    """VLN-CE's loss: the weighted cross-entropy of each trajectory, averaged, and that of the progress monitor."""
    labels, weights, target = (
        values.repeat_interleave(batch.texts, dim=0) for values in (batch.labels, batch.weights, batch.progress)
    )
    losses = torch.nn.functional.cross_entropy(output.logits.transpose(1, 2), labels, reduction="none")
    actions = ((losses * weights).sum(dim=1) / weights.sum(dim=1)).mean()
    is_step = weights > 0
    progress = ((output.progress - target).square() * is_step).sum() / is_step.sum()
    return ImitationLoss(actions + progress_weight * progress, actions, progress)


class LengthBuckets:
    """Endless shuffled batches of rows of similar length; batch k depends on the seed, the name and k alone."""

    def __init__(
        self, lengths: Sequence[int], batch_size: int, *, seed: int, name: str, bucket_batches: int = 10
    ) -> None:
        self._lengths, self._size = np.asarray(lengths), batch_size
        self._seed, self._name, self._bucket = seed, name, batch_size * bucket_batches
        self._epoch: tuple[int, list[NDArray[np.int64]]] = (-1, [])

    def __len__(self) -> int:
        """The number of batches per epoch; the rows of an incomplete last one are left out."""
        return max(1, len(self._lengths) // self._size)

    def __getitem__(self, k: int) -> NDArray[np.int64]:
        epoch, at = divmod(k, len(self))
        if self._epoch[0] != epoch:
            self._epoch = (epoch, self._shuffle(epoch))
        return self._epoch[1][at]

    def _shuffle(self, epoch: int) -> list[NDArray[np.int64]]:
        rng = generator(self._seed, "buckets", self._name, str(epoch))
        order = rng.permutation(len(self._lengths))
        parts = [order[k : k + self._bucket] for k in range(0, len(order), self._bucket)]
        ordered = np.concatenate([part[np.argsort(self._lengths[part], kind="stable")] for part in parts])
        batches = [ordered[k * self._size : (k + 1) * self._size] for k in range(len(self))]
        return [batches[k] for k in rng.permutation(len(batches))]
