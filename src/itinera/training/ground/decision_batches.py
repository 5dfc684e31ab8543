"""Batches of rolls: rolls of like length with the instructions of their paths, which share the views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itinera.agents.decisions import BINS
from itinera.policies.ground.decision import STOP_BIN, PolarTensors, join_tensors, make_tensors
from itinera.policies.ground.polar_views import LabelWords, mirror
from itinera.policies.tokenizer import Tokenizer
from itinera.seeding import generator
from itinera.tasks import Episode
from itinera.training.dataset import pad_tokens
from itinera.training.ground.decision_rolls import Rolls

TEXTS = 3  # instructions of a roll in a batch
SIDES = {"left": "right", "right": "left", "lefthand": "righthand", "righthand": "lefthand"}
"""Words that are exchanged where views are mirrored."""


@dataclass(frozen=True, eq=False)
class DecisionBatch:
    """r rolls of up to T decisions with k instructions each: rows 0 to k - 1 are those of the first roll, and so on."""

    words: Tensor  # (r * k, max words)
    lengths: Tensor  # (r * k,)
    views: PolarTensors  # of p places, roll by roll
    index: Tensor  # (r, T) the place of each decision; 0 for padding
    mask: Tensor  # (r, T) False for padding
    chosen_bins: Tensor  # (r, T) the bin taken; 0 for stop and padding
    label_bins: Tensor  # (r, T) STOP_BIN to stop
    label_steps: Tensor  # (r, T) number of steps - 1; 0 to stop

    def to(self, device: torch.device) -> DecisionBatch:
        """The same on another device."""
        return DecisionBatch(*(getattr(self, field.name).to(device) for field in fields(self)))


@dataclass(frozen=True, eq=False)
class PathTexts:
    """The instructions of paths as token ids."""

    rows: Mapping[tuple[str, str], tuple[NDArray[np.int64], ...]]  # by world and path

    @classmethod
    def from_episodes(cls, episodes: Sequence[Episode], tokenizer: Tokenizer, *, max_words: int) -> PathTexts:
        found: dict[tuple[str, str], list[NDArray[np.int64]]] = {}
        for episode in episodes:
            ids = tokenizer.encode(episode.instruction.text, max_length=max_words)
            found.setdefault((episode.world_id, episode.path_id or episode.id), []).append(ids)
        return cls({key: tuple(rows) for key, rows in found.items()})


class RollSampler:
    """Batches of rolls of like length, shuffled anew in every epoch. Batch k depends on the seed and k alone.

    With `mirrored`, left and right are exchanged in half of the rolls, in views, decisions and words.
    """

    def __init__(
        self,
        rolls: Sequence[Rolls],
        words: Mapping[str, LabelWords],
        texts: PathTexts,
        tokenizer: Tokenizer,
        *,
        batch_size: int,
        seed: int,
        mirrored: bool = False,
        bucket_batches: int = 12,
    ) -> None:
        self._rolls, self._words, self._texts = rolls, words, texts
        self._batch_size, self._seed, self._mirrored, self._bucket = batch_size, seed, mirrored, bucket_batches
        self._items = np.array([(h, k) for h, house in enumerate(rolls) for k in range(len(house))], dtype=np.int64)
        self._lengths = np.concatenate([house.lengths for house in rolls])
        self._sides = np.arange(len(tokenizer))
        for word, other in SIDES.items():
            if word in tokenizer.index and other in tokenizer.index:
                self._sides[tokenizer.index[word]] = tokenizer.index[other]
        self._epoch: tuple[int, list[NDArray[np.int64]]] = (-1, [])

    def __len__(self) -> int:
        """The number of batches per epoch; an incomplete last batch is dropped."""
        return max(1, len(self._items) // self._batch_size)

    def __getitem__(self, k: int) -> DecisionBatch:
        epoch, at = divmod(k, len(self))
        if self._epoch[0] != epoch:
            self._epoch = (epoch, self._shuffle(epoch))
        rng = generator(self._seed, "decisions", str(k))
        rows = self._epoch[1][at]
        flips = rng.random(len(rows)) < 0.5 if self._mirrored else np.zeros(len(rows), dtype=bool)
        return self.batch(rows, flips=flips, rng=rng)

    def batch(
        self, rows: NDArray[np.int64], *, flips: NDArray[np.bool_] | None = None, rng: np.random.Generator | None = None
    ) -> DecisionBatch:
        """The batch of some rolls; `rng` draws the instructions of a path that has more than TEXTS."""
        flips = np.zeros(len(rows), dtype=bool) if flips is None else flips
        lengths = self._lengths[rows]
        shape = len(rows), int(lengths.max())
        columns = {name: np.zeros(shape, np.int64) for name in ("index", "chosen_bins", "label_bins", "label_steps")}
        mask = np.arange(shape[1]) < lengths[:, None]
        parts, texts, place = [], [], 0
        for r, (row, flip) in enumerate(zip(rows, flips.tolist(), strict=True)):
            house, k = self._items[row]
            rolls = self._rolls[house]
            span = np.arange(rolls.starts[k], rolls.starts[k + 1])
            views = rolls.views.select(span)
            if flip:
                views = mirror(views, np.ones(len(span), dtype=bool))
            parts.append(make_tensors(views, self._words[rolls.world_id]))
            n = len(span)
            columns["index"][r, :n] = place + np.arange(n)
            columns["chosen_bins"][r, :n] = _flip(rolls.bins[span].astype(np.int64), flip)
            stops = rolls.label_steps[span] == 0
            bins = _flip(rolls.label_bins[span].astype(np.int64), flip)
            columns["label_bins"][r, :n] = np.where(stops, STOP_BIN, bins)
            columns["label_steps"][r, :n] = np.maximum(rolls.label_steps[span].astype(np.int64) - 1, 0)
            place += n
            chosen = self._choose_texts(rolls.world_id, rolls.paths[k], rng)
            texts += [self._sides[ids] for ids in chosen] if flip else chosen
        words, counts = pad_tokens(texts)
        tables = {name: torch.from_numpy(table) for name, table in columns.items()}
        return DecisionBatch(words, counts, join_tensors(parts), mask=torch.from_numpy(mask), **tables)

    def _choose_texts(self, world_id: str, path: str, rng: np.random.Generator | None) -> list[NDArray[np.int64]]:
        """TEXTS instructions of a path; one that has fewer repeats them."""
        rows = self._texts.rows[world_id, path]
        order = np.arange(len(rows)) if rng is None or len(rows) <= TEXTS else rng.permutation(len(rows))
        return [rows[order[k % len(rows)]] for k in range(TEXTS)]

    def _shuffle(self, epoch: int) -> list[NDArray[np.int64]]:
        rng = generator(self._seed, "rolls", str(epoch))
        order = rng.permutation(len(self._items))
        bucket = self._batch_size * self._bucket
        parts = [order[k : k + bucket] for k in range(0, len(order), bucket)]
        ordered = np.concatenate([part[np.argsort(self._lengths[part], kind="stable")] for part in parts])
        batches = [ordered[k * self._batch_size : (k + 1) * self._batch_size] for k in range(len(self))]
        return [batches[k] for k in rng.permutation(len(batches))]


def _flip(bins: NDArray[np.int64], flip: bool) -> NDArray[np.int64]:
    return (BINS - bins) % BINS if flip else bins
