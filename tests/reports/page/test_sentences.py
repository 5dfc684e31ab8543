"""The sentences of the first screen say what the numbers say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from itinera.formats.report_json import Estimate, Findings, SkillFound
from itinera.records import Column
from itinera.reports.page.sentences import answers, listed, p_told, signed, skills_told
from reports.contests_of import changed, contest, made_up


def told(found) -> dict[str, str]:
    return {answer.question: " ".join(answer.sentences) for answer in answers(found)}


def test_the_better_agent_is_named_whichever_stands_first():
    for order in ((0.9, 0.3), (0.3, 0.9)):
        good = "good" if order[0] > order[1] else "poor"
        words = told(contest(*(made_up(skill) for skill in order)))
        assert words["Who is better?"].startswith(f"{good} is better than ")
        assert "points of SR" in words["By how much?"]
        assert "8 of 8 scenes (p = 0.0078 by sign flips" in words["How sure is that?"]
        assert f"Of {good}’s " in words["Where does it fail?"]


def test_a_tie_is_called_one():
    table = made_up(0.6)
    words = told(contest(table, changed(table, SR=np.roll(table["SR"], 1))))
    assert "cannot tell them apart" in words["Who is better?"]


def test_the_best_of_three_is_compared_with_the_next():
    words = told(contest(made_up(0.2), made_up(0.95), made_up(0.6)))
    assert words["Who is better?"].startswith("poor is better than each of the other 2:")
    assert words["By how much?"].startswith("Against third, the next best: +")


def test_another_order_by_another_metric_is_told():
    one, other = made_up(0.9), made_up(0.3)
    words = told(contest(changed(one, nDTW=0.1), changed(other, nDTW=0.9)))
    assert "By nDTW, how well the path is followed, poor is first: 90.0 %" in words["Who is better?"]


def test_one_agent_alone_is_described():
    words = told(contest(made_up(0.6)))
    assert words["How good is it?"].startswith("good reaches a success rate of ")
    assert "By how much?" not in words


def test_who_never_fails_leaves_the_question_to_the_next():
    words = told(contest(changed(made_up(0.9), SR=1.0), made_up(0.3)))
    assert "good succeeds everywhere; poor does not." in words["Where does it fail?"]
    perfect = changed(made_up(0.9), SR=1.0)
    assert told(contest(perfect, perfect))["Where does it fail?"] == "good and poor succeed everywhere."


def test_doubts_are_told():
    table = made_up(0.6, scenes=1)
    lazy = replace(made_up(0.3, scenes=1), missing=np.arange(120) < 7)
    words = told(contest(table, lazy))["How sure is that?"]
    assert "one scene only" in words
    assert "poor left 7 episodes unanswered" in words
    few = told(contest(made_up(0.6, scenes=4), made_up(0.3, scenes=4)))["How sure is that?"]
    assert "no p-value can be below 0.12" in few


def test_memory_is_a_question_of_tours_only():
    assert "Does memory help?" not in told(contest(made_up(0.6)))
    table = made_up(0.6, toured=True)
    assert "No agent’s nDTW differs surely" in told(contest(changed(table, nDTW=0.5)))["Does memory help?"]
    learned = changed(table, nDTW=0.2 + 0.5 * (table.asked.legs > 7))
    assert "good’s nDTW changes by +50.0 points" in told(contest(learned))["Does memory help?"]


def test_a_metric_undefined_everywhere_ranks_nobody():
    words = told(contest(changed(made_up(0.6), SR=np.nan), changed(made_up(0.3), SR=np.nan)))
    assert words["Who is better?"] == "SR is undefined in every episode, so nobody can be ranked by it."


def test_infinite_errors_break_nothing():
    assert told(contest(changed(made_up(0.6), NE=np.inf), made_up(0.3)))


def test_small_words():
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(["a"]) == "a"
    assert p_told(0.0004) == "p < 0.001"
    assert [signed(Column("SR"), x) for x in (0.123, -0.123, -0.0001)] == ["+12.3", "−12.3", "0.0"]


def test_skills_are_told_at_their_ends():
    found = Findings({"reader": {"stop": SkillFound([], Estimate(0.9)), "turn": SkillFound([], Estimate(0.5))}})
    assert skills_told(found)[0].startswith("reader is best at stop (90 %) and worst at turn (50 %)")
    assert skills_told(Findings({"mute": {"stop": SkillFound(["nothing"])}})) == []
