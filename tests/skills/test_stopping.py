from __future__ import annotations

import pytest

from crossroads import crossroads, cut_at, leaning
from itinera.skills.stopping import PAPER, RELEASED, one_step_ahead, stop_probability, stopping
from itinera.skills.trials import design

HOUSE = crossroads(0)


def arms(**words: object) -> dict[str, str]:
    trials = design([stopping()], [cut_at("s", "c", **words)], {"house": HOUSE}, seed=1).trials
    return {trial.arm: trial.episode.instruction.text for trial in trials}


def test_there_are_three_ways_to_be_told():
    told = arms(text="Go on.", ahead="Go on. Turn left.", edges=1)
    assert list(told) == ["intervention", "control", "ahead"]
    assert told["control"] == "Go on."
    assert told["ahead"] == "Go on. Turn left."
    assert told["intervention"] in {f"Go on. {sentence}" for sentence in PAPER}


def test_every_cut_is_kept_even_where_nothing_more_is_said():
    assert list(arms(ahead="")) == ["intervention", "control"]


@pytest.mark.parametrize(("edges", "one"), [(1, True), (2, False)])
def test_only_words_that_lead_on_by_one_edge_are_one_step_ahead(edges, one):
    cut = cut_at("s", "c", ahead="Go on. Turn left.", edges=edges)
    *others, ahead = design([stopping()], [cut], {"house": HOUSE}, seed=1).trials
    assert one_step_ahead(ahead) == one
    assert not any(map(one_step_ahead, others))


def test_the_released_sentences_have_those_of_the_paper():
    assert len(PAPER) == 4
    assert len(set(RELEASED)) == 8
    assert set(PAPER) < set(RELEASED)


def test_all_sentences_are_said_about_as_often():
    cuts = [cut_at("s", "c", name=f"{i}_0") for i in range(800)]
    trials = design([stopping(RELEASED)], cuts, {"house": HOUSE}, seed=1).trials
    said = [trial.episode.instruction.text.removeprefix("Go on. ") for trial in trials if trial.arm == "intervention"]
    assert all(70 <= said.count(sentence) <= 130 for sentence in RELEASED)


def test_the_response_is_the_probability_of_stopping():
    trial = design([stopping()], [cut_at("s", "c")], {"house": HOUSE}, seed=1).trials[0]
    assert stop_probability(trial, leaning(HOUSE, "c", {"n0": 0.7}, stop=0.3), HOUSE) == 0.3
