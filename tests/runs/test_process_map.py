"""The same work in several processes: each result once, with the number of its job, and errors in their own words."""

from __future__ import annotations

import os
import signal

import pytest

from itinera.errors import BadArgument, BadFile, Fault, ItineraError
from itinera.runs.process_map import in_processes


def doubled(number: int) -> int:
    return 2 * number


def refused(number: int) -> int:
    if number == 2:
        raise BadFile("tasks.json", [Fault("line 2", "is wrong.")])
    if number == 3:
        raise BadArgument("three is too many.")
    return number


def ended(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("workers", [1, 2])
def test_every_job_is_done_once_and_keeps_its_number(workers):
    found = list(in_processes(doubled, iter(range(23)), workers=workers))
    assert sorted(found) == [(number, 2 * number) for number in range(23)]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("number", "said", "code"), [(2, "tasks.json: line 2: is wrong.", 1), (3, "too many", 2)])
def test_errors_come_back_with_their_words_and_their_code(workers, number, said, code):
    with pytest.raises(ItineraError, match=said) as caught:
        list(in_processes(refused, [1, number], workers=workers))
    assert caught.value.exit_code == code


def test_a_worker_that_is_ended_is_told():
    with pytest.raises(ItineraError, match=r"ended from outside.*fewer --workers"):
        list(in_processes(ended, [1, 2], workers=2))
