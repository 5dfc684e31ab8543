"""Proxy tasks of HAMT's pretraining on paths and their instructions. Start with `pretraining_objective`.

A batch does one task, drawn by the ratios of the paper: masked language modeling (MLM), masked region classification
(MRC), single-step action prediction (SAP) and regression (SAR), spatial relationship prediction (SPREL), and
instruction-trajectory matching (ITM).
Reference: Chen et al. 2021, History Aware Multimodal Transformer for Vision-and-Language Navigation, section 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, kl_div, mse_loss

from itinera.policies.base import select_rows
from itinera.policies.hamt import HAMT, HAMTState, raw_steps
from itinera.policies.hamt_pretraining import HAMTForPretraining
from itinera.policies.observation import GEOMETRY_DIM, BatchObservation
from itinera.policies.tokenizer import FIRST_WORD
from itinera.training.dataset import Batch, BatchSampler
from itinera.training.rollout import draw_uniform
from itinera.training.trainer import LossFn
from itinera.training.vector_env import BatchedGraphEnv, EnvState

MASK_PROBABILITY = 0.15  # of words (MLM) and of history steps (MRC)
REPLACE_PROBABILITY, KEEP_PROBABILITY = 0.1, 0.1  # of masked words, that become another word, or stay
DROP_FEATURES_PROBABILITY = 0.3  # that an observation has only geometry
DROP_GEOMETRY_PROBABILITY = 0.43  # otherwise, that it has no geometry
NEGATIVES = 2  # other paths of the batch in ITM, and as many with their steps in another order


@dataclass(frozen=True, eq=False)
class PathPrefix:
    """The first moves of the reference paths of a batch, as observed along them."""

    raw: Tensor  # (batch, steps, …) raw history features
    mask: Tensor  # (batch, steps)
    env_state: EnvState  # at the end
    observation: BatchObservation  # at the end


def observe_prefix(policy: HAMT, env: BatchedGraphEnv, batch: Batch, moves: Tensor) -> PathPrefix:
    """The first `moves` (batch,) moves of the reference paths."""
    env_state = env.reset(batch.start, batch.view)
    observation = env.observe(env_state)
    raw, mask = [], []
    for k in range(int(moves.max())):
        target = batch.path[:, min(k + 1, batch.path.shape[1] - 1)]
        action = torch.where(k < moves, env.neighbor_action(env_state.node, target), 0).clamp_min(0)
        place = policy.raw_place(observation)
        env_state = env.step_movers(env_state, observation, action)
        observation = env.observe(env_state)
        raw.append(raw_steps(place, observation))
        mask.append(action > 0)
    if not raw:
        width = raw_steps(policy.raw_place(observation), observation).shape[1]
        device = env.device
        empty = (
            torch.zeros(batch.size, 0, width, device=device),
            torch.zeros(batch.size, 0, dtype=torch.bool, device=device),
        )
        return PathPrefix(*empty, env_state, observation)
    return PathPrefix(torch.stack(raw, dim=1), torch.stack(mask, dim=1), env_state, observation)


def add_history(policy: HAMT, state: HAMTState, prefix: PathPrefix, positions: Tensor | None = None) -> HAMTState:
    """The state with a prefix as history; `positions` (batch, steps) are the step numbers, by default in order."""
    if positions is None:
        positions = torch.arange(prefix.mask.shape[1], device=prefix.mask.device).expand(prefix.mask.shape)
    tokens = policy.history_tokens(prefix.raw.flatten(0, 1), positions.reshape(-1), state.embeddings)
    history = tokens.reshape(*prefix.mask.shape, tokens.shape[1])
    return replace(state, history=history, history_mask=prefix.mask, moves=prefix.mask.sum(dim=1))


ProxyTask: TypeAlias = Callable[[HAMTForPretraining, BatchedGraphEnv, Batch, torch.Generator], Tensor]
"""The loss of a batch."""


def masked_language_modeling(
    model: HAMTForPretraining, env: BatchedGraphEnv, batch: Batch, rng: torch.Generator
) -> Tensor:
    """MLM: cross-entropy of words that are masked, replaced or kept, given the whole path."""
    policy = model.policy
    is_word = torch.arange(batch.words.shape[1], device=env.device) < batch.lengths[:, None]
    selected = is_word & (draw_uniform(batch.words.shape, rng, env.device) < MASK_PROBABILITY)
    draw = draw_uniform(batch.words.shape, rng, env.device)
    num_words = max(FIRST_WORD + 1, len(model.mlm_bias))
    others = torch.randint(FIRST_WORD, num_words, batch.words.shape, generator=rng, device=rng.device).to(env.device)
    words = torch.where(selected & (draw < REPLACE_PROBABILITY), others, batch.words)
    masked = selected & (draw >= REPLACE_PROBABILITY + KEEP_PROBABILITY)
    embedded = torch.where(masked[:, :, None], model.mask_token, policy.embedding(words))
    prefix = observe_prefix(policy, env, batch, batch.path_lengths - 1)
    state = add_history(policy, policy.encode_embedded(embedded, batch.lengths), prefix)
    tokens, _ = policy.cross_attend_both(state, *policy.assemble_tokens(state, None))
    if not bool(selected.any()):
        return tokens.sum() * 0
    return cross_entropy(model.word_logits(tokens[:, 1:][selected]), batch.words[selected])


def masked_region_classification(
    model: HAMTForPretraining, env: BatchedGraphEnv, batch: Batch, rng: torch.Generator
) -> Tensor:
    """MRC: KL divergence of the predicted from the observed feature distribution at masked history steps."""
    policy, n = model.policy, model.policy.num_features
    prefix = observe_prefix(policy, env, batch, batch.path_lengths - 1)
    features = prefix.raw[:, :, :n].clamp_min(0)
    masked = prefix.mask & (draw_uniform(prefix.mask.shape, rng, env.device) < MASK_PROBABILITY)
    masked = masked & (features.sum(dim=2) > 0)
    if not bool(masked.any()):
        return model.mask_token.sum() * 0
    # All features are masked, those of the panorama and of the chosen candidate too; its geometry is not.
    raw = torch.where(masked[:, :, None], 0.0, prefix.raw)
    raw[:, :, -GEOMETRY_DIM:] = prefix.raw[:, :, -GEOMETRY_DIM:]
    state = add_history(policy, policy.encode_instruction(batch.words, batch.lengths), replace(prefix, raw=raw))
    rows, packing, _ = policy.assemble_tokens(state, None)
    _, rows = policy.cross_attend(state, rows, packing, packing)
    predicted = model.mrc_head(rows[batch.size :][masked[prefix.mask]]).log_softmax(dim=1)
    observed = features[masked] / features[masked].sum(dim=1, keepdim=True)
    return kl_div(predicted, observed, reduction="batchmean")


def single_step_action_prediction(
    model: HAMTForPretraining, env: BatchedGraphEnv, batch: Batch, rng: torch.Generator
) -> Tensor:
    """SAP: cross-entropy of the next action of the reference path after a random prefix."""
    state, prefix, action = _sample_prefix(model.policy, env, batch, rng)
    return cross_entropy(model.policy.predict(state, _drop_modality(prefix.observation, rng)).logits, action)


def single_step_action_regression(
    model: HAMTForPretraining, env: BatchedGraphEnv, batch: Batch, rng: torch.Generator
) -> Tensor:
    """SAR: squared error of the heading and elevation of that action, radians, and of the progress along the path."""
    state, prefix, action = _sample_prefix(model.policy, env, batch, rng)
    tokens = model.policy.fuse(state, _drop_modality(prefix.observation, rng))
    row = prefix.observation.padded_index.gather(1, (action - 1).clamp_min(0)[:, None]).squeeze(1)
    angles = torch.where(action[:, None] > 0, _candidate_angles(prefix.observation)[row], 0.0)
    length = env.distance(batch.start, batch.goal)
    progress = 1 - env.distance(prefix.env_state.node, batch.goal) / length.clamp_min(1e-6)
    return mse_loss(model.sar_head(tokens.summary), torch.cat([angles, progress[:, None]], dim=1))


def spatial_relationship_prediction(
    model: HAMTForPretraining, env: BatchedGraphEnv, batch: Batch, rng: torch.Generator
) -> Tensor:
    """SPREL: squared error of heading and elevation, radians, from a random candidate to each candidate."""
    state, prefix, _ = _sample_prefix(model.policy, env, batch, rng)
    observation = prefix.observation
    candidates = model.policy.fuse(state, _drop_modality(observation, rng)).candidates
    counts = observation.mask.sum(dim=1)
    owner_index = torch.repeat_interleave(torch.arange(len(counts), device=env.device), counts)
    drawn = (draw_uniform((len(counts),), rng, env.device) * counts).long()
    anchor = observation.padded_index.gather(1, drawn[:, None]).squeeze(1).clamp_max(len(candidates) - 1)[owner_index]
    angles = _candidate_angles(observation)
    relative = angles - angles[anchor]
    relative = (relative + torch.pi) % (2 * torch.pi) - torch.pi
    return mse_loss(model.sprel_head(torch.cat([candidates[anchor], candidates], dim=1)), relative)


def instruction_trajectory_matching(
    model: HAMTForPretraining, env: BatchedGraphEnv, batch: Batch, rng: torch.Generator
) -> Tensor:
    """ITM: cross-entropy of the described path among four negatives: two of the batch, two with shuffled steps."""
    policy, n = model.policy, batch.size
    prefix = observe_prefix(policy, env, batch, batch.path_lengths - 1)
    text = policy.encode_instruction(batch.words, batch.lengths)
    positive = add_history(policy, text, prefix)
    states = [positive]
    for k in range(1, NEGATIVES + 1):
        other = torch.arange(n, device=env.device).roll(k)
        states.append(replace(positive, history=positive.history[other], history_mask=positive.history_mask[other]))
    for _ in range(NEGATIVES):
        drawn = draw_uniform(prefix.mask.shape, rng, env.device).masked_fill(~prefix.mask, 2.0)
        states.append(add_history(policy, text, prefix, drawn.argsort(dim=1).argsort(dim=1)))
    joint = select_rows(positive, torch.arange(n, device=env.device).repeat(len(states)))
    joint = replace(
        joint,
        history=torch.cat([state.history for state in states]),
        history_mask=torch.cat([state.history_mask for state in states]),
    )
    words, summary = policy.cross_attend(joint, *policy.assemble_tokens(joint, None))
    summary = summary * words[:, 0] if policy.config.text_attends else summary
    scores = model.itm_head(summary).reshape(len(states), n).T
    return cross_entropy(scores, torch.zeros(n, dtype=torch.int64, device=env.device))


def _sample_prefix(
    policy: HAMT, env: BatchedGraphEnv, batch: Batch, rng: torch.Generator
) -> tuple[HAMTState, PathPrefix, Tensor]:
    """The state after a random prefix of each path, the prefix, and the next action of the path."""
    moves = (draw_uniform((batch.size,), rng, env.device) * batch.path_lengths).long()
    prefix = observe_prefix(policy, env, batch, moves)
    state = add_history(policy, policy.encode_instruction(batch.words, batch.lengths), prefix)
    target = batch.path.gather(1, torch.minimum(moves + 1, batch.path_lengths - 1)[:, None]).squeeze(1)
    onward = env.neighbor_action(prefix.env_state.node, target)
    action = torch.where(moves < batch.path_lengths - 1, onward, 0)
    return state, prefix, action.clamp_min(0)


def _drop_modality(observation: BatchObservation, rng: torch.Generator) -> BatchObservation:
    """The observation, sometimes without features, sometimes without geometry."""
    drop_features, drop_geometry = draw_uniform((2,), rng, rng.device).tolist()
    if drop_features < DROP_FEATURES_PROBABILITY:
        panorama = None if observation.panorama is None else torch.zeros_like(observation.panorama)
        return replace(
            observation,
            candidates=torch.zeros_like(observation.candidates),
            place=torch.zeros_like(observation.place),
            panorama=panorama,
        )
    if drop_geometry < DROP_GEOMETRY_PROBABILITY:
        return replace(observation, geometry=torch.zeros_like(observation.geometry))
    return observation


def _candidate_angles(observation: BatchObservation) -> Tensor:
    """(rows, 2) relative heading and elevation of the candidates, radians."""
    g = observation.geometry
    return torch.stack([torch.atan2(g[:, 0], g[:, 1]), torch.atan2(g[:, 2], g[:, 3])], dim=1)


TASK_RATIOS: Mapping[ProxyTask, int] = {
    masked_language_modeling: 5,
    single_step_action_prediction: 1,
    single_step_action_regression: 1,
    spatial_relationship_prediction: 1,
    masked_region_classification: 2,
    instruction_trajectory_matching: 2,
}
"""Relative frequencies of the tasks, as in the paper."""


def pretraining_objective(
    model: HAMTForPretraining,
    env: BatchedGraphEnv,
    batches: BatchSampler,
    ratios: Mapping[ProxyTask, int] = TASK_RATIOS,
) -> LossFn:
    """The loss of one proxy task, drawn by the ratios, on the k-th batch."""
    tasks, frequencies = list(ratios), torch.tensor(list(ratios.values()), dtype=torch.float32, device="cpu")

    def loss_fn(step: int, rng: torch.Generator) -> Tensor:
        task = tasks[int(torch.multinomial(frequencies, 1, generator=rng))]
        return task(model, env, batches[step], rng)

    return loss_fn
