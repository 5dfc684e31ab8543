"""TourHAMT: what is kept from episode to episode, how much of it, and what is learned by it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from agents.neural.test_hamt import TINY as HAMT_TINY
from agents.neural.test_hamt import made, place

from itinera.policies import hamt, tour_hamt
from itinera.policies.tour_hamt import ROWS, Sizes, Switches
from itinera.training.experts import along_path
from itinera.training.rollout import as_taught
from itinera.training.tours import tour_out

ALL = Switches(True, True, True, True)


def small(switches=ALL, **more):
    return replace(switches.sizes(HAMT_TINY), **more)


def after(policy, tours=((0, 3),), guidance=None):
    """What is kept in mind at the start of the second episode, and what led there."""
    here = place()
    legs = tour_out(
        policy, here.atlas, here.lessons, tours, choose=as_taught, teacher=along_path, limit=9, guidance=guidance
    )
    states = []
    read_on = policy.read_on

    def kept(state, words, lengths):
        states.append(read_on(state, words, lengths))
        return states[-1]

    policy.read_on = kept
    try:
        walked = list(legs)
    finally:
        del policy.read_on
    return states[0], walked


def test_steps_of_the_episode_before_are_behind():
    policy = made(small(), "tour-hamt")
    state, legs = after(policy)
    assert int(legs[0].walked.moves) == 3
    assert state.earlier_there.tolist() == [[True] * 3]
    assert state.earlier_moves.tolist() == [[0, 1, 2]]
    tokens, there = policy.behind(state)
    assert there.sum() == 4  # [PREV] too
    torch.testing.assert_close(tokens[:, 1:], state.past)


def test_without_its_token_only_the_steps_are_behind():
    policy = made(small(ROWS[4]), "tour-hamt")
    state, _ = after(policy)
    assert policy.behind(state)[1].sum() == 3
    assert policy.before is None


@pytest.mark.parametrize(("row", "steps"), [(3, 2), (4, 3)])
def test_the_oldest_steps_are_forgotten_and_never_the_tokens_between(row, steps):
    policy = made(small(ROWS[row], budget=4), "tour-hamt")
    state, _ = after(policy, tours=((3, 0, 1),))
    assert state.earlier_moves.tolist() == [list(range(5))[-steps:]]  # of the five moves of the first episode
    seen = place().atlas.look(place().atlas.put(torch.tensor([0]), torch.tensor([0])))
    for moves in range(5):
        state = policy.observe(state, seen)
        there = policy.behind(state)[1]
        assert there.sum() == steps + (row == 3)
        assert there[0, -moves:].sum() == min(moves, steps) if moves else True
    _, packing, _ = policy.gathered(state, None)
    assert packing.mask.sum() == 4


@pytest.mark.parametrize("row", [2, 5])
def test_earlier_steps_are_learned_only_by_who_trains_its_history(row):
    policy = made(small(ROWS[row]), "tour-hamt")
    _, legs = after(policy)
    legs[1].walked.steps[0].weighed.logits[0, 0].backward()  # when nothing but the earlier episode is behind
    assert (policy.onward[0].weight.grad is not None) == ROWS[row].trained_history


def test_what_was_before_matters():
    policy = made(small(), "tour-hamt")
    _, legs = after(policy, tours=((0, 3), (1, 3)))
    one, other = legs[1].walked.steps[0].weighed.logits
    assert not torch.allclose(one, other)


def test_rows_are_those_of_the_table():
    assert [row.kind for row in ROWS.values()] == ["hamt"] + ["tour-hamt"] * 4
    assert type(ROWS[1].sizes(hamt.SMALL)) is hamt.Sizes
    assert ROWS[5].sizes(hamt.SMALL) == replace(tour_hamt.SMALL, tells_earlier=False, trains_history=False)
    assert Sizes().budget == 50
