"""Tours of many walkers at once: episodes one after another, each walker led on from where it stopped.

What happens is what `itinera run --tours` lets happen (`runs/tour_loop.py`); a test walks both side by side. Start with
`tour_out`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itinera.metrics.attempts import Attempts
from itinera.metrics.tours import Legs, tour_ndtw
from itinera.policies.base import Weighed, take
from itinera.policies.observation import Seen
from itinera.seeding import generator
from itinera.tasks import Split
from itinera.tasks.protocol import IVLN, Guidance
from itinera.training.dataset import Batch, Lessons
from itinera.training.evaluation import RADIUS, AtlasSpace, Scores, attempts_of, measured
from itinera.training.experts import Teacher, to_goal
from itinera.training.rollout import Choose, RollOut, Step, as_taught, greedy
from itinera.training.trainer import Chance, Lesson
from itinera.training.vector_env import Atlas, Walkers
from itinera.worlds import Array, Ragged

LANES = 64  # tours at once, when they are only walked

Numbers = NDArray[np.int64]
"""The numbers of the lessons of a tour, in the order they are asked."""


class Tourist(Protocol):
    """A policy that can be shown things without being asked; one that remembers has `read_on` too."""

    def read(self, words: Tensor, lengths: Tensor) -> Any: ...

    def watch(self, state: Any, seen: Seen, moved: Tensor | None = None) -> Any: ...

    def weigh(self, state: Any, seen: Seen) -> Weighed: ...


@dataclass(frozen=True, eq=False)
class Leg:
    """The k-th episode of all tours that have so many."""

    lanes: Tensor  # (walkers,) which tours
    walked: RollOut


def tours_of(split: Split, lessons: Lessons) -> list[Numbers]:
    """The tours of a split through lessons; where it has none, every lesson is a tour of its own."""
    number = {episode.id: k for k, episode in enumerate(lessons.episodes)}
    if not split.tours:
        return [np.array([k]) for k in range(len(lessons))]
    return [np.array([number[name] for name in tour.episode_ids]) for tour in split.tours]


class TourShuffle:
    """Batches of tours without end, each epoch in another order; which comes k-th depends on the seed and k alone.

    Tours are cut into pieces of `most` episodes, each of which begins with nothing in mind: 50 steps are those of about
    eight episodes, so that nothing older is remembered anyway.
    """

    def __init__(self, tours: Sequence[Numbers], lanes: int, *, seed: int, most: int = 12) -> None:
        self.lanes, self.seed = lanes, seed
        self._pieces = [piece for tour in tours for piece in np.array_split(tour, -(-len(tour) // most))]

    def __getitem__(self, k: int) -> list[Numbers]:
        epoch, at = divmod(k, len(self))
        order = generator(self.seed, "tours", str(epoch)).permutation(len(self._pieces))
        return [self._pieces[i] for i in order[at * self.lanes : (at + 1) * self.lanes]]

    def __len__(self) -> int:
        """Batches of an epoch; what is left over is left out."""
        return max(1, len(self._pieces) // self.lanes)


def tour_out(
    policy: Tourist,
    atlas: Atlas,
    lessons: Lessons,
    tours: Sequence[Numbers],
    *,
    choose: Choose,
    teacher: Teacher,
    limit: int,
    guidance: Guidance | None = IVLN.guidance,
) -> Iterator[Leg]:
    """Let a policy walk tours side by side; the legs as they are walked, so that each can be learned from at once.

    Of what it saw a policy keeps numbers that it was given, not what it made of them, so no leg holds on to another.
    """
    state: Any = None
    read_on = getattr(policy, "read_on", None)
    lanes = torch.arange(len(tours))
    for k in range(max(map(len, tours))):
        batch = lessons.batch([int(tours[lane][k]) for lane in lanes.tolist()])
        if state is None or read_on is None:
            state = policy.read(batch.words, batch.lengths)
        else:
            state = read_on(state, batch.words, batch.lengths)
        walked, state, at = _walk(policy, atlas, batch, state, choose, teacher, limit)
        yield Leg(lanes, walked)
        on = torch.tensor([row for row, lane in enumerate(lanes.tolist()) if len(tours[lane]) > k + 1])
        if not len(on):
            return
        lanes, state, at = lanes[on], take(state, on), take(at, on)
        if guidance is not None:
            start = torch.from_numpy(lessons.start[[int(tours[lane][k + 1]) for lane in lanes.tolist()]])
            unseen = ~walked.stopped[on]  # who ran out of steps has not been asked where it came to
            state = led(policy, atlas, state, at, unseen=unseen, goal=batch.goal[on], start=start, guidance=guidance)


def _walk(
    policy: Tourist, atlas: Atlas, batch: Batch, state: Any, choose: Choose, teacher: Teacher, limit: int
) -> tuple[RollOut, Any, Walkers]:
    """An episode of each, what is kept in mind of it, and where all are at its end."""
    at = atlas.put(batch.start, batch.view)
    n = batch.walkers
    steps, places = list[Step](), [batch.start]
    moves, stopped = torch.zeros(n, dtype=torch.int64), torch.zeros(n, dtype=torch.bool)
    going: Tensor | None = None
    for _ in range(limit):
        seen = atlas.look(at)
        state = policy.watch(state, seen, going)
        rows = torch.arange(n) if going is None else going.nonzero().squeeze(1)
        asked, where = (state, at) if len(rows) == n else (take(state, rows), take(at, rows))
        weighed = policy.weigh(asked, seen if len(rows) == n else atlas.look(where))
        taught = teacher(atlas, batch, where, rows)
        action = choose(weighed, taught, rows)
        steps.append(Step(rows, where.node, weighed, taught, action))
        stopped[rows[action == 0]] = True
        done = torch.zeros(n, dtype=torch.int64).index_copy(0, rows, action)
        going = done > 0
        if not bool(going.any()):
            break
        at = moved_on(atlas, at, seen, done)
        moves += going
        places.append(at.node)
    return RollOut(batch, tuple(steps), torch.stack(places, dim=1), moves, stopped), state, at


@torch.no_grad()
def led(
    policy: Tourist,
    atlas: Atlas,
    state: Any,
    at: Walkers,
    *,
    unseen: Tensor,
    goal: Tensor,
    start: Tensor,
    guidance: Guidance,
) -> Any:
    """What is kept in mind after being led to the goal, where it was missed, and to the next start.

    Those who have not seen where they are, `unseen` (walkers,), are shown it first. Then the places passed on the way
    are shown and nothing else: who stands on the next start is led nowhere. The released code then showed the whole
    path of the next episode, which gave its answer away. Of ways equally short a leader of a run may take another.
    """
    if bool(unseen.any()):
        state = policy.watch(state, atlas.look(at), unseen)
    missed = atlas.distance(at.node, goal) > guidance.goal_distance
    missed = missed & guidance.to_goal & atlas.distance(at.node, goal).isfinite()
    for _ in range(2 * guidance.step_limit):
        target = torch.where(missed, goal, start)
        action = atlas.action_to(at.node, target)
        action = torch.where(atlas.distance(at.node, target).isfinite(), action, 0)  # who cannot be led is put there
        if not bool(action.any()):
            break
        at = moved_on(atlas, at, atlas.look(at), action)
        state = policy.watch(state, atlas.look(at), action > 0)
        missed = missed & (at.node != goal)
    return state


def moved_on(atlas: Atlas, at: Walkers, seen: Seen, action: Tensor) -> Walkers:
    """The walkers after they took these actions; those whose action is 0 stay as they are."""
    moving = action > 0
    moved = atlas.move(at, seen, action.clamp_min(1))

    def of(new: Tensor, old: Tensor) -> Tensor:
        return torch.where(moving if new.dim() == 1 else moving[:, None], new, old)

    return Walkers(
        of(moved.node, at.node),
        of(moved.view, at.view),
        of(moved.before, at.before),
        torch.cat([at.visited, torch.where(moving, at.node, -1)[:, None]], dim=1),
        of(moved.moves, at.moves),
        of(moved.taken, at.taken),
        of(moved.taken_geometry, at.taken_geometry),
    )


def tour_lesson(
    policy: Tourist,
    atlas: Atlas,
    lessons: Lessons,
    batches: TourShuffle,
    *,
    loss: Callable[[RollOut], Tensor],
    teacher: Teacher,
    limit: int,
    guidance: Guidance | None = IVLN.guidance,
) -> Lesson:
    """What `train` asks for: the loss of the k-th batch of tours, walked as they are taught, its mean over episodes.

    As in the released code there is one step for all episodes of the tours; the paper tells of one for each.
    """

    def lesson(step: int, chance: Chance) -> Tensor:
        tours = batches[step]
        legs = tour_out(
            policy, atlas, lessons, tours, choose=as_taught, teacher=teacher, limit=limit, guidance=guidance
        )
        losses = [loss(leg.walked) * len(leg.lanes) for leg in legs]
        return torch.stack(losses).sum() / sum(map(len, tours))

    return lesson


def evaluate_tours(
    policy: Tourist,
    atlas: Atlas,
    lessons: Lessons,
    tours: Sequence[Numbers],
    *,
    limit: int,
    choose: Choose = greedy,
    guidance: Guidance | None = IVLN.guidance,
) -> Scores:
    """How a policy does on tours: a row for each episode, tour after tour, t-nDTW among the columns.

    Every episode of a tour has the tour's t-nDTW, so that means weigh tours by their episodes, as the paper does.
    """
    rows = [[np.empty(0)] * len(tour) for tour in tours]
    names: tuple[str, ...] = ()
    paths: list[list[tuple[int, ...]]] = [[()] * len(tour) for tour in tours]
    stopped = [np.zeros(len(tour), dtype=bool) for tour in tours]
    order = np.argsort([len(tour) for tour in tours], kind="stable")[::-1]
    with torch.no_grad():
        for first in range(0, len(order), LANES):
            some = order[first : first + LANES]
            side_by_side = [tours[i] for i in some]
            legs = tour_out(
                policy, atlas, lessons, side_by_side, choose=choose, teacher=to_goal, limit=limit, guidance=guidance
            )
            for k, leg in enumerate(legs):
                scored = measured(attempts_of(atlas, leg.walked))
                names = tuple(scored)
                table = np.stack(list(scored.values()), axis=1)
                each = zip(leg.lanes.tolist(), leg.walked.path.tolist(), leg.walked.moves.tolist(), strict=True)
                for row, (lane, path, moves) in enumerate(each):
                    tour = int(some[lane])
                    rows[tour][k], paths[tour][k] = table[row], tuple(path[: moves + 1])
                    stopped[tour][k] = bool(leg.walked.stopped[row])
    whole = np.array([row for tour in rows for row in tour])
    columns = {name: whole[:, k] for k, name in enumerate(names)}
    walked = tuple(path for tour in paths for path in tour)
    columns["t-nDTW"] = tour_column(atlas, lessons, tours, walked)
    worlds = [lessons.episodes[int(k)].world_id for tour in tours for k in tour]
    return Scores(columns, worlds, walked, np.concatenate(stopped))


def tour_column(atlas: Atlas, lessons: Lessons, tours: Sequence[Numbers], paths: Sequence[Sequence[int]]) -> Array:
    """(episodes,) the t-nDTW of the tour each episode is in; `paths` are what was walked, tour after tour."""
    asked = [lessons.paths[int(k)] for tour in tours for k in tour]
    n, unknown = len(asked), np.full(len(asked), np.nan)
    attempts = Attempts(
        AtlasSpace(atlas),
        walked=Ragged.of([np.asarray(path, dtype=np.int64) for path in paths]),
        reference=Ragged.of(asked),
        goals=Ragged.of([path[-1:] for path in asked]),
        stopped=np.ones(n, dtype=bool),
        stated=unknown,
        durations=unknown,
    )
    number = np.repeat(np.arange(len(tours)), [len(tour) for tour in tours])
    return tour_ndtw(attempts, Legs(number, np.zeros(n, dtype=bool)), threshold=RADIUS)[number]


def with_tours(scores: Scores, atlas: Atlas, lessons: Lessons, tours: Sequence[Numbers]) -> Scores:
    """Scores of lessons walked each by itself, as if on tours: a row for each episode, tour after tour, with t-nDTW."""
    order = np.concatenate(tours)
    paths = tuple(scores.paths[k] for k in order)
    columns = {name: values[order] for name, values in scores.columns.items()}
    columns["t-nDTW"] = tour_column(atlas, lessons, tours, paths)
    return replace(
        scores, columns=columns, worlds=[scores.worlds[k] for k in order], paths=paths, stopped=scores.stopped[order]
    )
