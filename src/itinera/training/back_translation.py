"""Speakers at work: paths as they see them, learning to tell them, and texts for paths that nobody described.

Back-translation (Tan et al. 2019): `undescribed` draws paths, a speaker tells them in an environment that lacks some
features, and a listener learns from them in the same (`back_translation`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from itinera.errors import BadArgument
from itinera.policies.envdrop import EnvDrop, Within
from itinera.policies.features import environment
from itinera.policies.speaker import Route, Speaker
from itinera.policies.tokenizer import Vocabulary
from itinera.rendering.panorama import TURNS, VIEW_HEADINGS
from itinera.seeding import generator
from itinera.tasks import Episode, Instruction
from itinera.training.dataset import Batch, Lessons, Shuffle
from itinera.training.experts import Teacher, to_goal
from itinera.training.losses import cloning
from itinera.training.rollout import Mixed, roll_out
from itinera.training.trainer import Chance, Lesson
from itinera.training.vector_env import Atlas
from itinera.worlds import Pose

AT_ONCE = 256  # paths


def route_of(atlas: Atlas, path: Tensor, counts: Tensor, view: Tensor) -> Route:
    """What is seen along paths (paths, longest), so many nodes of each, by who is first turned to these views."""
    walked = torch.arange(path.shape[1]) < counts[:, None]
    who, when = walked.nonzero(as_tuple=True)
    node, last = path[walked], when == counts[who] - 1
    action = torch.where(last, 0, atlas.action_along(node, path.roll(-1, dims=1)[walked]))
    if bool((action < 0).any()):
        raise BadArgument("A path goes from a node to one that is not next to it, so no way can be told.")
    moved = (when > 0).nonzero().squeeze(1)  # places that were come to, each behind the one it was come from
    way = atlas.first[node[moved - 1]] + action[moved - 1] - 1
    visited = torch.where(torch.arange(path.shape[1]) < when[:, None], path[who], -1)
    at = replace(
        atlas.put(node, view[who].index_copy(0, moved, atlas.view[way])),
        before=torch.full_like(node, -1).index_copy(0, moved, node[moved - 1]),
        visited=visited,
        moves=when,
    )
    seen = atlas.look(at)
    row = seen.slots[moved - 1, action[moved - 1] - 1]
    seen = replace(
        seen,
        taken=at.taken.index_copy(0, moved, seen.candidates[row]),
        taken_geometry=at.taken_geometry.index_copy(0, moved, seen.geometry[row]),
    )
    return Route(seen, action, counts)


def along_batch(atlas: Atlas, batch: Batch) -> Route:
    """The references of a batch as a speaker sees them."""
    return route_of(atlas, batch.path, batch.path_lengths, batch.view)


def telling(speaker: Speaker, atlas: Atlas, batches: Shuffle) -> Lesson:
    """Tell the paths of lessons in the words of their instructions: cross-entropy, mean over words."""

    def lesson(step: int, chance: Chance) -> Tensor:
        batch = batches[step]
        surprise = speaker.surprise(speaker.remember(along_batch(atlas, batch)), batch.words, batch.lengths)
        return surprise.sum() / (batch.lengths.sum() + batch.walkers)

    return lesson


@torch.no_grad()
def told(
    speaker: Speaker,
    atlas: Atlas,
    batch: Batch,
    *,
    kept: Tensor | None = None,
    most: int = 80,
    rng: torch.Generator | None = None,
) -> Batch:
    """The same paths with the speaker's words in place of those they had.

    `kept` is the environment, `rng` draws words by chance in place of the likeliest.
    """
    training = speaker.training
    speaker.eval()
    memory = speaker.remember(along_batch(atlas, batch), kept=kept)
    words, lengths = speaker.describe(memory, most=most, rng=rng)
    speaker.train(training)
    return replace(batch, words=words, lengths=lengths)


def back_translation(
    listener: EnvDrop,
    speaker: Speaker,
    atlas: Atlas,
    batches: Shuffle,
    *,
    limit: int,
    lacking: float = 0.4,
    taught: float = 0.5,
    teacher: Teacher = to_goal,
) -> Lesson:
    """Follow what the speaker says of paths nobody described (`undescribed`), both in one environment that lacks a
    share of the features, another at each step. Both must have been made with one vocabulary."""
    if speaker.embedding.num_embeddings != listener.reader.embedding.num_embeddings:
        raise BadArgument("The speaker and the listener do not know the same words. Make both with one vocabulary.")

    def lesson(step: int, chance: Chance) -> Tensor:
        kept = environment(atlas.size, lacking, chance.rng)
        batch = told(speaker, atlas, batches[step], kept=kept)
        led = torch.rand(batch.walkers, generator=chance.rng) < taught
        choose = Mixed(led, chance.rng)
        return cloning(roll_out(Within(listener, kept), atlas, batch, choose=choose, teacher=teacher, limit=limit))

    return lesson


def undescribed(
    atlas: Atlas,
    worlds: Collection[str],
    count: int,
    *,
    seed: int,
    nodes: tuple[int, int] = (4, 7),
    least: float = 5.0,
) -> list[Episode]:
    """So many episodes without words: shortest paths of these worlds that have so many nodes and metres at least, all
    different, each as likely as any other; fewer where there are not as many."""
    paths, lengths = _shortest_paths(atlas, _numbers(atlas, worlds), nodes, least)
    rng = generator(seed, "undescribed")
    drawn = rng.permutation(len(paths))[:count]
    turns = rng.integers(0, TURNS, len(drawn))
    names = {number: world_id for (world_id, _), number in atlas.number.items()}
    return [
        _undescribed(f"undescribed-{k}", names, atlas, paths[row, : lengths[row]].tolist(), int(turn))
        for k, (row, turn) in enumerate(zip(drawn, turns, strict=True))
    ]


def _undescribed(name: str, worlds: dict[int, str], atlas: Atlas, path: Sequence[int], turn: int) -> Episode:
    places = [atlas.nodes[node] for node in path]
    start = Pose(places[0], float(VIEW_HEADINGS[TURNS + turn]))
    return Episode(name, worlds[path[0]], start, places[-1:], places, Instruction(""), path_id=name)


def _numbers(atlas: Atlas, worlds: Collection[str]) -> list[Tensor]:
    """The nodes of each of the worlds, in the order of the atlas."""
    unknown = sorted(set(worlds) - set(atlas.worlds))
    if unknown:
        raise BadArgument(f"World {unknown[0]} is not in the atlas. Make the atlas of all worlds that are walked.")
    of = {world_id: list[int]() for world_id in atlas.worlds if world_id in worlds}
    for (world_id, _), number in atlas.number.items():
        if world_id in of:
            of[world_id].append(number)
    return [torch.tensor(numbers) for numbers in of.values()]


def _shortest_paths(
    atlas: Atlas, worlds: Sequence[Tensor], nodes: tuple[int, int], least: float
) -> tuple[np.ndarray, np.ndarray]:
    """All of them (paths, most nodes), the goal repeated, and the nodes of each."""
    found, counts = [np.zeros((0, nodes[1]), np.int64)], [np.zeros(0, np.int64)]
    for numbers in worlds:
        pairs = torch.cartesian_prod(numbers, numbers)
        far = atlas.distance(pairs[:, 0], pairs[:, 1])
        start, goal = pairs[(far >= least) & far.isfinite()].unbind(1)
        path = [start]
        for _ in range(nodes[1] - 1):
            action = atlas.action_to(path[-1], goal)
            way = (atlas.first[path[-1]] + action - 1).clamp_min(0)
            path.append(torch.where(action == 0, goal, atlas.beyond[way]))
        table = torch.stack(path, dim=1)
        count = 1 + (table != goal[:, None]).sum(dim=1)
        kept = (table[:, -1] == goal) & (count >= nodes[0])
        found.append(table[kept].numpy())
        counts.append(count[kept].numpy())
    return np.concatenate(found), np.concatenate(counts)


def described(
    speaker: Speaker,
    atlas: Atlas,
    lessons: Lessons,
    vocabulary: Vocabulary,
    *,
    most: int = 80,
    rng: torch.Generator | None = None,
) -> list[Episode]:
    """The episodes of lessons with the speaker's words in place of those they had, in their order."""
    texts: list[str] = []
    for first in range(0, len(lessons), AT_ONCE):
        batch = lessons.batch(range(first, min(first + AT_ONCE, len(lessons))))
        texts += [vocabulary.decode(words) for words in told(speaker, atlas, batch, most=most, rng=rng).words.tolist()]
    return [
        replace(episode, instruction=Instruction(text)) for episode, text in zip(lessons.episodes, texts, strict=True)
    ]
