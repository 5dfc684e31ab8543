"""One map on processes, a Ray cluster and SLURM jobs (those that submitit runs here): the same bytes everywhere."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import itinera
from itinera.errors import BadArgument, ItineraError
from itinera.runs.engines import check_engine, is_local, open_engine
from itinera.runs.engines.engine import find_address
from itinera.runs.engines.processes import ProcessEngine
from itinera.runs.engines.sandbox import make_chunks
from itinera.runs.engines.shipping import keep_copy, make_parcel, pack, require_private
from itinera.runs.engines.slurm import SlurmEngine, fingerprint
from runs.engines.cases import CASES, read, refuse, square

# A cluster takes seconds to start, and minutes on a busy machine.
ENGINES = ("processes", "slurm", pytest.param("ray", marks=pytest.mark.slow))


@pytest.fixture
def engine(request, tmp_path):
    """An engine by its name, with two workers."""
    if request.param == "ray":
        return request.getfixturevalue("ray_engine")
    if request.param == "slurm":
        pytest.importorskip("submitit")
        return SlurmEngine(tmp_path / "slurm", workers=2)
    return ProcessEngine(2)


@pytest.fixture(scope="module")
def expected(inputs, tmp_path_factory):
    """What each case writes in this process."""
    folder = tmp_path_factory.mktemp("expected")
    found = {}
    for name, case in CASES.items():
        case(inputs, folder / name, workers=0)
        found[name] = (folder / name).read_bytes()
    return found


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_every_chunk_is_done_once_and_keeps_its_number(engine):
    found = sorted(engine.map(partial(square, 7), iter(range(9))))
    assert [(index, result[0]) for index, result in found] == [(k, 7 + k * k) for k in range(9)]
    assert os.getpid() not in {process for _, (_, process) in found}


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_errors_come_back_with_their_words_and_their_code(engine):
    with pytest.raises(ItineraError, match="three is too many") as caught:
        list(engine.map(refuse, [1, 3]))
    assert caught.value.exit_code == BadArgument.exit_code


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_ray_cluster_writes_the_same_bytes(name, inputs, expected, ray_engine, tmp_path):
    CASES[name](inputs, tmp_path / name, engine=ray_engine)
    assert (tmp_path / name).read_bytes() == expected[name]


@pytest.mark.parametrize("name", ["graph", "r4r"])
def test_jobs_write_the_same_bytes(name, inputs, expected, tmp_path):
    pytest.importorskip("submitit")
    engine = SlurmEngine(tmp_path / "slurm", workers=2)
    CASES[name](inputs, tmp_path / name, engine=engine)
    assert (tmp_path / name).read_bytes() == expected[name]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("name", CASES)
def test_any_number_of_processes_writes_the_same_bytes(name, workers, inputs, expected, tmp_path):
    CASES[name](inputs, tmp_path / name, workers=workers)
    assert (tmp_path / name).read_bytes() == expected[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CASES.keys() - {"graph", "r4r"}))
def test_jobs_write_the_same_bytes_of_all_kinds(name, inputs, expected, tmp_path):
    pytest.importorskip("submitit")
    engine = SlurmEngine(tmp_path / "slurm", workers=3)
    CASES[name](inputs, tmp_path / name, engine=engine)
    assert (tmp_path / name).read_bytes() == expected[name]


# Addresses and arguments


def test_a_name_says_which_cluster_and_never_any_cluster():
    assert find_address("ray") is None
    assert find_address("ray://head:10001") == "ray://head:10001"
    assert find_address("ray:10.0.0.1:6379") == "10.0.0.1:6379"
    for name in ("ray:auto", "ray://head", "ray:"):
        with pytest.raises(BadArgument, match="engine"):
            find_address(name)


@pytest.mark.parametrize("name", ["process", "slurm:", "dask", ""])
def test_unknown_engines_are_refused_with_the_known_ones(name):
    with pytest.raises(BadArgument, match=r"processes, ray, ray://HOST:PORT, ray:HOST:PORT, slurm or slurm:FOLDER"):
        open_engine(name)


def test_an_engine_of_one_s_own_is_used_and_left_open():
    engine = ProcessEngine(0)
    assert is_local(engine)
    with open_engine(engine) as used:
        assert used is engine
    assert is_local("processes")
    assert not is_local("slurm")


def test_a_cluster_needs_a_worker():
    pytest.importorskip("submitit")
    with pytest.raises(BadArgument, match="at least one worker"):
        check_engine("slurm", 0)


def test_agents_that_cannot_move_are_refused(inputs, tmp_path):
    from scripted_agents import Wanderer

    pytest.importorskip("submitit")
    graph = inputs / "graph"
    with pytest.raises(BadArgument, match="needs the agent by name"):
        itinera.run(Wanderer(), graph / "R2R_tiny.json", graph / "connectivity", engine="slurm")
    with pytest.raises(BadArgument, match=r"one account.*--engine processes"):
        itinera.run(
            "openai:model",
            graph / "R2R_tiny.json",
            graph / "connectivity",
            engine="slurm",
            base_url="http://127.0.0.1:1/v1",
            answers=tmp_path,
        )


PROGRAM = """
import sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("ray", "submitit"):
            raise ImportError(f"{name} is made unimportable here")

sys.meta_path.insert(0, Refusing())
sys.argv = ["itinera", *sys.argv[1:]]
from itinera.__main__ import main
main()
"""


@pytest.mark.parametrize(("engine", "package"), [("ray", "Ray"), ("slurm", "submitit"), ("processes", "")])
def test_a_missing_extra_is_named_and_only_where_it_is_needed(engine, package, inputs, tmp_path):
    graph = inputs / "graph"
    words = ["run", "--agent", "still", "--tasks", graph / "R2R_tiny.json", "--worlds", graph / "connectivity"]
    command = [sys.executable, "-c", PROGRAM, *words, "--out", tmp_path / "out.jsonl", "--engine", engine]
    paths = {**os.environ, "PYTHONPATH": str(Path(itinera.__file__).parents[1])}
    done = subprocess.run(
        [*map(str, command), "--max-episodes", "2"], env=paths, capture_output=True, text=True, check=False
    )
    assert done.returncode == (1 if package else 0)
    assert not package or f'need {package}. Install it with: pip install "itinera[cluster]"' in done.stderr


def test_importing_everything_of_the_front_door_imports_no_cluster():
    program = (
        "import sys, itinera.api.running, itinera.runs.prepare, itinera.runs.build_season, itinera.runs.fastest_times\n"
        "assert not {'ray', 'submitit', 'cloudpickle'} & {name.split('.')[0] for name in sys.modules}"
    )
    paths = {**os.environ, "PYTHONPATH": str(Path(itinera.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", program], env=paths, check=True)


# Shipping


def test_a_function_finds_copies_of_its_files(tmp_path):
    (tmp_path / "given").mkdir()
    (tmp_path / "given/note.txt").write_text("n")
    parcel = make_parcel(partial(read, tmp_path / "given"), [tmp_path / "given"], shares_files=False)
    content = pack(tmp_path / "given")
    fetched = []
    copies = [keep_copy(tmp_path / "node", "0", lambda: fetched.append(1) or content) for _ in range(2)]
    (found, where), error = parcel.open(copies[:1])(5)
    assert error is None
    assert (found, Path(where)) == ("n5", copies[0])
    assert len(fetched) == 1  # once per node
    assert tmp_path / "node" in copies[0].parents


def test_a_function_that_cannot_be_sent_is_refused():
    with pytest.raises(BadArgument, match="cannot get this work"):
        make_parcel(lambda number: number, [], shares_files=True)


def test_other_versions_are_refused(monkeypatch):
    parcel = make_parcel(refuse, [], shares_files=True)
    monkeypatch.setattr("itinera.runs.engines.shipping.describe_version", lambda: "itinera 9")
    with pytest.raises(ItineraError, match="A worker runs itinera 9, but this program itinera"):
        parcel.open()


def test_folders_that_others_can_write_are_refused(tmp_path):
    require_private(tmp_path / "own")
    assert stat.S_IMODE((tmp_path / "own").stat().st_mode) == 0o700
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(BadArgument, match="can be written by others"):
        require_private(tmp_path / "open")


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_chunks_have_every_job_once_and_one_world_each(size):
    groups = [*"abacabad"]
    chunks = make_chunks(groups, size)
    assert sorted(index for chunk in chunks for index in chunk) == [*range(8)]
    assert all(len({groups[index] for index in chunk}) == 1 and len(chunk) <= size for chunk in chunks)


# SLURM


def test_results_of_a_driver_that_died_are_used_again(tmp_path):
    pytest.importorskip("submitit")
    first = SlurmEngine(tmp_path / "slurm", workers=1)
    found = first.map(partial(square, 0), range(3))
    kept = dict([next(found)])
    (work,) = (path for path in (tmp_path / "slurm").iterdir() if path.is_dir())
    until_all_are_done(work, 3)
    # The driver is gone without a word; what its jobs left is in the folder.
    del found
    files = {path.name: path.read_bytes() for path in work.glob("*.result")}
    assert len(files) == 3
    again = dict(SlurmEngine(tmp_path / "slurm", workers=1).map(partial(square, 0), range(3)))
    assert {result for _, result in again.items()} >= set(kept.values())
    assert len({process for _, process in again.values()}) == 1  # none was done again
    assert not work.exists()


def until_all_are_done(work, count):
    import time

    until = time.monotonic() + 120
    while len(list(work.glob("*.result"))) < count:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_work_is_known_by_its_content():
    assert fingerprint(b"a", "bc") == fingerprint(b"a", b"bc") != fingerprint(b"ab", b"c")
