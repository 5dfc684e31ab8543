"""Results grouped into contests, and rows brought into one order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from itinera.reports.page.contest import contests
from reports.contests_of import contest, made_up


def backwards(table):
    """The same results in another order."""
    asked = replace(
        table.asked,
        distances=table.asked.distances[::-1],
        lengths=table.asked.lengths[::-1],
        tours=table.asked.tours[::-1],
        legs=table.asked.legs[::-1],
    )
    return replace(
        table,
        episode_ids=table.episode_ids[::-1],
        world_ids=table.world_ids[::-1],
        path_ids=table.path_ids[::-1],
        values={name: values[::-1] for name, values in table.values.items()},
        missing=table.missing[::-1],
        asked=asked,
    )


def test_results_of_other_episodes_or_rules_are_other_contests():
    tables = [made_up(0.8), made_up(0.5, prefix="other"), made_up(0.3), made_up(0.3, toured=True)]
    found = list(contests(["a", "b", "c", "d"], tables))
    assert [one.names for one in found] == [("a", "c"), ("b",), ("d",)]
    assert len({one.title for one in found}) == 3
    assert [one.compared is None for one in found] == [False, True, True]


def test_agents_that_move_otherwise_are_compared_where_times_are_told():
    slow, quick = made_up(0.5, timed=True), made_up(0.6, timed=True)
    quick = replace(quick, protocol=replace(quick.protocol, step_size=0.25, drive="unicycle"))
    found = contest(slow, quick)
    assert found.solved is not None
    assert found.leading.name == "SCT"


def test_an_agent_has_the_same_number_in_every_contest():
    tables = [made_up(0.8), made_up(0.5), made_up(0.3, prefix="other"), made_up(0.2, prefix="other")]
    first, second = contests(["a", "b", "c", "b"], tables)
    assert [agent.number for agent in first.agents] == [0, 1]
    assert [agent.number for agent in second.agents] == [2, 1]


def test_rows_in_another_order_change_nothing():
    one, other = made_up(0.8), made_up(0.5)
    straight, turned = contest(one, other), contest(one, backwards(other))
    for metric in ("SR", "NE"):
        np.testing.assert_array_equal(straight.values(metric), turned.values(metric))
    assert straight.difference("SR", 0, 1) == turned.difference("SR", 0, 1)


def test_the_lower_error_is_the_better():
    table = made_up(0.8)
    only_errors = [replace(t, columns=(t.columns[2],)) for t in (made_up(0.3), table)]
    assert contest(*only_errors).leading.name == "NE"
    assert contest(*only_errors).ranking(contest(*only_errors).leading) == [1, 0]
