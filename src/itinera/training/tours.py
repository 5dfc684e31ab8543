"""Rollouts of tours in a batch: episodes one after another, with oracle guidance between them.

The phases are those of `itinera run --tours` (`runs/tour_loop.py`); a test compares both. Start with `collect_tours`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itinera.metrics.attempts import Attempts
from itinera.metrics.tours import TourGroups, tour_ndtw
from itinera.policies.base import TourPolicy, select_rows
from itinera.seeding import generator
from itinera.tasks import Split
from itinera.tasks.protocol import IVLN, Guidance
from itinera.training.dataset import Batch, EpisodeDataset
from itinera.training.evaluation import RADIUS, BatchedGraphSpace, EvaluationScores, compute_metrics, rollout_attempts
from itinera.training.experts import Expert, shortest_path_expert
from itinera.training.rollout import ActionSelector, BatchRollout, RolloutStep, greedy, teacher_forcing
from itinera.training.trainer import LossFn
from itinera.training.vector_env import BatchedGraphEnv, EnvState
from itinera.worlds import Array, Ragged

BATCH_SIZE = 64  # tours, in evaluation

EpisodeIndex = NDArray[np.int64]
"""Positions in a dataset of the episodes of a tour, in their order."""


@dataclass(frozen=True, eq=False)
class TourLeg:
    """The k-th episode of all tours that have one."""

    tours: Tensor  # (batch,) positions of their tours
    rollout: BatchRollout


def index_tours(split: Split, dataset: EpisodeDataset) -> list[EpisodeIndex]:
    """The tours of a split as positions in a dataset; without tours, every episode is a tour of its own."""
    position = {episode.id: k for k, episode in enumerate(dataset.episodes)}
    if not split.tours:
        return [np.array([k]) for k in range(len(dataset))]
    return [np.array([position[name] for name in tour.episode_ids]) for tour in split.tours]


class TourSampler:
    """Endless shuffled batches of tours; batch k depends only on the seed and k.

    Tours are cut into parts of at most `max_episodes` episodes, each of which starts without memory: 50 history steps
    are those of about eight episodes, so that nothing older would be remembered anyway.
    """

    def __init__(self, tours: Sequence[EpisodeIndex], batch_size: int, *, seed: int, max_episodes: int = 12) -> None:
        self.batch_size, self.seed = batch_size, seed
        self._parts = [part for tour in tours for part in np.array_split(tour, -(-len(tour) // max_episodes))]

    def __getitem__(self, k: int) -> list[EpisodeIndex]:
        epoch, at = divmod(k, len(self))
        order = generator(self.seed, "tours", str(epoch)).permutation(len(self._parts))
        return [self._parts[i] for i in order[at * self.batch_size : (at + 1) * self.batch_size]]

    def __len__(self) -> int:
        """The number of batches per epoch; an incomplete last batch is dropped."""
        return max(1, len(self._parts) // self.batch_size)


def collect_tours(
    policy: TourPolicy[Any],
    env: BatchedGraphEnv,
    dataset: EpisodeDataset,
    tours: Sequence[EpisodeIndex],
    *,
    select_action: ActionSelector,
    expert: Expert,
    max_steps: int,
    guidance: Guidance | None = IVLN.guidance,
) -> Iterator[TourLeg]:
    """The rollouts of a policy on a batch of tours, leg by leg, so that a loss can be computed after each.

    Policies keep raw features of earlier episodes, not computed tokens, so the graph of a leg does not grow.
    """
    state: Any = None
    active = torch.arange(len(tours), device=env.device)
    for k in range(max(map(len, tours))):
        batch = dataset.batch([int(tours[tour][k]) for tour in active.tolist()])
        if state is None:
            state = policy.encode_instruction(batch.words, batch.lengths)
        else:
            state = policy.update_instruction(state, batch.words, batch.lengths)
        rollout, state, env_state = _run_episode(policy, env, batch, state, select_action, expert, max_steps)
        yield TourLeg(active, rollout)
        left = [row for row, tour in enumerate(active.tolist()) if len(tours[tour]) > k + 1]
        remaining = torch.tensor(left, dtype=torch.int64, device=env.device)
        if not len(remaining):
            return
        active = active[remaining]
        state, env_state = select_rows(state, remaining), select_rows(env_state, remaining)
        if guidance is not None:
            following = dataset.start[[int(tours[tour][k + 1]) for tour in active.tolist()]]
            start = torch.from_numpy(following).to(env.device)
            unobserved = ~rollout.stopped[remaining]  # out of steps: the last place has not been observed yet
            state = guide(
                policy,
                env,
                state,
                env_state,
                unobserved=unobserved,
                goal=batch.goal[remaining],
                start=start,
                guidance=guidance,
            )


def _run_episode(
    policy: TourPolicy[Any],
    env: BatchedGraphEnv,
    batch: Batch,
    state: Any,
    select_action: ActionSelector,
    expert: Expert,
    max_steps: int,
) -> tuple[BatchRollout, Any, EnvState]:
    """The rollout of one episode per tour, and the states of the policy and the environment at its end."""
    env_state = env.reset(batch.start, batch.view)
    n = batch.size
    steps, places = list[RolloutStep](), [batch.start]
    moves = torch.zeros(n, dtype=torch.int64, device=env.device)
    stopped = torch.zeros(n, dtype=torch.bool, device=env.device)
    moving: Tensor | None = None
    for _ in range(max_steps):
        observation = env.observe(env_state)
        state = policy.observe(state, observation, moving)
        rows = torch.arange(n, device=env.device) if moving is None else moving.nonzero().squeeze(1)
        if len(rows) == n:
            active_state, active_env = state, env_state
            output = policy.predict(active_state, observation)
        else:
            active_state, active_env = select_rows(state, rows), select_rows(env_state, rows)
            output = policy.predict(active_state, env.observe(active_env))
        expert_action = expert(env, batch, active_env, rows)
        action = select_action(output, expert_action, rows)
        steps.append(RolloutStep(rows, active_env.node, output, expert_action, action))
        stopped[rows[action == 0]] = True
        actions = torch.zeros(n, dtype=torch.int64, device=env.device).index_copy(0, rows, action)
        moving = actions > 0
        if not bool(moving.any()):
            break
        env_state = env.step_movers(env_state, observation, actions)
        moves += moving
        places.append(env_state.node)
    return BatchRollout(batch, tuple(steps), torch.stack(places, dim=1), moves, stopped), state, env_state


@torch.no_grad()
def guide(
    policy: TourPolicy[Any],
    env: BatchedGraphEnv,
    state: Any,
    env_state: EnvState,
    *,
    unobserved: Tensor,
    goal: Tensor,
    start: Tensor,
    guidance: Guidance,
) -> Any:
    """The policy's state after the oracle phases: to the goal if it was missed, then to the next start.

    Agents that have not observed their last place, `unobserved` (batch,), observe it first. Then every place on the
    way is observed, and nothing else: an agent that stands on the next start is not guided. The released code then
    showed the whole path of the next episode, which gave its answer away. Among equally short paths the guidance of a
    run may take another.
    """
    if bool(unobserved.any()):
        state = policy.observe(state, env.observe(env_state), unobserved)
    to_goal = env.distance(env_state.node, goal) > guidance.goal_distance
    to_goal = to_goal & guidance.to_goal & env.distance(env_state.node, goal).isfinite()
    for _ in range(2 * guidance.step_limit):
        target = torch.where(to_goal, goal, start)
        action = env.shortest_path_action(env_state.node, target)
        reachable = env.distance(env_state.node, target).isfinite()
        action = torch.where(reachable, action, 0)  # otherwise the agent is placed at the start
        if not bool(action.any()):
            break
        env_state = env.step_movers(env_state, env.observe(env_state), action)
        state = policy.observe(state, env.observe(env_state), action > 0)
        to_goal = to_goal & (env_state.node != goal)
    return state


def tour_objective(
    policy: TourPolicy[Any],
    env: BatchedGraphEnv,
    dataset: EpisodeDataset,
    batches: TourSampler,
    *,
    loss: Callable[[BatchRollout], Tensor],
    expert: Expert,
    max_steps: int,
    guidance: Guidance | None = IVLN.guidance,
) -> LossFn:
    """Imitation learning on tours with teacher forcing; the mean of the loss over all episodes of a batch.

    As in the released code there is one optimizer step for all episodes of the tours; the paper describes one for each.
    """

    def loss_fn(step: int, rng: torch.Generator) -> Tensor:
        tours = batches[step]
        legs = collect_tours(
            policy,
            env,
            dataset,
            tours,
            select_action=teacher_forcing,
            expert=expert,
            max_steps=max_steps,
            guidance=guidance,
        )
        losses = [loss(leg.rollout) * len(leg.tours) for leg in legs]
        return torch.stack(losses).sum() / sum(map(len, tours))

    return loss_fn


def evaluate_tours(
    policy: TourPolicy[Any],
    env: BatchedGraphEnv,
    dataset: EpisodeDataset,
    tours: Sequence[EpisodeIndex],
    *,
    max_steps: int,
    select_action: ActionSelector = greedy,
    guidance: Guidance | None = IVLN.guidance,
) -> EvaluationScores:
    """The scores of a policy on tours: a row per episode, tour after tour, with the column t-nDTW.

    Every episode has the t-nDTW of its tour, so that means weight tours by their number of episodes, as the paper does.
    """
    rows = [[np.empty(0)] * len(tour) for tour in tours]
    names: tuple[str, ...] = ()
    paths: list[list[tuple[int, ...]]] = [[()] * len(tour) for tour in tours]
    stopped = [np.zeros(len(tour), dtype=bool) for tour in tours]
    order = np.argsort([len(tour) for tour in tours], kind="stable")[::-1]
    with torch.no_grad():
        for first in range(0, len(order), BATCH_SIZE):
            chunk = order[first : first + BATCH_SIZE]
            legs = collect_tours(
                policy,
                env,
                dataset,
                [tours[i] for i in chunk],
                select_action=select_action,
                expert=shortest_path_expert,
                max_steps=max_steps,
                guidance=guidance,
            )
            for k, leg in enumerate(legs):
                metrics = compute_metrics(rollout_attempts(env, leg.rollout))
                names = tuple(metrics)
                table = np.stack(list(metrics.values()), axis=1)
                agents = zip(leg.tours.tolist(), leg.rollout.path.tolist(), leg.rollout.moves.tolist(), strict=True)
                for row, (position, path, moves) in enumerate(agents):
                    tour = int(chunk[position])
                    rows[tour][k], paths[tour][k] = table[row], tuple(path[: moves + 1])
                    stopped[tour][k] = bool(leg.rollout.stopped[row])
    values = np.array([row for tour in rows for row in tour])
    columns = {name: values[:, k] for k, name in enumerate(names)}
    all_paths = tuple(path for tour in paths for path in tour)
    columns["t-nDTW"] = compute_tour_ndtw(env, dataset, tours, all_paths)
    worlds = [dataset.episodes[int(k)].world_id for tour in tours for k in tour]
    return EvaluationScores(columns, worlds, all_paths, np.concatenate(stopped))


def compute_tour_ndtw(
    env: BatchedGraphEnv, dataset: EpisodeDataset, tours: Sequence[EpisodeIndex], paths: Sequence[Sequence[int]]
) -> Array:
    """(episodes,) the t-nDTW of the tour of each episode; `paths` are the agent's, tour after tour."""
    references = [dataset.paths[int(k)] for tour in tours for k in tour]
    attempts = Attempts(
        BatchedGraphSpace(env),
        path=Ragged.from_rows([np.asarray(path, dtype=np.int64) for path in paths]),
        reference=Ragged.from_rows(references),
        goals=Ragged.from_rows([path[-1:] for path in references]),
    )
    tour = np.repeat(np.arange(len(tours)), [len(tour) for tour in tours])
    return tour_ndtw(attempts, TourGroups(tour, np.zeros(len(references), dtype=bool)), threshold=RADIUS)[tour]


def group_by_tour(
    scores: EvaluationScores, env: BatchedGraphEnv, dataset: EpisodeDataset, tours: Sequence[EpisodeIndex]
) -> EvaluationScores:
    """Scores of single episodes as if they were on tours: a row per episode, tour after tour, with t-nDTW."""
    order = np.concatenate(tours)
    paths = tuple(scores.paths[k] for k in order)
    columns = {name: values[order] for name, values in scores.columns.items()}
    columns["t-nDTW"] = compute_tour_ndtw(env, dataset, tours, paths)
    return replace(
        scores, columns=columns, worlds=[scores.worlds[k] for k in order], paths=paths, stopped=scores.stopped[order]
    )
