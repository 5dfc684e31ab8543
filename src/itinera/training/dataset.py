"""Episodes as index tensors, and batches of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itinera.errors import BadArgument
from itinera.policies.tokenizer import PAD, Vocabulary
from itinera.rendering.panorama import nearest_view
from itinera.tasks import Episode
from itinera.training.vector_env import Atlas, node_numbers


@dataclass(frozen=True, eq=False)
class Batch:
    """Episodes that are walked together."""

    numbers: Tensor  # (walkers,) which of the lessons
    words: Tensor  # (walkers, longest)
    lengths: Tensor  # (walkers,) words of each
    start: Tensor  # (walkers,) node
    view: Tensor  # (walkers,) turned to at the start
    goal: Tensor  # (walkers,) node
    path: Tensor  # (walkers, longest) nodes of the reference, the goal repeated at its end
    path_lengths: Tensor  # (walkers,) nodes of it

    @property
    def walkers(self) -> int:
        return len(self.start)


@dataclass(frozen=True, eq=False)
class Lessons:
    """Episodes to learn from, or to be tried on."""

    episodes: tuple[Episode, ...]
    words: tuple[NDArray[np.int64], ...]
    start: NDArray[np.int64]
    view: NDArray[np.int64]
    paths: tuple[NDArray[np.int64], ...]

    def __len__(self) -> int:
        return len(self.episodes)

    def batch(self, numbers: Sequence[int] | NDArray[np.int64]) -> Batch:
        """These episodes as tensors."""
        words, lengths = _table([self.words[k] for k in numbers])
        path, path_lengths = _table([self.paths[k] for k in numbers])
        last = path_lengths - 1
        goal = path.gather(1, last[:, None]).squeeze(1)
        path = torch.where(torch.arange(path.shape[1]) <= last[:, None], path, goal[:, None])
        rows = np.asarray(numbers, dtype=np.int64)
        start, view = torch.from_numpy(self.start[rows]), torch.from_numpy(self.view[rows])
        return Batch(torch.from_numpy(rows), words, lengths, start, view, goal, path, path_lengths)

    def in_order(self, size: int) -> Iterator[Batch]:
        """All of them once, texts of one length together."""
        order = np.argsort([len(words) for words in self.words], kind="stable")
        for k in range(0, len(order), size):
            yield self.batch(order[k : k + size])


def lessons_of(episodes: Sequence[Episode], atlas: Atlas, vocabulary: Vocabulary, *, most_words: int = 80) -> Lessons:
    """The lessons of episodes on graphs; of longer texts the first `most_words` tokens are read."""
    for episode in episodes:
        if not len(episode.reference):
            raise BadArgument(f"Episode {episode.id} does not tell its path, so nothing can be learned from it.")
    return Lessons(
        tuple(episodes),
        tuple(vocabulary.encode(episode.instruction.text, most=most_words) for episode in episodes),
        np.array([atlas.number[e.world_id, str(e.start.place)] for e in episodes], dtype=np.int64),
        np.array([nearest_view(e.start.heading, e.start.elevation) for e in episodes], dtype=np.int64),
        tuple(np.array(node_numbers(atlas, e.world_id, [str(p) for p in e.reference])) for e in episodes),
    )


class Shuffle:
    """Batches without end, each epoch in another order, texts of about one length together.

    Which batch comes k-th depends on the seed and k alone, so that training can go on from any step.
    """

    def __init__(self, lessons: Lessons, size: int, *, seed: int, together: int = 20) -> None:
        self.lessons, self.size, self.seed, self.together = lessons, size, seed, together
        self._long = np.array([len(words) for words in lessons.words])
        self._epoch: tuple[int, list[NDArray[np.int64]]] = (-1, [])

    def __getitem__(self, k: int) -> Batch:
        epoch, at = divmod(k, len(self))
        if self._epoch[0] != epoch:
            self._epoch = (epoch, self._order(epoch))
        return self.lessons.batch(self._epoch[1][at])

    def __len__(self) -> int:
        """Batches of an epoch; what is left over is left out."""
        return max(1, len(self.lessons) // self.size)

    def _order(self, epoch: int) -> list[NDArray[np.int64]]:
        from itinera.seeding import generator

        rng = generator(self.seed, "lessons", str(epoch))
        order = rng.permutation(len(self.lessons))
        chunk = self.size * self.together
        pieces = [order[k : k + chunk] for k in range(0, len(order), chunk)]
        ordered = np.concatenate([piece[np.argsort(self._long[piece], kind="stable")] for piece in pieces])
        batches = [ordered[k * self.size : (k + 1) * self.size] for k in range(len(self))]
        return [batches[k] for k in rng.permutation(len(batches))]


def _table(rows: Sequence[NDArray[np.int64]]) -> tuple[Tensor, Tensor]:
    """(rows, longest) filled up with PAD, and the length of each."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    table = np.full((len(rows), int(lengths.max(initial=0))), PAD, dtype=np.int64)
    table[np.arange(table.shape[1]) < lengths[:, None]] = np.concatenate(rows)
    return torch.from_numpy(table), torch.from_numpy(lengths)
