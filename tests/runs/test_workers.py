"""Worker processes: the same results for any number of workers, whatever happens to them."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

import scripted_agents
from itinera.errors import BadArgument, BadFile, Fault, ItineraError
from itinera.formats.native_predictions import encode_rollout
from itinera.records import Ending
from itinera.runs.config import RolloutConfig, TourJob
from itinera.runs.engines.processes import parallel_map
from itinera.runs.workers import run_tours
from itinera.tasks import Instruction, Tour
from itinera.tasks.protocol import IVLN, R2R
from text_worlds import episode

STREET, LANE = "abcdef", "pqrst"


def tour(name, *errands, house="house"):
    """A tour of errands, each a reference and a word."""
    episodes = tuple(
        episode(f"{name}_{k}", reference, instruction=Instruction(word), world_id=house)
        for k, (reference, word) in enumerate(errands)
    )
    return TourJob(Tour(name, house, tuple(e.id for e in episodes)), episodes)


def several(count=12):
    """Tours of three in two houses, by turns."""
    made = []
    for k in range(count):
        house, street = (("house", STREET), ("hut", LANE))[k % 2]
        made.append(tour(f"t{k}", (street[:3], "walk"), (street[2:4], "walk"), (street[::-1], "walk"), house=house))
    return made


def rows(agent, asked, *, workers, protocol=IVLN, limit=None):
    """The walks as a file holds them, in tour order."""
    found = dict(
        run_tours(
            partial(scripted_agents.make_context, agent), asked, RolloutConfig(protocol, 5, limit), workers=workers
        )
    )
    assert sorted(found) == list(range(len(asked)))
    return [encode_rollout(found[k]) for k in range(len(asked))]


def endings(agent, asked, *, workers=1, limit=None, protocol=IVLN):
    found = dict(
        run_tours(
            partial(scripted_agents.make_context, agent), asked, RolloutConfig(protocol, 5, limit), workers=workers
        )
    )
    return [[(t.ending, t.notes.get("failed")) for t in found[k].trajectories] for k in range(len(asked))]


def test_rows_do_not_depend_on_the_number_of_workers():
    asked = several()
    alone = rows(scripted_agents.Wanderer, asked, workers=0)
    assert len(set(alone)) == len(alone)
    for workers in (1, 2, 4):
        assert rows(scripted_agents.Wanderer, asked, workers=workers) == alone


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
    found = endings(scripted_agents.Obedient, asked, workers=2)
    assert found == [[STOPPED, lost, STOPPED], [lost], [STOPPED]]


def test_rows_with_deaths_do_not_depend_on_the_number_of_workers():
    asked = [
        tour(f"t{k}", ("abc", "walk"), ("cb", "leave" if k % 3 == 1 else "walk"), ("ef", "crash")) for k in range(6)
    ]
    assert rows(scripted_agents.Misbehaving, asked, workers=1) == rows(scripted_agents.Misbehaving, asked, workers=3)


def test_an_agent_that_hangs_runs_out_of_time():
    asked = [tour("x", ("abc", "stay"), ("bcd", "hang"), ("cde", "stay")), tour("y", ("abc", "stay"))]
    late = (Ending.FAILED, "time limit: the episode took longer than 6 s.")
    begun = time.monotonic()
    assert endings(scripted_agents.Obedient, asked, limit=6.0) == [[STOPPED, late, STOPPED], [STOPPED]]
    assert time.monotonic() - begun < 120


def test_what_an_agent_prints_is_passed_on_to_stderr(capfd):
    asked = [tour("x", ("abc", "mutter"), ("abc", "stay"), ("abc", "mutter")), tour("y", ("abc", "mutter"))]
    assert endings(scripted_agents.Obedient, asked) == [[STOPPED] * 3, [STOPPED]]
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err == "hm\nhmm\n" * 3


@pytest.mark.parametrize("deed", ["print", "print little by little"])
def test_an_agent_that_prints_without_end_has_failed(deed, capfd):
    asked = [tour("x", ("abc", "stay"), ("abc", deed), ("abc", "stay")), tour("y", ("abc", "stay"))]
    loud = (Ending.FAILED, "the agent printed more than 1048576 bytes in the episode.")
    assert endings(scripted_agents.Obedient, asked) == [[STOPPED, loud, STOPPED], [STOPPED]]
    printed = capfd.readouterr()
    assert printed.out == ""
    assert len(printed.err) <= 2 << 20


def test_every_episode_has_its_own_right_to_print():
    asked = [tour("x", *[("abc", "print half")] * 5)]
    assert endings(scripted_agents.Obedient, asked) == [[STOPPED] * 5]


def test_a_crew_that_cannot_be_made_ends_the_run_with_its_own_words():
    with pytest.raises(ItineraError, match=r"^nobody came\.$") as caught:
        list(run_tours(scripted_agents.broken_context, several(2), RolloutConfig(R2R, 0)))
    assert caught.value.exit_code == BadArgument.exit_code
    with pytest.raises(ItineraError, match=r"^A worker process could not start: the process ended with exit code 5\."):
        list(run_tours(scripted_agents.dying_context, several(2), RolloutConfig(R2R, 0)))


@pytest.mark.parametrize("workers", [0, 1])
def test_a_world_that_is_not_there_is_named(workers):
    asked = [tour("x", ("abc", "stay"), house="castle")]
    with pytest.raises(ItineraError, match="World castle is not among the worlds given"):
        endings(scripted_agents.Still, asked, workers=workers)


def test_nothing_asked_is_nothing_done():
    assert list(run_tours(scripted_agents.broken_context, [], RolloutConfig(R2R, 0))) == []


@pytest.mark.parametrize(("workers", "limit"), [(-1, None), (1, 0.0), (1, float("nan"))])
def test_what_cannot_be_is_refused(workers, limit):
    with pytest.raises(BadArgument):
        list(run_tours(scripted_agents.broken_context, several(1), RolloutConfig(R2R, 0, limit), workers=workers))


def test_workers_end_when_nobody_listens_any_more():
    running = run_tours(
        partial(scripted_agents.make_context, scripted_agents.Telling), several(4), RolloutConfig(R2R, 0), workers=2
    )
    _, walk = next(running)
    pid = int(walk.trajectories[0].notes["failed"].removeprefix("RuntimeError: "))
    running.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_fresh_worker_imports_nothing_from_the_current_folder_by_itself(tmp_path, monkeypatch):
    for name in ("struct", "signal", "selectors", "tempfile"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    assert endings(scripted_agents.Still, several(1)) == [[STOPPED] * 3]
    assert not (tmp_path / "executed").exists()


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
    found = list(parallel_map(doubled, iter(range(23)), workers=workers))
    assert sorted(found) == [(number, 2 * number) for number in range(23)]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("number", "said", "code"), [(2, "tasks.json: line 2: is wrong.", 1), (3, "too many", 2)])
def test_errors_come_back_with_their_words_and_their_code(workers, number, said, code):
    with pytest.raises(ItineraError, match=said) as caught:
        list(parallel_map(refused, [1, number], workers=workers))
    assert caught.value.exit_code == code


def test_a_worker_that_is_ended_is_told():
    with pytest.raises(ItineraError, match=r"was killed.*fewer --workers"):
        list(parallel_map(ended, [1, 2], workers=2))


def report_and_hang(folder: str, number: int) -> int:
    """Writes the id of this process, then keeps Python's lock for longer than anybody waits."""
    if number:
        Path(folder, str(os.getpid())).touch()
        re.match(r"(a+)+$", "a" * 60 + "b")
    return number


def wait_for(condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_jobs_at_hand_are_ended_when_nobody_wants_their_results(tmp_path):
    results = parallel_map(partial(report_and_hang, str(tmp_path)), [0, 1], workers=2)
    assert next(results) == (0, 0)
    wait_for(lambda: list(tmp_path.iterdir()))
    results.close()
    assert all(is_gone(int(file.name)) for file in tmp_path.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_worker_outlives_a_parent_that_was_killed(tmp_path):
    program = (
        "import sys; from functools import partial; from itinera.runs.engines.processes import parallel_map\n"
        "from runs.test_workers import report_and_hang\n"
        "if __name__ == '__main__':\n"
        "    list(parallel_map(partial(report_and_hang, sys.argv[1]), [1, 1], workers=2))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], env=environment)
    wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
    parent.kill()
    parent.wait()
    wait_for(lambda: all(is_gone(int(file.name)) for file in tmp_path.iterdir()))


@pytest.mark.parametrize("worker", [1, 2])
def test_an_interrupt_while_a_worker_starts_leaves_none_behind(monkeypatch, worker):
    """The interrupt comes when the process runs and the pool has not heard of it yet."""
    from itinera.runs.engines import worker_process

    started, real = [], worker_process.ParentPipe

    def interrupted(connection):
        started.append(connection)
        if len(started) == worker:
            raise KeyboardInterrupt
        return real(connection)

    monkeypatch.setattr(worker_process, "ParentPipe", interrupted)
    before = set(multiprocessing.active_children())
    with pytest.raises(KeyboardInterrupt):
        rows(scripted_agents.Wanderer, several(4), workers=2)
    assert len(started) == worker
    assert set(multiprocessing.active_children()) <= before
