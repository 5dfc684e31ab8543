"""All skills in a home of Hearth, by agents of whom one knows what they must get."""

from __future__ import annotations

from functools import partial

import pytest

from itinera.agents.baselines import ForwardBiasedAgent, StationaryAgent, UniformAgent
from itinera.agents.oracle import GraphExpert
from itinera.agents.rule_based import RuleBasedAgent
from itinera.builders.hearth import build_annotated_house, build_tasks
from itinera.runs.probing import ProbeContext, probe_all
from itinera.simulators.graph import GraphSimulator
from itinera.skills.distributions import turn_histogram
from itinera.skills.registry import SKILLS, make_skills, select_skills
from itinera.skills.responses import SkillResponses, group_responses
from itinera.skills.trials import design
from itinera.skills.truncation import truncate
from itinera.tasks.trial import Trial

pytestmark = pytest.mark.slow

ASKED = ("stop", "direction", "object", "room-1", "room-3")


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, SkillResponses]]:
    """What agents answered, by agent and skill."""
    home = build_annotated_house(1, 0)
    worlds = {home.world.id: home.world}
    truncations = truncate(build_tasks(home, {"val": 10})["val"].graph_episodes).items[::2]
    trials = design(select_skills(ASKED, make_skills("hearth")), truncations, worlds, seed=1).trials
    trials = [trial for trial in trials if trial.skill != "room-3" or trial.source.endswith("0")]

    def expert(trial: Trial) -> GraphExpert:
        goals = [node for node, room in home.world.rooms.items() if room.label == trial.target.get("room")]
        right = tuple(trial.target.get("nodes") or goals) if "stop" not in trial.target else trial.episode.goals
        return GraphExpert(home.graph, right if trial.arm == "intervention" else trial.episode.goals)

    same = {
        "reader": RuleBasedAgent(),
        "still": StationaryAgent(),
        "uniform": UniformAgent(),
        "forward": ForwardBiasedAgent(),
    }
    agents = {name: (lambda trial, agent=agent: agent) for name, agent in same.items()} | {"expert": expert}
    responses = {}
    for name, agent in agents.items():
        body = GraphSimulator(descriptions={home.world.id: home.descriptions})
        make_context = partial(ProbeContext, agent, body, worlds)
        batches = probe_all(make_context, trials, seed=1, workers=0, rollout_skills=frozenset({"room-3"}))
        found = [distribution for batch in batches for _, distribution in batch]
        responses[name] = group_responses(trials, found, SKILLS, worlds)
    return responses


def score(responses: SkillResponses) -> float:
    return float(responses.arms["intervention"].score.mean())


def test_nobody_fails(found):
    assert all(of.counts.completed == of.counts.total for by_skill in found.values() for of in by_skill.values())


def test_the_still_agent_scores_exactly_one_on_stopping_and_zero_elsewhere(found):
    scores = {name: score(of) for name, of in found["still"].items() if name != "room-3"}
    assert scores.pop("stop") == 1.0
    assert set(scores.values()) == {0.0}


def test_the_expert_scores_exactly_one(found):
    assert {score(of) for name, of in found["expert"].items() if name != "room-3"} == {1.0}
    assert set(found["expert"]["room-3"].arms["intervention"].response.tolist()) == {0.0}


@pytest.mark.parametrize("skill", ["direction-left", "direction-backward", "direction-back-right", "object", "room-1"])
def test_the_reader_scores_far_above_those_who_do_not_listen(found, skill):
    others = max(score(found[name][skill]) for name in ("still", "uniform", "forward"))
    assert score(found["reader"][skill]) > others + 0.25


def test_the_reader_stops_where_its_words_end_and_goes_on_where_they_do(found):
    arms = found["reader"]["stop"].arms
    assert arms["control"].response.mean() > 0.8
    assert arms["ahead"].response.mean() < 0.5


def test_the_reader_ends_nearer_to_the_room_it_is_told(found):
    told, untold = found["reader"]["room-3"].pair_arms("intervention", "control")
    assert told.response.mean() < untold.response.mean() - 1


def test_forward_bias_peaks_ahead(found):
    for arm in ("intervention", "control"):
        spread = turn_histogram(found["forward"]["direction-forward"].arms[arm])
        middle = spread.edges[int(spread.shares.argmax())] + 5
        assert abs(middle) < 15
