"""Training speakers, and generating instructions for unlabeled paths.

Back-translation (Tan et al. 2019): `sample_unlabeled_paths` draws paths, a speaker describes them in an environment
with dropped features, and a listener learns from them in the same one (`back_translation_objective`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from itinera.errors import BadArgument
from itinera.policies.encoders import sample_environment
from itinera.policies.envdrop import EnvDrop, EnvDropInEnvironment
from itinera.policies.speaker import ObservedPaths, Speaker
from itinera.policies.tokenizer import Tokenizer
from itinera.rendering.panorama import TURNS, VIEW_HEADINGS
from itinera.seeding import generator
from itinera.tasks import Episode, Instruction
from itinera.training.dataset import Batch, BatchSampler, EpisodeDataset
from itinera.training.experts import Expert, shortest_path_expert
from itinera.training.losses import imitation_loss
from itinera.training.rollout import collect_rollout, draw_uniform, mixed_forcing, sample
from itinera.training.trainer import LossFn
from itinera.training.vector_env import BatchedGraphEnv
from itinera.worlds import Pose

BATCH_SIZE = 256  # paths


def observe_paths(env: BatchedGraphEnv, path: Tensor, counts: Tensor, view: Tensor) -> ObservedPaths:
    """The observations along paths (paths, max nodes), `counts` (paths,) nodes of each, starting at these views."""
    is_node = torch.arange(path.shape[1], device=path.device) < counts[:, None]
    owner_index, moves = is_node.nonzero(as_tuple=True)
    node, is_last = path[is_node], moves == counts[owner_index] - 1
    action = torch.where(is_last, 0, env.neighbor_action(node, path.roll(-1, dims=1)[is_node]))
    if bool((action < 0).any()):
        raise BadArgument("Two consecutive nodes of a path are not adjacent, so there is no action between them.")
    arrived = (moves > 0).nonzero().squeeze(1)  # places reached by a move; the preceding row is where it began
    edge = env.first_edge[node[arrived - 1]] + action[arrived - 1] - 1
    visited = torch.where(torch.arange(path.shape[1], device=path.device) < moves[:, None], path[owner_index], -1)
    state = replace(
        env.reset(node, view[owner_index].index_copy(0, arrived, env.edge_view[edge])),
        previous_node=torch.full_like(node, -1).index_copy(0, arrived, node[arrived - 1]),
        visited=visited,
        moves=moves,
    )
    observation = env.observe(state)
    row = observation.padded_index[arrived - 1, action[arrived - 1] - 1]
    observation = replace(
        observation,
        previous=state.previous.index_copy(0, arrived, observation.candidates[row]),
        previous_geometry=state.previous_geometry.index_copy(0, arrived, observation.geometry[row]),
    )
    return ObservedPaths(observation, action, counts)


def observe_references(env: BatchedGraphEnv, batch: Batch) -> ObservedPaths:
    """The observations along the reference paths of a batch."""
    return observe_paths(env, batch.path, batch.path_lengths, batch.view)


def speaker_objective(speaker: Speaker, env: BatchedGraphEnv, batches: BatchSampler) -> LossFn:
    """Cross-entropy of the instructions given their reference paths, mean over words."""

    def loss_fn(step: int, rng: torch.Generator) -> Tensor:
        batch = batches[step]
        state = speaker.encode_paths(observe_references(env, batch))
        losses = speaker.word_losses(state, batch.words, batch.lengths)
        return losses.sum() / (batch.lengths.sum() + batch.size)

    return loss_fn


@torch.no_grad()
def relabel_batch(
    speaker: Speaker,
    env: BatchedGraphEnv,
    batch: Batch,
    *,
    environment: Tensor | None = None,
    max_words: int = 80,
    rng: torch.Generator | None = None,
) -> Batch:
    """The batch with generated instructions in place of its own.

    `environment` is a sample of `sample_environment`; `rng` samples words instead of decoding greedily.
    """
    training = speaker.training
    speaker.eval()
    state = speaker.encode_paths(observe_references(env, batch), environment=environment)
    words, lengths = speaker.generate(state, max_words=max_words, rng=rng)
    speaker.train(training)
    return replace(batch, words=words, lengths=lengths)


def back_translation_objective(
    listener: EnvDrop,
    speaker: Speaker,
    env: BatchedGraphEnv,
    batches: BatchSampler,
    *,
    max_steps: int,
    env_dropout: float = 0.4,
    teacher_forcing_ratio: float = 0.5,
    expert: Expert = shortest_path_expert,
) -> LossFn:
    """Imitation learning on instructions generated for unlabeled paths (`sample_unlabeled_paths`).

    Speaker and listener share one environment with dropped features, another at each step, and must share one
    vocabulary.
    """
    if speaker.embedding.num_embeddings != listener.text_encoder.embedding.num_embeddings:
        raise BadArgument("The speaker and the listener have different vocabularies. Build both with one tokenizer.")

    def loss_fn(step: int, rng: torch.Generator) -> Tensor:
        environment = sample_environment(env.num_features, env_dropout, rng).to(env.device)
        batch = relabel_batch(speaker, env, batches[step], environment=environment)
        forced = draw_uniform((batch.size,), rng, env.device) < teacher_forcing_ratio
        rollout = collect_rollout(
            EnvDropInEnvironment(listener, environment),
            env,
            batch,
            select_action=mixed_forcing(forced, sample(rng)),
            expert=expert,
            max_steps=max_steps,
        )
        return imitation_loss(rollout)

    return loss_fn


def sample_unlabeled_paths(
    env: BatchedGraphEnv,
    worlds: Collection[str],
    count: int,
    *,
    seed: int,
    nodes: tuple[int, int] = (4, 7),
    min_length: float = 5.0,
) -> list[Episode]:
    """`count` different episodes without instructions: shortest paths of these worlds, drawn uniformly from those with
    a number of nodes in the range `nodes` and at least `min_length` metres; fewer if there are not as many."""
    paths, lengths = _enumerate_shortest_paths(env, _nodes_by_world(env, worlds), nodes, min_length)
    rng = generator(seed, "undescribed")
    drawn = rng.permutation(len(paths))[:count]
    turns = rng.integers(0, TURNS, len(drawn))
    world_ids = {number: world_id for (world_id, _), number in env.node_index.items()}
    return [
        _make_episode(f"undescribed-{k}", world_ids, env, paths[row, : lengths[row]].tolist(), int(turn))
        for k, (row, turn) in enumerate(zip(drawn, turns, strict=True))
    ]


def _make_episode(
    name: str, world_ids: dict[int, str], env: BatchedGraphEnv, path: Sequence[int], turn: int
) -> Episode:
    places = [env.nodes[node] for node in path]
    start = Pose(places[0], float(VIEW_HEADINGS[TURNS + turn]))
    return Episode(name, world_ids[path[0]], start, places[-1:], places, Instruction(""), path_id=name)


def _nodes_by_world(env: BatchedGraphEnv, worlds: Collection[str]) -> list[Tensor]:
    """The node numbers of each of the worlds, in the order of the environment."""
    unknown = sorted(set(worlds) - set(env.worlds))
    if unknown:
        raise BadArgument(f"World {unknown[0]} is not in the environment. Build the environment with all worlds used.")
    nodes = {world_id: list[int]() for world_id in env.worlds if world_id in worlds}
    for (world_id, _), number in env.node_index.items():
        if world_id in nodes:
            nodes[world_id].append(number)
    return [torch.tensor(numbers, device=env.device) for numbers in nodes.values()]


def _enumerate_shortest_paths(
    env: BatchedGraphEnv, worlds: Sequence[Tensor], nodes: tuple[int, int], min_length: float
) -> tuple[np.ndarray, np.ndarray]:
    """All of them (paths, max nodes), padded with the goal, and the number of nodes of each."""
    tables, counts = [np.zeros((0, nodes[1]), np.int64)], [np.zeros(0, np.int64)]
    for numbers in worlds:
        pairs = torch.cartesian_prod(numbers, numbers)
        lengths = env.distance(pairs[:, 0], pairs[:, 1])
        start, goal = pairs[(lengths >= min_length) & lengths.isfinite()].unbind(1)
        path = [start]
        for _ in range(nodes[1] - 1):
            action = env.shortest_path_action(path[-1], goal)
            edge = (env.first_edge[path[-1]] + action - 1).clamp_min(0)
            path.append(torch.where(action == 0, goal, env.edge_target[edge]))
        table = torch.stack(path, dim=1)
        count = 1 + (table != goal[:, None]).sum(dim=1)
        in_range = (table[:, -1] == goal) & (count >= nodes[0])
        tables.append(table[in_range].numpy(force=True))
        counts.append(count[in_range].numpy(force=True))
    return np.concatenate(tables), np.concatenate(counts)


def relabel_episodes(
    speaker: Speaker,
    env: BatchedGraphEnv,
    dataset: EpisodeDataset,
    tokenizer: Tokenizer,
    *,
    max_words: int = 80,
    rng: torch.Generator | None = None,
) -> list[Episode]:
    """The episodes of a dataset with generated instructions, in their order."""
    texts: list[str] = []
    for first in range(0, len(dataset), BATCH_SIZE):
        batch = dataset.batch(range(first, min(first + BATCH_SIZE, len(dataset))))
        batch = relabel_batch(speaker, env, batch, max_words=max_words, rng=rng)
        texts += [tokenizer.decode(words) for words in batch.words.tolist()]
    return [
        replace(episode, instruction=Instruction(text)) for episode, text in zip(dataset.episodes, texts, strict=True)
    ]
