"""Episodes as index tensors, and batches of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itinera.errors import BadArgument
from itinera.policies.tokenizer import FIRST_WORD, PAD, UNKNOWN, Tokenizer
from itinera.rendering.panorama import nearest_view
from itinera.seeding import generator
from itinera.tasks import Episode
from itinera.training.vector_env import BatchedGraphEnv, node_indices

CPU = torch.device("cpu")


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of episodes."""

    index: Tensor  # (batch,) position of each episode in the dataset
    words: Tensor  # (batch, max words) token ids
    lengths: Tensor  # (batch,) number of words
    start: Tensor  # (batch,) node
    view: Tensor  # (batch,) the view faced at the start
    goal: Tensor  # (batch,) node
    path: Tensor  # (batch, max nodes) reference path, padded with the goal
    path_lengths: Tensor  # (batch,) nodes of it

    @property
    def size(self) -> int:
        return len(self.start)

    def to(self, device: torch.device) -> Batch:
        """The same on another device."""
        return Batch(*(getattr(self, field.name).to(device) for field in fields(self)))


@dataclass(frozen=True, eq=False)
class EpisodeDataset:
    """Episodes on graphs for training or evaluation."""

    episodes: tuple[Episode, ...]
    words: tuple[NDArray[np.int64], ...]
    start: NDArray[np.int64]
    view: NDArray[np.int64]
    paths: tuple[NDArray[np.int64], ...]
    device: torch.device = CPU  # of batches: that of the environment

    @classmethod
    def from_episodes(
        cls, episodes: Sequence[Episode], env: BatchedGraphEnv, tokenizer: Tokenizer, *, max_words: int = 80
    ) -> EpisodeDataset:
        """The dataset of these episodes; instructions are cut after `max_words` tokens."""
        for episode in episodes:
            if not len(episode.reference):
                raise BadArgument(
                    f"Episode {episode.id} has no reference path, so it cannot be used for training. "
                    "Use a split whose answers are public."
                )
        return cls(
            tuple(episodes),
            tuple(tokenizer.encode(episode.instruction.text, max_length=max_words) for episode in episodes),
            np.array([env.node_index[e.world_id, str(e.start.place)] for e in episodes], dtype=np.int64),
            np.array([nearest_view(e.start.heading, e.start.elevation) for e in episodes], dtype=np.int64),
            tuple(np.array(node_indices(env, e.world_id, [str(p) for p in e.reference])) for e in episodes),
            env.device,
        )

    def __len__(self) -> int:
        return len(self.episodes)

    def batch(self, index: Sequence[int] | NDArray[np.int64]) -> Batch:
        """These episodes as tensors."""
        words, lengths = pad_tokens([self.words[k] for k in index])
        path, path_lengths = pad_tokens([self.paths[k] for k in index])
        last = path_lengths - 1
        goal = path.gather(1, last[:, None]).squeeze(1)
        path = torch.where(torch.arange(path.shape[1], device=CPU) <= last[:, None], path, goal[:, None])
        rows = np.asarray(index, dtype=np.int64)
        start, view = torch.from_numpy(self.start[rows]), torch.from_numpy(self.view[rows])
        batch = Batch(torch.from_numpy(rows), words, lengths, start, view, goal, path, path_lengths)
        return batch if self.device == CPU else batch.to(self.device)

    def batches(self, size: int) -> Iterator[Batch]:
        """Batches of every episode once, sorted by the length of the instruction."""
        order = np.argsort([len(words) for words in self.words], kind="stable")
        for k in range(0, len(order), size):
            yield self.batch(order[k : k + size])


class BatchSampler:
    """Endless shuffled batches, bucketed by the length of the instruction.

    Batch k depends only on the seed and k, so that training can resume at any step. `word_dropout` is the probability
    that a word is replaced by the unknown one: a policy that will read words it has not learned learns to skip some.
    """

    def __init__(
        self,
        dataset: EpisodeDataset,
        batch_size: int,
        *,
        seed: int,
        bucket_batches: int = 20,
        word_dropout: float = 0.0,
    ) -> None:
        self.dataset, self.batch_size, self.seed, self.bucket_batches = dataset, batch_size, seed, bucket_batches
        self.word_dropout = word_dropout
        self._lengths = np.array([len(words) for words in dataset.words])
        self._epoch: tuple[int, list[NDArray[np.int64]]] = (-1, [])

    def __getitem__(self, k: int) -> Batch:
        epoch, at = divmod(k, len(self))
        if self._epoch[0] != epoch:
            self._epoch = (epoch, self._shuffle(epoch))
        batch = self.dataset.batch(self._epoch[1][at])
        if not self.word_dropout:
            return batch
        draws = generator(self.seed, "word dropout", str(k)).random(tuple(batch.words.shape))
        dropped = torch.from_numpy(draws < self.word_dropout).to(batch.words.device) & (batch.words >= FIRST_WORD)
        return replace(batch, words=batch.words.masked_fill(dropped, UNKNOWN))

    def __len__(self) -> int:
        """The number of batches per epoch; an incomplete last batch is dropped."""
        return max(1, len(self.dataset) // self.batch_size)

    def _shuffle(self, epoch: int) -> list[NDArray[np.int64]]:
        rng = generator(self.seed, "lessons", str(epoch))
        order = rng.permutation(len(self.dataset))
        bucket = self.batch_size * self.bucket_batches
        buckets = [order[k : k + bucket] for k in range(0, len(order), bucket)]
        ordered = np.concatenate([part[np.argsort(self._lengths[part], kind="stable")] for part in buckets])
        batches = [ordered[k * self.batch_size : (k + 1) * self.batch_size] for k in range(len(self))]
        return [batches[k] for k in rng.permutation(len(batches))]


def pad_tokens(rows: Sequence[NDArray[np.int64]]) -> tuple[Tensor, Tensor]:
    """(rows, max length) padded with PAD, and the length of each row."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    table = np.full((len(rows), int(lengths.max(initial=0))), PAD, dtype=np.int64)
    table[np.arange(table.shape[1]) < lengths[:, None]] = np.concatenate(rows)
    return torch.from_numpy(table), torch.from_numpy(lengths)
