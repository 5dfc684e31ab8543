"""The rule that stops a run."""

from __future__ import annotations

import pytest

from itinera.errors import BadArgument, GoalsWithheld
from itinera.metrics.stopping import StoppingRule, parse_rule
from itinera.tasks import PROTOCOLS, Split
from text_worlds import STREET, episode, predictions, split, world

WORLDS = {"house": world(STREET)}
TASKS = split({str(k): ("abcdef"[: 4 + k % 3]) for k in range(60)})
TASKS = Split("street", tuple(episode(one.id, tuple(one.reference)) for one in TASKS))


def make_rule(text="SR ± 10", tasks=TASKS):
    return StoppingRule(text, tasks, lambda: WORLDS, PROTOCOLS["r2r"])


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("SR ± 2", ("SR", 0.02)),
        ("SPL±1.5 %", ("SPL", 0.015)),
        ("nDTW +- .5", ("nDTW", 0.005)),
        ("SR +/- 3", ("SR", 0.03)),
    ],
)
def test_rules_are_written_in_points(text, parsed):
    assert parse_rule(text) == pytest.approx(parsed)


@pytest.mark.parametrize("text", ["", "SR", "± 2", "SR ± 0", "SR ± 50", "SR ± -2", "SR ± x", "SR 2"])
def test_other_words_are_no_rule(text):
    with pytest.raises(BadArgument, match=r'such as "SR ± 2" or "SPL \+- 1.5"'):
        parse_rule(text)


def test_a_rule_stops_once_the_interval_is_short_enough():
    rule, stopped = make_rule(), 0
    for number, one in enumerate(TASKS):
        rollout = predictions({one.id: tuple(one.reference)}).rollouts[0]
        if rule.add(rollout):
            stopped = number + 1
            break
    found = rule.interval()
    assert 10 < stopped < 60
    assert (found.mean, found.high) == (1.0, 1.0)
    assert found.high - found.low <= 0.2
    assert str(rule) == f"SR 100.0 % ({100 * found.low:.1f} – 100.0) of the full split, after {stopped} of 60 episodes"
    assert rule.to_dict()["SR"]["low"] == found.low
    assert rule.to_dict()["of"] == 60


def test_the_rule_is_the_same_however_it_is_written():
    assert make_rule("SR +- 10.0 %").rule == make_rule("SR ± 10").rule == "SR ± 10"


@pytest.mark.parametrize(
    ("text", "message"), [("NE ± 2", "takes a metric between 0 and 1: SR, OSR, .*; not NE"), ("foo ± 2", "not foo")]
)
def test_only_fractions_stop_a_run(text, message):
    with pytest.raises(BadArgument, match=message):
        make_rule(text)


def test_a_hidden_test_split_cannot_stop_itself():
    with pytest.raises(GoalsWithheld, match="goals withheld"):
        make_rule(tasks=Split("test", (episode("1", ("a",), goals=()),)))


def test_success_that_needs_objects_cannot_stop_a_run():
    with pytest.raises(BadArgument, match="does not apply to reverie"):
        StoppingRule("SR ± 2", TASKS, lambda: WORLDS, PROTOCOLS["reverie"])
