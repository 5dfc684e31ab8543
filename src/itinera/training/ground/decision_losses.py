"""The loss of decisions: the probability near the teacher's bearing, its exact bin, and its number of steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from itinera.agents.decisions import BINS
from itinera.policies.ground.decision import STOP_BIN, BinFeatures, DecisionPolicy, select_bins, window_mass
from itinera.training.ground.decision_batches import DecisionBatch

HARD_WEIGHT = 0.1  # of the cross-entropy of the exact bin
STEPS_WEIGHT = 0.1  # of the cross-entropy of the number of steps


@dataclass(frozen=True, eq=False)
class DecisionLosses:
    """The losses of each decision of a batch, (rows, T) with rows of texts; zero for padding."""

    windowed: Tensor  # -log of the probability within WINDOW bins of the label
    hard: Tensor  # -log of the probability of the label
    steps: Tensor
    mask: Tensor  # (rows, T)

    @property
    def total(self) -> Tensor:
        """The mean over the decisions, weighted as in training."""
        summed = self.windowed + HARD_WEIGHT * self.hard + STEPS_WEIGHT * self.steps
        return summed.sum() / self.mask.sum()


def compute_losses(policy: DecisionPolicy, batch: DecisionBatch) -> DecisionLosses:
    """The losses of a batch; the instructions of a roll share its views."""
    rolls, steps = batch.index.shape
    count = len(batch.words) // rolls
    places = policy.encode_views(batch.views)
    flat = batch.index.reshape(-1)
    bins, bags = (values.index_select(0, flat) for values in (places.bins, places.bags))
    went = select_bins(bins, batch.chosen_bins.reshape(-1)).reshape(rolls, steps, -1)
    before = torch.cat([torch.zeros_like(went[:, :1]), went[:, :-1]], dim=1)
    state = policy.encode_instruction(batch.words, batch.lengths)
    _, output = policy.unroll(state, BinFeatures(bins, bags), previous=before)

    def share(values: Tensor) -> Tensor:
        return values.repeat_interleave(count, dim=0)

    labels, mask = share(batch.label_bins), share(batch.mask)
    moves = mask & (labels != STOP_BIN)
    target = select_bins(bins, batch.label_bins.reshape(-1).clamp(max=BINS - 1)).reshape(rolls, steps, -1)
    step_scores = policy.score_steps(output.query, share(target)).log_softmax(dim=2)
    return DecisionLosses(
        windowed=-_pick(window_mass(output.logits), labels) * mask,
        hard=-_pick(output.logits.log_softmax(dim=2), labels) * mask,
        steps=-_pick(step_scores, share(batch.label_steps)) * moves,
        mask=mask,
    )


def _pick(values: Tensor, index: Tensor) -> Tensor:
    return values.gather(2, index[..., None])[..., 0]


def exchange_texts(batch: DecisionBatch) -> DecisionBatch:
    """The batch with the instructions of the next roll in place of each roll's own: another path's words."""
    count = len(batch.words) // len(batch.index)
    return replace(batch, words=batch.words.roll(count, dims=0), lengths=batch.lengths.roll(count, dims=0))
