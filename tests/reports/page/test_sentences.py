"""The sentences of the summary agree with the numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from itinera.formats.report_json import Estimate, SkillResult, StudyResults
from itinera.records import Column
from itinera.records.tables import format_difference
from itinera.reports.page.sentences import answer_questions, format_p_value, join_words, summarize_skills
from reports.example_results import changed, make_benchmark, make_scores


def summarize(found) -> dict[str, str]:
    return {answer.question: " ".join(answer.sentences) for answer in answer_questions(found)}


def test_the_better_agent_is_named_whichever_stands_first():
    for order in ((0.9, 0.3), (0.3, 0.9)):
        good = "good" if order[0] > order[1] else "poor"
        words = summarize(make_benchmark(*(make_scores(skill) for skill in order)))
        assert words["Which agent is better?"].startswith(f"{good} is better than ")
        assert "points of SR" in words["By how much?"]
        assert "8 of 8 scenes (p = 0.0078, permutation test" in words["How certain is that?"]
        assert f"{good}: " in words["Where does it fail?"]


def test_a_tie_is_called_one():
    table = make_scores(0.6)
    words = summarize(make_benchmark(table, changed(table, SR=np.roll(table["SR"], 1))))
    assert "do not differ significantly" in words["Which agent is better?"]


def test_the_best_of_three_is_compared_with_the_next():
    words = summarize(make_benchmark(make_scores(0.2), make_scores(0.95), make_scores(0.6)))
    assert words["Which agent is better?"].startswith("poor is better than each of the other 2 agents:")
    assert words["By how much?"].startswith("Compared with third, the next best: +")


def test_another_order_by_another_metric_is_told():
    one, other = make_scores(0.9), make_scores(0.3)
    words = summarize(make_benchmark(changed(one, nDTW=0.1), changed(other, nDTW=0.9)))
    assert "By nDTW (path fidelity), poor is first: 90.0 %" in words["Which agent is better?"]


def test_one_agent_alone_is_described():
    words = summarize(make_benchmark(make_scores(0.6)))
    assert words["How good is it?"].startswith("good: success rate ")
    assert "By how much?" not in words


def test_who_never_fails_leaves_the_question_to_the_next():
    words = summarize(make_benchmark(changed(make_scores(0.9), SR=1.0), make_scores(0.3)))
    assert "good succeeds in every episode; poor does not." in words["Where does it fail?"]
    perfect = changed(make_scores(0.9), SR=1.0)
    assert (
        summarize(make_benchmark(perfect, perfect))["Where does it fail?"] == "good and poor succeed in every episode."
    )


def test_doubts_are_told():
    table = make_scores(0.6, scenes=1)
    lazy = replace(make_scores(0.3, scenes=1), missing=np.arange(120) < 7)
    words = summarize(make_benchmark(table, lazy))["How certain is that?"]
    assert "only one scene" in words
    assert "poor has no trajectory for 7 episodes" in words
    few = summarize(make_benchmark(make_scores(0.6, scenes=4), make_scores(0.3, scenes=4)))["How certain is that?"]
    assert "no p-value can be below 0.12" in few


def test_memory_is_a_question_of_tours_only():
    assert "Does memory help?" not in summarize(make_benchmark(make_scores(0.6)))
    table = make_scores(0.6, toured=True)
    assert (
        "No agent’s nDTW differs significantly"
        in summarize(make_benchmark(changed(table, nDTW=0.5)))["Does memory help?"]
    )
    learned = changed(table, nDTW=0.2 + 0.5 * (table.episode_info.tour_positions > 7))
    assert (
        "from the first to the second half of its tours by +50.0 points"
        in summarize(make_benchmark(learned))["Does memory help?"]
    )


def test_a_metric_undefined_everywhere_ranks_nobody():
    words = summarize(make_benchmark(changed(make_scores(0.6), SR=np.nan), changed(make_scores(0.3), SR=np.nan)))
    assert words["Which agent is better?"] == "SR is undefined in every episode, so it cannot rank the agents."


def test_infinite_errors_break_nothing():
    assert summarize(make_benchmark(changed(make_scores(0.6), NE=np.inf), make_scores(0.3)))


def test_small_words():
    assert join_words(["a", "b", "c"]) == "a, b and c"
    assert join_words(["a"]) == "a"
    assert format_p_value(0.0004) == "p < 0.001"
    assert [format_difference(Column("SR"), x) for x in (0.123, -0.123, -0.0001)] == ["+12.3", "−12.3", "0.0"]


def test_skills_are_told_at_their_ends():
    found = StudyResults({"reader": {"stop": SkillResult([], Estimate(0.9)), "turn": SkillResult([], Estimate(0.5))}})
    assert summarize_skills(found)[0].startswith("reader is best at stop (90 %) and worst at turn (50 %)")
    assert summarize_skills(StudyResults({"mute": {"stop": SkillResult(["nothing"])}})) == []
