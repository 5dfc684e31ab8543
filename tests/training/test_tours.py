"""Tours of many are what simulator, agent and walk make of each alone; no task is shown before it begins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from drawn import episode, world
from itinera.policies import hamt, tour_hamt
from itinera.policies.agent import Walker
from itinera.policies.checkpoint import card_of, new_model
from itinera.policies.tokenizer import Vocabulary
from itinera.records import Ending
from itinera.runs.rollout import walk
from itinera.seeding import generator
from itinera.simulators.graph import GraphSimulator
from itinera.tasks import Instruction, Split, Tour
from itinera.tasks.protocol import IVLN, IVLN_TEST, R2R, Guidance
from itinera.training.evaluation import evaluate
from itinera.training.experts import to_goal
from itinera.training.losses import cloning
from itinera.training.rollout import as_taught, greedy
from itinera.training.tours import TourShuffle, evaluate_tours, led, tour_lesson, tour_out, tours_of, with_tours
from itinera.training.trainer import Chance
from training.pupils import COLUMNS, TEXTS, WORDS, Numbered, school

LIMIT = 4
SIZES = replace(
    tour_hamt.SMALL, size=16, heads=2, inner=16, text_layers=1, budget=14, most_steps=8, longest=20, cross_layers=2
)
TOURS = (np.array([0, 5, 3, 1]), np.array([2, 4]), np.array([6, 7, 8]), np.array([9]))


def made(kind="tour-hamt", sizes=SIZES):
    torch.manual_seed(0)
    model = new_model(card_of(kind, sizes, COLUMNS, Vocabulary(WORDS)))
    model.policy.eval()
    return model.policy


class Told(Walker):
    """Keeps what its policy weighs, but does what it was told to, or what it likes best."""

    def __init__(self, policy, numbers):
        super().__init__(policy, Vocabulary(WORDS), COLUMNS, shown=COLUMNS)
        self.numbers, self.episode, self.logits = numbers, -1, []

    def start_episode(self, instruction):
        super().start_episode(instruction)
        self.episode += 1
        self.logits.append([])

    def act(self, observation):
        logits = self._weighed(observation).logits[0]
        self.logits[-1].append(logits)
        if self.numbers is None:
            return int(logits.argmax())
        return int(self.numbers[self.episode][len(self.logits[-1]) - 1]) % (1 + len(observation.candidates.nodes))


class Wandering:
    """The same for many: the k-th step of a lesson by the numbers drawn for it."""

    def __init__(self, numbers):
        self.numbers, self.step, self.batch = numbers, {}, None

    def __call__(self, weighed, taught, rows):
        lessons = [int(self.lessons[row]) for row in rows]
        counts = weighed.logits.isfinite().sum(dim=1).tolist()
        actions = []
        for lesson, count in zip(lessons, counts, strict=True):
            k = self.step[lesson] = self.step.get(lesson, -1) + 1
            actions.append(int(self.numbers[lesson][k]) % count)
        return torch.tensor(actions)


@pytest.mark.parametrize("protocol", [IVLN, IVLN_TEST, R2R], ids=lambda protocol: protocol.name)
@pytest.mark.parametrize("how", ["wandering", "greedy"])
def test_tours_side_by_side_are_those_walked_one_by_one(house, protocol, how):
    policy = made()
    numbers = generator(0, "numbers").integers(0, 12, (len(house.lessons), LIMIT))
    choose = Wandering(numbers) if how == "wandering" else greedy
    legs, lanes = [], tour_out(
        policy, house.atlas, house.lessons, TOURS,
        choose=lambda weighed, taught, rows: choose(weighed, taught, rows),
        teacher=to_goal, limit=LIMIT, guidance=protocol.guidance,
    )  # fmt: skip
    with torch.no_grad():
        for k in range(4):
            if how == "wandering":
                choose.lessons = [tour[k] for tour in TOURS if len(tour) > k]
            legs.append(next(lanes))
        assert next(lanes, None) is None
    for lane, tour in enumerate(TOURS):
        episodes = [house.episodes[k] for k in tour]
        agent = Told(policy, numbers[tour] if how == "wandering" else None)
        place = house.worlds[episodes[0].world_id]
        asked = Tour("tour", place.id, tuple(e.id for e in episodes))
        rules = replace(protocol, step_limit=LIMIT)
        done = walk(agent, GraphSimulator(Numbered()), place, asked, episodes, protocol=rules, seed=0)
        for k, (trajectory, logits) in enumerate(zip(done.trajectories, agent.logits, strict=True)):
            same(legs[k], lane, trajectory, logits, house.atlas)


def same(leg, lane, trajectory, logits, atlas):
    """An episode walked side by side with others against the same one alone."""
    (row,) = np.flatnonzero(leg.lanes.numpy() == lane)
    assert trajectory.ending is not Ending.FAILED, trajectory.notes
    moves = int(leg.walked.moves[row])
    own = leg.walked.path[row, : moves + 1]
    assert [atlas.nodes[n] for n in own] == list(trajectory.acted)
    steps = [step for step in leg.walked.steps if row in step.rows]
    assert len(steps) == len(logits)
    for step, alone in zip(steps, logits, strict=True):
        mine = step.weighed.logits[step.rows == row][0]
        torch.testing.assert_close(mine[: len(alone)], alone, rtol=1e-4, atol=1e-5)


def three(*paths):
    """Lessons along these paths of a street with a branch."""
    drawing = """
        a-b-c-d-e
            |
            f-g
    """
    episodes = [episode(str(k), path, instruction=Instruction(TEXTS[0])) for k, path in enumerate(paths)]
    return school({"house": world(drawing)}, episodes)


def kept(policy, place, tours, **more):
    """What is kept in mind when the second episode begins."""
    states, read_on = [], policy.read_on
    policy.read_on = lambda *given: states.append(read_on(*given)) or states[-1]
    options = {"choose": as_taught, "teacher": to_goal, "limit": 9} | more
    with torch.no_grad():
        list(tour_out(policy, place.atlas, place.lessons, tours, **options))
    del policy.read_on
    return states[0]


def test_who_stands_on_the_next_start_is_shown_nothing_of_the_next_path():
    policy = made()
    # The released code put the path of the second episode into the history where the first ended at its start.
    along, aside = three("abc", "cde"), three("abc", "cfg")
    one, other = (kept(policy, place, [np.array([0, 1])]) for place in (along, aside))
    assert one.earlier.equal(other.earlier)
    assert one.earlier_moves.tolist() == [[0, 1]]  # a to b, b to c


def test_the_way_to_a_missed_goal_and_to_the_next_start_is_seen():
    policy = made()
    place = three("abc", "fg")
    stop = lambda weighed, taught, rows: torch.zeros_like(taught)  # noqa: E731
    state = kept(policy, place, [np.array([0, 1])], choose=stop)
    assert state.earlier_moves.tolist() == [[0, 1, 2]]  # from a to b, c and f
    names = [place.atlas.nodes[int(k)] for k in place.atlas.beyond]
    here = torch.stack([place.atlas.here[place.atlas.number["house", node]] for node in "abc"])
    torch.testing.assert_close(state.earlier[0, :, : len(COLUMNS)], here)
    way = names.index("b")
    torch.testing.assert_close(state.earlier[0, 0, len(COLUMNS) : 2 * len(COLUMNS)], place.atlas.seen[way])


def test_who_cannot_be_led_is_put_at_the_start():
    place = school({"house": world("a-b c-d")}, [episode("0", "ab"), episode("1", "cd")])
    policy = made()
    at = place.atlas.put(torch.tensor([1]), torch.tensor([0]))
    state = policy.read(torch.tensor([[3]]), torch.tensor([1]))
    start = torch.tensor([place.atlas.number["house", "c"]])
    after = led(
        policy,
        place.atlas,
        state,
        at,
        unseen=torch.tensor([False]),
        goal=torch.tensor([1]),
        start=start,
        guidance=Guidance(),
    )
    assert after is state


def test_tours_of_one_that_forgets_are_its_episodes(house):
    policy = made("hamt", replace(hamt.SMALL, size=16, heads=2, inner=16, text_layers=1))
    tours = [*TOURS, np.array([10, 11])]
    alone = with_tours(evaluate(policy, house.atlas, house.lessons, limit=5), house.atlas, house.lessons, tours)
    toured = evaluate_tours(policy, house.atlas, house.lessons, tours, limit=5)
    assert toured.paths == alone.paths
    assert list(toured.columns) == list(alone.columns)
    for name, column in toured.columns.items():
        np.testing.assert_allclose(column, alone.columns[name])
    assert 0 < toured.mean("t-nDTW") < 1


def test_who_is_taught_all_the_way_walks_perfect_tours():
    place = three("abc", "cde")
    scores = evaluate_tours(made(), place.atlas, place.lessons, [np.array([0, 1])], limit=5, choose=as_taught)
    assert scores.mean("t-nDTW") == 1
    assert scores.columns["SR"].tolist() == [1, 1]


def test_batches_of_tours_depend_on_the_seed_and_their_number():
    tours = [np.arange(10 * k, 10 * k + 5 + k) for k in range(4)]
    one, other = (TourShuffle(tours, 2, seed=3, most=4) for _ in range(2))
    assert [list(map(list, one[k])) for k in (5, 1, 0)] == [list(map(list, other[k])) for k in (5, 1, 0)]
    epoch = sorted(int(n) for k in range(4) for piece in one[k] for n in piece)
    assert epoch == sorted(int(n) for tour in tours for n in tour)
    assert all(len(piece) <= 4 for piece in one[0])


def test_every_episode_of_a_batch_of_tours_counts_alike():
    place, policy = three("abc", "cde", "gfc"), made()
    batches = TourShuffle([np.array([0, 1]), np.array([2])], 2, seed=0)
    lesson = tour_lesson(policy, place.atlas, place.lessons, batches, loss=cloning, teacher=to_goal, limit=5)
    options = {"choose": as_taught, "teacher": to_goal, "limit": 5}
    alone = [
        float(cloning(leg.walked).detach())
        for tour in ([0, 1], [2])
        for leg in tour_out(policy, place.atlas, place.lessons, [np.array(tour)], **options)
    ]
    loss = lesson(0, Chance.of(0))
    # The two that begin together are cloned as one batch, but their paths are of one length.
    assert float(loss.detach()) == pytest.approx(np.mean(alone), rel=1e-5)
    loss.backward()
    assert policy.onward[0].weight.grad is not None


def test_tours_are_found_among_lessons():
    place = three("abc", "cde")
    split = Split("drawn", place.episodes, (Tour("t", "house", ("1", "0")),))
    assert [list(tour) for tour in tours_of(split, place.lessons)] == [[1, 0]]
    assert [list(tour) for tour in tours_of(replace(split, tours=()), place.lessons)] == [[0], [1]]
