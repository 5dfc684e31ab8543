"""Many tours at once: the same rows however many work, and whatever becomes of those who do."""

from __future__ import annotations

import os
import time
from functools import partial

import pytest

import players
from drawn import episode
from itinera.errors import BadArgument, ItineraError
from itinera.formats.native_predictions import record_of
from itinera.records import Ending
from itinera.runs.config import Asked, Rules
from itinera.runs.workers import run_tours
from itinera.tasks import Instruction, Tour
from itinera.tasks.protocol import IVLN, R2R

STREET, LANE = "abcdef", "pqrst"


def tour(name, *errands, house="house"):
    """A tour of errands, each a reference and a word."""
    episodes = tuple(
        episode(f"{name}_{k}", reference, instruction=Instruction(word), world_id=house)
        for k, (reference, word) in enumerate(errands)
    )
    return Asked(Tour(name, house, tuple(e.id for e in episodes)), episodes)


def several(count=12):
    """Tours of three in two houses, by turns."""
    made = []
    for k in range(count):
        house, street = (("house", STREET), ("hut", LANE))[k % 2]
        made.append(tour(f"t{k}", (street[:3], "walk"), (street[2:4], "walk"), (street[::-1], "walk"), house=house))
    return made


def rows(agent, asked, *, workers, protocol=IVLN, limit=None):
    """The walks as a file holds them, in tour order."""
    found = dict(run_tours(partial(players.crew, agent), asked, Rules(protocol, 5, limit), workers=workers))
    assert sorted(found) == list(range(len(asked)))
    return [record_of(found[k]) for k in range(len(asked))]


def endings(agent, asked, *, workers=1, limit=None, protocol=IVLN):
    found = dict(run_tours(partial(players.crew, agent), asked, Rules(protocol, 5, limit), workers=workers))
    return [[(t.ending, t.notes.get("failed")) for t in found[k].trajectories] for k in range(len(asked))]


def test_rows_do_not_depend_on_the_number_of_workers():
    asked = several()
    alone = rows(players.Wanderer, asked, workers=0)
    assert len(set(alone)) == len(alone)
    for workers in (1, 2, 4):
        assert rows(players.Wanderer, asked, workers=workers) == alone


STOPPED = (Ending.STOPPED, None)
GONE = {
    "leave": "the process ended with exit code 3.",
    "abort": "the process was ended by SIGABRT.",
}


@pytest.mark.parametrize("deed", GONE)
def test_a_worker_that_dies_loses_its_episode_only(deed):
    asked = [
        tour("x", ("abc", "stay"), ("bcd", deed), ("cde", "stay")),
        tour("y", ("abc", deed)),
        tour("z", ("ab", "stay")),
    ]
    lost = (Ending.FAILED, GONE[deed])
    found = endings(players.Obedient, asked, workers=2)
    assert found == [[STOPPED, lost, STOPPED], [lost], [STOPPED]]


def test_rows_with_deaths_do_not_depend_on_the_number_of_workers():
    asked = [
        tour(f"t{k}", ("abc", "walk"), ("cb", "leave" if k % 3 == 1 else "walk"), ("ef", "crash")) for k in range(6)
    ]
    assert rows(players.Misbehaving, asked, workers=1) == rows(players.Misbehaving, asked, workers=3)


def test_an_agent_that_hangs_runs_out_of_time():
    asked = [tour("x", ("abc", "stay"), ("bcd", "hang"), ("cde", "stay")), tour("y", ("abc", "stay"))]
    late = (Ending.FAILED, "time limit: the episode took longer than 6 s.")
    begun = time.monotonic()
    assert endings(players.Obedient, asked, limit=6.0) == [[STOPPED, late, STOPPED], [STOPPED]]
    assert time.monotonic() - begun < 120


def test_what_an_agent_prints_is_passed_on_to_stderr(capfd):
    asked = [tour("x", ("abc", "mutter"), ("abc", "stay"), ("abc", "mutter")), tour("y", ("abc", "mutter"))]
    assert endings(players.Obedient, asked) == [[STOPPED] * 3, [STOPPED]]
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err == "hm\nhmm\n" * 3


@pytest.mark.parametrize("deed", ["print", "print little by little"])
def test_an_agent_that_prints_without_end_has_failed(deed, capfd):
    asked = [tour("x", ("abc", "stay"), ("abc", deed), ("abc", "stay")), tour("y", ("abc", "stay"))]
    loud = (Ending.FAILED, "more than 1048576 bytes were printed in the episode.")
    assert endings(players.Obedient, asked) == [[STOPPED, loud, STOPPED], [STOPPED]]
    printed = capfd.readouterr()
    assert printed.out == ""
    assert len(printed.err) <= 2 << 20


def test_every_episode_has_its_own_right_to_print():
    asked = [tour("x", *[("abc", "print half")] * 5)]
    assert endings(players.Obedient, asked) == [[STOPPED] * 5]


def test_a_crew_that_cannot_be_made_ends_the_run_with_its_own_words():
    with pytest.raises(ItineraError, match=r"^nobody came\.$") as caught:
        list(run_tours(players.no_crew, several(2), Rules(R2R, 0)))
    assert caught.value.exit_code == BadArgument.exit_code
    with pytest.raises(ItineraError, match=r"^A worker could not begin: the process ended with exit code 5\.$"):
        list(run_tours(players.dying_crew, several(2), Rules(R2R, 0)))


@pytest.mark.parametrize("workers", [0, 1])
def test_a_world_that_is_not_there_is_named(workers):
    asked = [tour("x", ("abc", "stay"), house="castle")]
    with pytest.raises(ItineraError, match="World castle is not among the worlds given"):
        endings(players.Still, asked, workers=workers)


def test_nothing_asked_is_nothing_done():
    assert list(run_tours(players.no_crew, [], Rules(R2R, 0))) == []


@pytest.mark.parametrize(("workers", "limit"), [(-1, None), (1, 0.0), (1, float("nan"))])
def test_what_cannot_be_is_refused(workers, limit):
    with pytest.raises(BadArgument):
        list(run_tours(players.no_crew, several(1), Rules(R2R, 0, limit), workers=workers))


def test_workers_end_when_nobody_listens_any_more():
    running = run_tours(partial(players.crew, players.Telling), several(4), Rules(R2R, 0), workers=2)
    _, walk = next(running)
    pid = int(walk.trajectories[0].notes["failed"].removeprefix("RuntimeError: "))
    running.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
