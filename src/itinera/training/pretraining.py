"""Proxy tasks: what HAMT learns from paths and their words before it walks. Start with `proxy_lesson`.

A batch does one task, drawn by the ratios of the paper: guess hidden words (MLM) and what was seen at steps where it is
hidden (MRC), say which way the path goes on (SAP), by what angle and how far along it one is (SAR), how ways lie to one
another (SPREL), and which of five walks the words tell of (ITM).
Reference: Chen et al. 2021, History Aware Multimodal Transformer for Vision-and-Language Navigation, section 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, kl_div, mse_loss

from itinera.policies.base import take
from itinera.policies.hamt import HAMT, State, raw_steps
from itinera.policies.hamt_pretraining import Proxies
from itinera.policies.observation import Seen
from itinera.policies.tokenizer import FIRST
from itinera.training.dataset import Batch, Shuffle
from itinera.training.tours import moved_on
from itinera.training.trainer import Chance, Lesson
from itinera.training.vector_env import Atlas, Walkers

HIDDEN = 0.15  # the share of words, or of steps, to be guessed
REPLACED, LEFT = 0.1, 0.1  # of those words, the shares that become another word, or stay
BLIND = 0.3  # how often nothing is seen but where ways lead
LOST = 0.43  # how often, otherwise, it is not told where they lead
FALSE = 2  # other walks of the batch, and as many with their steps in another order, among which the true one is found


@dataclass(frozen=True, eq=False)
class Trail:
    """Paths walked for so many moves, as they were seen."""

    raw: Tensor  # (walkers, steps, …) the steps
    there: Tensor  # (walkers, steps) whether there was such a step
    at: Walkers
    seen: Seen  # at its end


def trail(policy: HAMT, atlas: Atlas, batch: Batch, moves: Tensor) -> Trail:
    """What is seen along the first so many moves (walkers,) of the paths of a batch."""
    at = atlas.put(batch.start, batch.view)
    seen = atlas.look(at)
    raw, there = [], []
    for k in range(int(moves.max())):
        onward = batch.path[:, min(k + 1, batch.path.shape[1] - 1)]
        action = torch.where(k < moves, atlas.action_along(at.node, onward), 0).clamp_min(0)
        faced = policy.as_seen(seen)
        at = moved_on(atlas, at, seen, action)
        seen = atlas.look(at)
        raw.append(raw_steps(faced, seen))
        there.append(action > 0)
    if not raw:
        width = raw_steps(policy.as_seen(seen), seen).shape[1]
        return Trail(torch.zeros(batch.walkers, 0, width), torch.zeros(batch.walkers, 0, dtype=torch.bool), at, seen)
    return Trail(torch.stack(raw, dim=1), torch.stack(there, dim=1), at, seen)


def behind(policy: HAMT, state: State, walked: Trail, places: Tensor | None = None) -> State:
    """What is kept in mind with a trail behind; `places` (walkers, steps) are the steps' numbers, if not in order."""
    if places is None:
        places = torch.arange(walked.there.shape[1]).expand(walked.there.shape)
    tokens = policy.step_tokens(walked.raw.flatten(0, 1), places.reshape(-1), state.meanings)
    history = tokens.reshape(*walked.there.shape, tokens.shape[1])
    return replace(state, history=history, there=walked.there, moves=walked.there.sum(dim=1))


Task: TypeAlias = Callable[[Proxies, Atlas, Batch, torch.Generator], Tensor]
"""The loss of a batch."""


def hidden_words(proxies: Proxies, atlas: Atlas, batch: Batch, rng: torch.Generator) -> Tensor:
    """MLM: cross-entropy of words that are hidden, changed or left, the whole walk known."""
    policy = proxies.policy
    real = torch.arange(batch.words.shape[1]) < batch.lengths[:, None]
    chosen = real & (torch.rand(batch.words.shape, generator=rng) < HIDDEN)
    fate = torch.rand(batch.words.shape, generator=rng)
    others = torch.randint(FIRST, max(FIRST + 1, len(proxies.usual)), batch.words.shape, generator=rng)
    words = torch.where(chosen & (fate < REPLACED), others, batch.words)
    hidden = chosen & (fate >= REPLACED + LEFT)
    embedded = torch.where(hidden[:, :, None], proxies.hidden, policy.embedding(words))
    walked = trail(policy, atlas, batch, batch.path_lengths - 1)
    state = behind(policy, policy.heard(embedded, batch.lengths), walked)
    tokens, _ = policy.both_met(state, *policy.gathered(state, None))
    if not bool(chosen.any()):
        return tokens.sum() * 0
    return cross_entropy(proxies.words(tokens[:, 1:][chosen]), batch.words[chosen])


def hidden_sights(proxies: Proxies, atlas: Atlas, batch: Batch, rng: torch.Generator) -> Tensor:
    """MRC: how far what is imagined at hidden steps is from what was seen there, by the share of each feature."""
    policy, n = proxies.policy, proxies.policy.features
    walked = trail(policy, atlas, batch, batch.path_lengths - 1)
    seen = walked.raw[:, :, :n].clamp_min(0)
    chosen = walked.there & (torch.rand(walked.there.shape, generator=rng) < HIDDEN) & (seen.sum(dim=2) > 0)
    if not bool(chosen.any()):
        return proxies.hidden.sum() * 0
    # What was seen is hidden, all views and the way taken too; where the way led is not.
    raw = torch.where(chosen[:, :, None], 0.0, walked.raw)
    raw[:, :, -_told(walked) :] = walked.raw[:, :, -_told(walked) :]
    state = behind(policy, policy.read(batch.words, batch.lengths), replace(walked, raw=raw))
    rows, packing, _ = policy.gathered(state, None)
    _, rows = policy.met(state, rows, packing, packing)
    imagined = proxies.imagine(rows[batch.walkers :][chosen[walked.there]]).log_softmax(dim=1)
    shares = seen[chosen] / seen[chosen].sum(dim=1, keepdim=True)
    return kl_div(imagined, shares, reduction="batchmean")


def _told(walked: Trail) -> int:
    return walked.seen.taken_geometry.shape[1]


def next_action(proxies: Proxies, atlas: Atlas, batch: Batch, rng: torch.Generator) -> Tensor:
    """SAP: cross-entropy of the way the path goes on, or STOP at its end, after some of its moves."""
    state, walked, taught = _part_way(proxies.policy, atlas, batch, rng)
    return cross_entropy(proxies.policy.weigh(state, _half_seen(walked.seen, rng)).logits, taught)


def next_angle(proxies: Proxies, atlas: Atlas, batch: Batch, rng: torch.Generator) -> Tensor:
    """SAR: squared error of the heading and elevation of that way, radians, and of the share of the path behind."""
    state, walked, taught = _part_way(proxies.policy, atlas, batch, rng)
    found = proxies.policy.looked(state, _half_seen(walked.seen, rng))
    way = walked.seen.slots.gather(1, (taught - 1).clamp_min(0)[:, None]).squeeze(1)
    angles = torch.where(taught[:, None] > 0, _angles(walked.seen)[way], 0.0)
    far = atlas.distance(batch.start, batch.goal)
    progress = 1 - atlas.distance(walked.at.node, batch.goal) / far.clamp_min(1e-6)
    return mse_loss(proxies.turn(found.summary), torch.cat([angles, progress[:, None]], dim=1))


def lie_of_ways(proxies: Proxies, atlas: Atlas, batch: Batch, rng: torch.Generator) -> Tensor:
    """SPREL: squared error of heading and elevation, radians, from one of the ways on to each of them."""
    state, walked, _ = _part_way(proxies.policy, atlas, batch, rng)
    candidates = proxies.policy.looked(state, _half_seen(walked.seen, rng)).candidates
    counts = walked.seen.open.sum(dim=1)
    who = torch.repeat_interleave(torch.arange(len(counts)), counts)
    drawn = (torch.rand(len(counts), generator=rng) * counts).long()
    anchor = walked.seen.slots.gather(1, drawn[:, None]).squeeze(1).clamp_max(len(candidates) - 1)[who]
    angles = _angles(walked.seen)
    apart = angles - angles[anchor]
    apart = (apart + torch.pi) % (2 * torch.pi) - torch.pi
    return mse_loss(proxies.apart(torch.cat([candidates[anchor], candidates], dim=1)), apart)


def told_walk(proxies: Proxies, atlas: Atlas, batch: Batch, rng: torch.Generator) -> Tensor:
    """ITM: cross-entropy of the walk the words tell of, among four others: two of the batch, two in another order."""
    policy, n = proxies.policy, batch.walkers
    walked = trail(policy, atlas, batch, batch.path_lengths - 1)
    read = policy.read(batch.words, batch.lengths)
    own = behind(policy, read, walked)
    states = [own]
    for k in range(1, FALSE + 1):
        other = torch.arange(n).roll(k)
        states.append(replace(own, history=own.history[other], there=own.there[other]))
    for _ in range(FALSE):
        drawn = torch.rand(walked.there.shape, generator=rng).masked_fill(~walked.there, 2.0)
        states.append(behind(policy, read, walked, drawn.argsort(dim=1).argsort(dim=1)))
    everyone = take(own, torch.arange(n).repeat(len(states)))
    everyone = replace(
        everyone,
        history=torch.cat([state.history for state in states]),
        there=torch.cat([state.there for state in states]),
    )
    words, summary = policy.met(everyone, *policy.gathered(everyone, None))
    summary = summary * words[:, 0] if policy.sizes.words_look else summary
    scores = proxies.fit(summary).reshape(len(states), n).T
    return cross_entropy(scores, torch.zeros(n, dtype=torch.int64))


def _part_way(policy: HAMT, atlas: Atlas, batch: Batch, rng: torch.Generator) -> tuple[State, Trail, Tensor]:
    """Walkers somewhere on their paths, and the action that leads on along them."""
    moves = (torch.rand(batch.walkers, generator=rng) * batch.path_lengths).long()
    walked = trail(policy, atlas, batch, moves)
    state = behind(policy, policy.read(batch.words, batch.lengths), walked)
    onward = batch.path.gather(1, torch.minimum(moves + 1, batch.path_lengths - 1)[:, None]).squeeze(1)
    taught = torch.where(moves < batch.path_lengths - 1, atlas.action_along(walked.at.node, onward), 0)
    return state, walked, taught.clamp_min(0)


def _half_seen(seen: Seen, rng: torch.Generator) -> Seen:
    """The same, now and then without what is seen, or without where it lies."""
    blind, lost = torch.rand(2, generator=rng).tolist()
    if blind < BLIND:
        around = None if seen.around is None else torch.zeros_like(seen.around)
        return replace(
            seen, candidates=torch.zeros_like(seen.candidates), here=torch.zeros_like(seen.here), around=around
        )
    return replace(seen, geometry=torch.zeros_like(seen.geometry)) if lost < LOST else seen


def _angles(seen: Seen) -> Tensor:
    """(rows, 2) heading and elevation of the ways, radians, seen from where one is turned to."""
    g = seen.geometry
    return torch.stack([torch.atan2(g[:, 0], g[:, 1]), torch.atan2(g[:, 2], g[:, 3])], dim=1)


RATIOS: Mapping[Task, int] = {
    hidden_words: 5,
    next_action: 1,
    next_angle: 1,
    lie_of_ways: 1,
    hidden_sights: 2,
    told_walk: 2,
}
"""How often each task is done, as in the paper."""


def proxy_lesson(proxies: Proxies, atlas: Atlas, batches: Shuffle, ratios: Mapping[Task, int] = RATIOS) -> Lesson:
    """What `train` asks for: the loss of one of the tasks, drawn by the ratios, on the k-th batch."""
    tasks, often = list(ratios), torch.tensor(list(ratios.values()), dtype=torch.float32)

    def lesson(step: int, chance: Chance) -> Tensor:
        task = tasks[int(torch.multinomial(often, 1, generator=chance.rng))]
        return task(proxies, atlas, batches[step], chance.rng)

    return lesson
