"""TourHAMT: the history it keeps from episode to episode, its budget, and its gradients."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from itinera.policies import hamt, tour_hamt
from itinera.policies.tour_hamt import TABLE_2, TourHAMTConfig, TourHAMTVariant
from itinera.training.experts import reference_path_expert
from itinera.training.rollout import teacher_forcing
from itinera.training.tours import collect_tours
from policies.test_hamt import TINY as HAMT_TINY
from policies.test_hamt import make_data, make_policy

ALL = TourHAMTVariant(True, True, True, True)


def tiny(variant=ALL, **more):
    return replace(variant.configure(HAMT_TINY), **more)


def run_tours(policy, tours=((0, 3),), guidance=None):
    """The policy's state at the start of the second episode, and the legs."""
    here = make_data()
    legs = collect_tours(
        policy,
        here.env,
        here.dataset,
        tours,
        select_action=teacher_forcing,
        expert=reference_path_expert,
        max_steps=9,
        guidance=guidance,
    )
    states = []
    update_instruction = policy.update_instruction

    def record(state, words, lengths):
        states.append(update_instruction(state, words, lengths))
        return states[-1]

    policy.update_instruction = record
    try:
        legs = list(legs)
    finally:
        del policy.update_instruction
    return states[0], legs


def test_the_history_contains_the_previous_episode():
    policy = make_policy(tiny(), "tour-hamt")
    state, legs = run_tours(policy)
    assert int(legs[0].rollout.moves) == 3
    assert state.earlier_mask.tolist() == [[True] * 3]
    assert state.earlier_moves.tolist() == [[0, 1, 2]]
    tokens, mask = policy.visible_history(state)
    assert mask.sum() == 4  # [PREV] too
    torch.testing.assert_close(tokens[:, 1:], state.earlier_tokens)


def test_without_prev_the_history_contains_only_steps():
    policy = make_policy(tiny(TABLE_2[4]), "tour-hamt")
    state, _ = run_tours(policy)
    assert policy.visible_history(state)[1].sum() == 3
    assert policy.prev_token is None


@pytest.mark.parametrize(("row", "steps"), [(3, 2), (4, 3)])
def test_the_oldest_steps_are_dropped_and_never_prev(row, steps):
    policy = make_policy(tiny(TABLE_2[row], history_budget=4), "tour-hamt")
    state, _ = run_tours(policy, tours=((3, 0, 1),))
    assert state.earlier_moves.tolist() == [list(range(5))[-steps:]]  # of the five moves of the first episode
    seen = make_data().env.observe(make_data().env.reset(torch.tensor([0]), torch.tensor([0])))
    for moves in range(5):
        state = policy.observe(state, seen)
        mask = policy.visible_history(state)[1]
        assert mask.sum() == steps + (row == 3)
        assert mask[0, -moves:].sum() == min(moves, steps) if moves else True
    _, packing, _ = policy.assemble_tokens(state, None)
    assert packing.mask.sum() == 4


@pytest.mark.parametrize("row", [2, 5])
def test_gradients_reach_earlier_steps_only_if_the_history_is_trained(row):
    policy = make_policy(tiny(TABLE_2[row]), "tour-hamt")
    _, legs = run_tours(policy)
    legs[1].rollout.steps[0].output.logits[0, 0].backward()  # when nothing but the earlier episode is behind
    assert (policy.history_geometry[0].weight.grad is not None) == TABLE_2[row].trained_history


def test_outputs_depend_on_earlier_episodes():
    policy = make_policy(tiny(), "tour-hamt")
    _, legs = run_tours(policy, tours=((0, 3), (1, 3)))
    one, other = legs[1].rollout.steps[0].output.logits
    assert not torch.allclose(one, other)


def test_variants_are_the_rows_of_the_table():
    assert [row.kind for row in TABLE_2.values()] == ["hamt"] + ["tour-hamt"] * 4
    assert type(TABLE_2[1].configure(hamt.SMALL)) is hamt.HAMTConfig
    assert TABLE_2[5].configure(hamt.SMALL) == replace(tour_hamt.SMALL, use_prev_token=False, train_history=False)
    assert TourHAMTConfig().history_budget == 50
