from __future__ import annotations

import math
from dataclasses import replace

import pytest

from crossroads import crossroads, distribution, truncate_at
from itinera.errors import BadArgument
from itinera.skills.filter_counts import RejectedTrial
from itinera.skills.registry import SKILLS, make_skills
from itinera.skills.trials import Skill, correct_probability, design, make_trial_pair, require_graph, target_probability
from itinera.tasks.trial import Trial
from itinera.worlds import Euclidean, Room, World

ROOMS = {"s": Room("h"), "c": Room("h"), "n0": Room("k"), "n1": Room("b"), "n2": Room("h")}
HOUSE = crossroads(-60, 0, 60, rooms=ROOMS)
CUTS = [truncate_at("s", "c", name=f"{i}_0", ahead="Go on. And on.", edges=1) for i in range(12)]
WITHOUT_OBJECTS = [skill for name, skill in SKILLS.items() if name != "object"]


def trial_for(**target: object) -> Trial:
    return replace(design([SKILLS["stop"]], CUTS[:1], {"house": HOUSE}, seed=1).trials[0], target=target)


def test_every_intervention_has_a_control_of_the_same_walk_and_target_with_the_words_as_they_were_cut():
    study = design(WITHOUT_OBJECTS, CUTS, {"house": HOUSE}, seed=1)
    known = {trial.id: trial for trial in study.trials}
    assert len(known) == len(study.trials)
    for trial in study.trials:
        assert (trial.control_id == "") == (trial.arm == "control")
        control = known[trial.control_id or trial.id]
        assert control.arm == "control"
        assert (control.skill, control.source) == (trial.skill, trial.source)
        assert tuple(control.episode.reference) == tuple(trial.episode.reference) == ("s", "c")
        assert control.episode.instruction.text == "Go on."
        assert trial.episode.path_id == "7"
        if trial.arm == "intervention":
            assert control.target == trial.target
            assert trial.episode.instruction.text.startswith("Go on. ")
            assert trial.episode.instruction.text.endswith(".")


def test_counts_add_up_for_every_skill():
    study = design(WITHOUT_OBJECTS, CUTS, {"house": HOUSE}, seed=1)
    for name, tally in study.filter_counts.items():
        asked = [trial for trial in study.trials if trial.skill == name and trial.arm == "intervention"]
        assert tally.kept == len(asked)
        assert tally.candidates == tally.kept + sum(tally.dropped.values())
        assert tally.truncations == len(CUTS)


def test_a_trial_is_the_same_whatever_was_designed_with_it_and_another_seed_draws_others():
    def texts(truncations: object, seed: int) -> dict[str, str]:
        trials = design([SKILLS["stop"], SKILLS["room-1"]], truncations, {"house": HOUSE}, seed=seed).trials
        return {trial.id: trial.episode.instruction.text for trial in trials}

    every, some = texts(CUTS, 1), texts(CUTS[::-3], 1)
    assert some.items() < every.items()
    assert len(set(every.values())) > 5
    assert texts(CUTS, 2) != every


def test_a_cut_without_its_world_is_named():
    with pytest.raises(BadArgument, match=r"The worlds lack house\. Give the worlds"):
        design([SKILLS["stop"]], CUTS, {}, seed=1)


def test_two_cuts_of_one_name_are_refused():
    with pytest.raises(BadArgument, match=r"Two truncations have the id 0_0_2\. Give each episode once"):
        design([SKILLS["stop"]], [CUTS[0], CUTS[0]], {"house": HOUSE}, seed=1)


def test_a_cut_in_another_world_is_refused_with_the_node_that_is_not_there():
    with pytest.raises(BadArgument, match=r"Not a node of this graph: x\."):
        design([SKILLS["stop"]], [truncate_at("s", "x")], {"house": HOUSE}, seed=1)


def test_a_skill_may_drop_and_keep_at_one_cut():
    def plan(truncation, world, rng):
        yield RejectedTrial("too easy")
        yield make_trial_pair(truncation, "hop", ["Hop.", "Jump."], {"nodes": ["n0"]}, rng, detail="once")

    hopping = Skill(
        "hop", ("Hop.", "Jump."), plan, lambda trial, distribution, world: target_probability(trial, distribution)
    )
    study = design([hopping], CUTS[:2], {"house": HOUSE}, seed=3)
    assert [trial.id for trial in study.trials[:2]] == ["0_0_2.hop.once", "0_0_2.hop.once.control"]
    assert (
        study.filter_counts["hop"].candidates,
        study.filter_counts["hop"].kept,
        study.filter_counts["hop"].truncations_kept,
    ) == (4, 2, 2)


@pytest.mark.parametrize(
    ("target", "mass"),
    [({"stop": True}, 0.25), ({"nodes": ["n0", "n2"]}, 0.6), ({"nodes": ["n1"]}, 0.15), ({"room": "k"}, math.nan)],
)
def test_the_score_of_a_trial_is_the_probability_of_what_is_right(target, mass):
    answer = distribution(HOUSE, "c", {"n0": 0.5, "n1": 0.15, "n2": 0.1}, stop=0.25)
    assert correct_probability(trial_for(**target), answer) == pytest.approx(mass, nan_ok=True)


def test_an_answer_that_does_not_list_the_target_is_refused():
    with pytest.raises(BadArgument, match=r"has the target node n9, which is not among the candidates"):
        target_probability(trial_for(nodes=["n9"]), distribution(HOUSE, "c", {}, stop=1.0))


def test_skills_are_asked_on_graphs_only():
    with pytest.raises(BadArgument, match="World field is not a navigation graph"):
        require_graph(World("field", Euclidean()))


@pytest.mark.parametrize("variant", ["paper", "hearth"])
def test_the_sentences_of_a_skill_end_in_a_full_stop(variant):
    for skill in make_skills(variant).values():
        assert all(sentence.endswith(".") and sentence[0].isupper() for sentence in skill.sentences)
