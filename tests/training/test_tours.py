"""Batched tours against the simulator, the agent and a rollout of each tour alone; nothing of a task leaks ahead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from itinera.policies import hamt, tour_hamt
from itinera.policies.agent import PolicyAgent
from itinera.policies.checkpoint import build_model, make_card
from itinera.policies.tokenizer import Tokenizer
from itinera.records import Ending
from itinera.runs.rollout import rollout
from itinera.seeding import generator
from itinera.simulators.graph import GraphSimulator
from itinera.tasks import Instruction, Split, Tour
from itinera.tasks.protocol import IVLN, IVLN_TEST, R2R, Guidance
from itinera.training.evaluation import evaluate
from itinera.training.experts import shortest_path_expert
from itinera.training.losses import imitation_loss
from itinera.training.rollout import greedy, teacher_forcing
from itinera.training.tours import (
    TourSampler,
    collect_tours,
    evaluate_tours,
    group_by_tour,
    guide,
    index_tours,
    tour_objective,
)
from itinera.training.trainer import seed_torch
from text_worlds import episode, world
from training.small_models import COLUMNS, TEXTS, WORDS, NumberedViews, tiny_data

LIMIT = 4
CONFIG = replace(
    tour_hamt.SMALL,
    hidden_dim=16,
    num_heads=2,
    feedforward_dim=16,
    num_text_layers=1,
    history_budget=14,
    max_step_positions=8,
    max_word_positions=20,
    num_cross_layers=2,
)
TOURS = (np.array([0, 5, 3, 1]), np.array([2, 4]), np.array([6, 7, 8]), np.array([9]))


def make_policy(kind="tour-hamt", config=CONFIG):
    torch.manual_seed(0)
    model = build_model(make_card(kind, config, COLUMNS, Tokenizer(WORDS)))
    model.policy.eval()
    return model.policy


class ScriptedAgent(PolicyAgent):
    """Records logits; takes the actions given by numbers, or the most probable ones."""

    def __init__(self, policy, numbers):
        super().__init__(policy, Tokenizer(WORDS), COLUMNS, view_columns=COLUMNS)
        self.numbers, self.episode, self.logits = numbers, -1, []

    def start_episode(self, instruction):
        super().start_episode(instruction)
        self.episode += 1
        self.logits.append([])

    def act(self, observation):
        logits = self._forward(observation).logits[0]
        self.logits[-1].append(logits)
        if self.numbers is None:
            return int(logits.argmax())
        return int(self.numbers[self.episode][len(self.logits[-1]) - 1]) % (1 + len(observation.candidates.nodes))


class ScriptedSelector:
    """The same for a batch: the k-th action of an episode by its k-th number."""

    def __init__(self, numbers):
        self.numbers, self.steps, self.episodes = numbers, {}, []

    def __call__(self, output, expert_action, rows):
        episodes = [int(self.episodes[row]) for row in rows]
        counts = output.logits.isfinite().sum(dim=1).tolist()
        actions = []
        for k, count in zip(episodes, counts, strict=True):
            step = self.steps[k] = self.steps.get(k, -1) + 1
            actions.append(int(self.numbers[k][step]) % count)
        return torch.tensor(actions)


@pytest.mark.parametrize("protocol", [IVLN, IVLN_TEST, R2R], ids=lambda protocol: protocol.name)
@pytest.mark.parametrize("how", ["wandering", "greedy"])
def test_tours_side_by_side_are_those_walked_one_by_one(house, protocol, how):
    policy = make_policy()
    numbers = generator(0, "numbers").integers(0, 12, (len(house.dataset), LIMIT))
    select_action = ScriptedSelector(numbers) if how == "wandering" else greedy
    legs, lanes = [], collect_tours(
        policy, house.env, house.dataset, TOURS,
        select_action=lambda output, expert_action, rows: select_action(output, expert_action, rows),
        expert=shortest_path_expert, max_steps=LIMIT, guidance=protocol.guidance,
    )  # fmt: skip
    with torch.no_grad():
        for k in range(4):
            if how == "wandering":
                select_action.episodes = [tour[k] for tour in TOURS if len(tour) > k]
            legs.append(next(lanes))
        assert next(lanes, None) is None
    for lane, tour in enumerate(TOURS):
        episodes = [house.episodes[k] for k in tour]
        agent = ScriptedAgent(policy, numbers[tour] if how == "wandering" else None)
        place = house.worlds[episodes[0].world_id]
        asked = Tour("tour", place.id, tuple(e.id for e in episodes))
        rules = replace(protocol, step_limit=LIMIT)
        done = rollout(agent, GraphSimulator(NumberedViews()), place, asked, episodes, protocol=rules, seed=0)
        for k, (trajectory, logits) in enumerate(zip(done.trajectories, agent.logits, strict=True)):
            same(legs[k], lane, trajectory, logits, house.env)


def same(leg, lane, trajectory, logits, env):
    """An episode of a batch against the same one alone."""
    (row,) = np.flatnonzero(leg.tours.numpy() == lane)
    assert trajectory.ending is not Ending.FAILED, trajectory.notes
    moves = int(leg.rollout.moves[row])
    own = leg.rollout.path[row, : moves + 1]
    assert [env.nodes[n] for n in own] == list(trajectory.acting_places)
    steps = [step for step in leg.rollout.steps if row in step.rows]
    assert len(steps) == len(logits)
    for step, alone in zip(steps, logits, strict=True):
        mine = step.output.logits[step.rows == row][0]
        torch.testing.assert_close(mine[: len(alone)], alone, rtol=1e-4, atol=1e-5)


def make_data(*paths):
    """Episodes along these paths of a street with a branch."""
    drawing = """
        a-b-c-d-e
            |
            f-g
    """
    episodes = [episode(str(k), path, instruction=Instruction(TEXTS[0])) for k, path in enumerate(paths)]
    return tiny_data({"house": world(drawing)}, episodes)


def second_state(policy, place, tours, **more):
    """The policy's state at the start of the second episode."""
    states, update_instruction = [], policy.update_instruction
    policy.update_instruction = lambda *given: states.append(update_instruction(*given)) or states[-1]
    options = {"select_action": teacher_forcing, "expert": shortest_path_expert, "max_steps": 9} | more
    with torch.no_grad():
        list(collect_tours(policy, place.env, place.dataset, tours, **options))
    del policy.update_instruction
    return states[0]


def test_an_agent_on_the_next_start_observes_nothing_of_the_next_path():
    policy = make_policy()
    # The released code put the path of the second episode into the history where the first ended at its start.
    along, aside = make_data("abc", "cde"), make_data("abc", "cfg")
    one, other = (second_state(policy, place, [np.array([0, 1])]) for place in (along, aside))
    assert one.earlier.equal(other.earlier)
    assert one.earlier_moves.tolist() == [[0, 1]]  # a to b, b to c


def test_guidance_to_a_missed_goal_and_to_the_next_start_is_observed():
    policy = make_policy()
    place = make_data("abc", "fg")
    stop = lambda output, expert_action, rows: torch.zeros_like(expert_action)  # noqa: E731
    state = second_state(policy, place, [np.array([0, 1])], select_action=stop)
    assert state.earlier_moves.tolist() == [[0, 1, 2]]  # from a to b, c and f
    names = [place.env.nodes[int(k)] for k in place.env.edge_target]
    here = torch.stack([place.env.node_features[place.env.node_index["house", node]] for node in "abc"])
    torch.testing.assert_close(state.earlier[0, :, : len(COLUMNS)], here)
    way = names.index("b")
    torch.testing.assert_close(state.earlier[0, 0, len(COLUMNS) : 2 * len(COLUMNS)], place.env.edge_features[way])


def test_without_a_path_there_is_no_guidance():
    place = tiny_data({"house": world("a-b c-d")}, [episode("0", "ab"), episode("1", "cd")])
    policy = make_policy()
    at = place.env.reset(torch.tensor([1]), torch.tensor([0]))
    state = policy.encode_instruction(torch.tensor([[3]]), torch.tensor([1]))
    start = torch.tensor([place.env.node_index["house", "c"]])
    after = guide(
        policy,
        place.env,
        state,
        at,
        unobserved=torch.tensor([False]),
        goal=torch.tensor([1]),
        start=start,
        guidance=Guidance(),
    )
    assert after is state


def test_tours_of_a_policy_without_memory_are_its_episodes(house):
    policy = make_policy("hamt", replace(hamt.SMALL, hidden_dim=16, num_heads=2, feedforward_dim=16, num_text_layers=1))
    tours = [*TOURS, np.array([10, 11])]
    alone = group_by_tour(evaluate(policy, house.env, house.dataset, max_steps=5), house.env, house.dataset, tours)
    toured = evaluate_tours(policy, house.env, house.dataset, tours, max_steps=5)
    assert toured.paths == alone.paths
    assert list(toured.columns) == list(alone.columns)
    for name, column in toured.columns.items():
        np.testing.assert_allclose(column, alone.columns[name])
    assert 0 < toured.mean("t-nDTW") < 1


def test_teacher_forcing_gives_perfect_tours():
    place = make_data("abc", "cde")
    scores = evaluate_tours(
        make_policy(), place.env, place.dataset, [np.array([0, 1])], max_steps=5, select_action=teacher_forcing
    )
    assert scores.mean("t-nDTW") == 1
    assert scores.columns["SR"].tolist() == [1, 1]


def test_batches_of_tours_depend_on_the_seed_and_their_number():
    tours = [np.arange(10 * k, 10 * k + 5 + k) for k in range(4)]
    one, other = (TourSampler(tours, 2, seed=3, max_episodes=4) for _ in range(2))
    assert [list(map(list, one[k])) for k in (5, 1, 0)] == [list(map(list, other[k])) for k in (5, 1, 0)]
    epoch = sorted(int(n) for k in range(4) for piece in one[k] for n in piece)
    assert epoch == sorted(int(n) for tour in tours for n in tour)
    assert all(len(piece) <= 4 for piece in one[0])


def test_every_episode_of_a_batch_of_tours_counts_alike():
    place, policy = make_data("abc", "cde", "gfc"), make_policy()
    batches = TourSampler([np.array([0, 1]), np.array([2])], 2, seed=0)
    loss_fn = tour_objective(
        policy, place.env, place.dataset, batches, loss=imitation_loss, expert=shortest_path_expert, max_steps=5
    )
    options = {"select_action": teacher_forcing, "expert": shortest_path_expert, "max_steps": 5}
    alone = [
        float(imitation_loss(leg.rollout).detach())
        for tour in ([0, 1], [2])
        for leg in collect_tours(policy, place.env, place.dataset, [np.array(tour)], **options)
    ]
    loss = loss_fn(0, seed_torch(0))
    # The two first episodes are one batch, but their paths have the same length.
    assert float(loss.detach()) == pytest.approx(np.mean(alone), rel=1e-5)
    loss.backward()
    assert policy.history_geometry[0].weight.grad is not None


def test_tours_are_indexed_in_the_dataset():
    place = make_data("abc", "cde")
    split = Split("drawn", place.episodes, (Tour("t", "house", ("1", "0")),))
    assert [list(tour) for tour in index_tours(split, place.dataset)] == [[1, 0]]
    assert [list(tour) for tour in index_tours(replace(split, tours=()), place.dataset)] == [[0], [1]]
