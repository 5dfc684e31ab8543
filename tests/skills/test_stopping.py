from __future__ import annotations

from crossroads import crossroads, distribution, truncate_at
from itinera.skills.stopping import PAPER, RELEASED, stop_response, stop_skill
from itinera.skills.trials import design

HOUSE = crossroads(0)


def arms(**words: object) -> dict[str, str]:
    trials = design([stop_skill()], [truncate_at("s", "c", **words)], {"house": HOUSE}, seed=1).trials
    return {trial.arm: trial.episode.instruction.text for trial in trials}


def test_there_are_three_arms():
    texts = arms(text="Go on.", ahead="Go on. Turn left.", edges=1)
    assert list(texts) == ["intervention", "control", "ahead"]
    assert texts["control"] == "Go on."
    assert texts["ahead"] == "Go on. Turn left."
    assert texts["intervention"] in {f"Go on. {sentence}" for sentence in PAPER}


def test_every_truncation_is_kept_even_if_the_instruction_says_nothing_more():
    assert list(arms(ahead="")) == ["intervention", "control"]


def test_the_target_says_how_many_edges_the_instruction_continues():
    truncation = truncate_at("s", "c", ahead="Go on. Turn left.", edges=2)
    *others, ahead = design([stop_skill()], [truncation], {"house": HOUSE}, seed=1).trials
    assert ahead.target == {"stop": True, "edges": 2}
    assert all(trial.target == {"stop": True} for trial in others)


def test_the_released_sentences_have_those_of_the_paper():
    assert len(PAPER) == 4
    assert len(set(RELEASED)) == 8
    assert set(PAPER) < set(RELEASED)


def test_all_sentences_are_said_about_as_often():
    truncations = [truncate_at("s", "c", name=f"{i}_0") for i in range(800)]
    trials = design([stop_skill(RELEASED)], truncations, {"house": HOUSE}, seed=1).trials
    said = [trial.episode.instruction.text.removeprefix("Go on. ") for trial in trials if trial.arm == "intervention"]
    assert all(70 <= said.count(sentence) <= 130 for sentence in RELEASED)


def test_the_response_is_the_probability_of_stopping():
    trial = design([stop_skill()], [truncate_at("s", "c")], {"house": HOUSE}, seed=1).trials[0]
    assert stop_response(trial, distribution(HOUSE, "c", {"n0": 0.7}, stop=0.3), HOUSE) == 0.3
