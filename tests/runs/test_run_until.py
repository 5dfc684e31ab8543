"""`itinera.run(until=…)`: stopped by its own result, the same for any number of workers and however interrupted."""

from __future__ import annotations

import json

import pytest

import itinera
import tiny
from itinera.errors import BadArgument
from itinera.formats.native import read_header
from scripted_agents import Wanderer

RULE = "SR ± 12"


@pytest.fixture
def files(tmp_path):
    """120 episodes."""
    found = tiny.on_graphs(tmp_path)
    paths = [tiny.path(k, *(("house", "abcdef"[k % 4 :]), ("hut", "pqrst"[k % 3 :]))[k % 2], 3) for k in range(40)]
    tiny.written(found.tasks, paths)
    return found


def lines(file):
    return file.read_bytes().splitlines()[1:]


@pytest.fixture
def alone(files, tmp_path):
    """The file of a run in this process."""
    itinera.run("random", files.tasks, files.worlds, until=RULE, workers=0, out=tmp_path / "alone.jsonl")
    return tmp_path / "alone.jsonl"


def test_a_run_stops_early_and_says_so_in_its_file(files, alone):
    found = read_header(alone).until
    assert found["rule"] == RULE
    assert found["episodes"] == len(lines(alone)) < found["of"] == 120
    ends = found["SR"]
    assert ends["high"] - ends["low"] <= 0.24
    scores = itinera.score(alone, files.tasks, files.worlds, episodes="answered")
    assert scores.mean("SR") == pytest.approx(ends["mean"], abs=1e-9)


def test_the_interval_contains_the_mean_of_the_split(files, alone):
    whole = itinera.run("random", files.tasks, files.worlds, workers=0)
    truth = itinera.score(whole, files.tasks, files.worlds).mean("SR")
    ends = read_header(alone).until["SR"]
    assert ends["low"] <= truth <= ends["high"]
    # What was run is what a run of the whole split does in these episodes.
    some = itinera.read_predictions(alone)
    assert all(one.places == whole[one.episode_id].places for one in some)


def test_episodes_come_in_an_order_drawn_from_the_seed(files, alone, tmp_path):
    order = [json.loads(line)["tour_id"] for line in lines(alone)]
    in_file = [one.id for one in itinera.read_tasks(files.tasks) if one.id in set(order)]
    assert order != in_file
    other = itinera.run("random", files.tasks, files.worlds, until=RULE, workers=0, seed=1)
    assert [one.tour_id for one in other.rollouts][:5] != order[:5]


@pytest.mark.parametrize("workers", [1, 3])
def test_the_result_does_not_depend_on_the_number_of_workers(files, alone, tmp_path, workers):
    out = tmp_path / "several.jsonl"
    itinera.run("random", files.tasks, files.worlds, until=RULE, workers=workers, out=out)
    assert lines(out) == lines(alone)
    assert read_header(out).until == read_header(alone).until


class Stopping(Wanderer):
    """Is interrupted after so many episodes."""

    left = 0

    def reset(self, *arguments, **more):
        if Stopping.left == 0:
            raise KeyboardInterrupt
        Stopping.left -= 1
        return super().reset(*arguments, **more)


def test_an_interrupted_run_is_resumed_with_the_same_result(files, tmp_path):
    Stopping.left = -1
    itinera.run(Stopping, files.tasks, files.worlds, until=RULE, workers=0, out=tmp_path / "once.jsonl")
    out = tmp_path / "resumed.jsonl"
    for left in (3, 7, -1):
        Stopping.left = left
        try:
            itinera.run(Stopping, files.tasks, files.worlds, until=RULE, workers=0, out=out)
        except KeyboardInterrupt:
            assert left > 0
    assert lines(out) == lines(tmp_path / "once.jsonl")
    assert read_header(out).until == read_header(tmp_path / "once.jsonl").until


def test_a_finished_run_tells_its_result_again(files, alone):
    before, rules = alone.read_bytes(), []
    itinera.run("random", files.tasks, files.worlds, until=RULE, workers=0, out=alone, on_stop=rules.append)
    assert alone.read_bytes() == before
    assert rules[0].to_dict() == read_header(alone).until


def test_another_rule_is_another_run(files, alone):
    with pytest.raises(BadArgument, match="comes from another run"):
        itinera.run("random", files.tasks, files.worlds, until="SR ± 11", workers=0, out=alone)
    with pytest.raises(BadArgument, match="comes from another run"):
        itinera.run("random", files.tasks, files.worlds, workers=0, out=alone)


def test_in_memory_only_the_rollouts_that_count_are_returned(files, alone):
    kept = itinera.run("random", files.tasks, files.worlds, until=RULE, workers=2)
    assert len(kept) == len(lines(alone))


@pytest.mark.parametrize("more", [{"max_episodes": 5}, {"tours": True}])
def test_it_is_for_single_episodes_of_the_whole_split(files, more):
    if "tours" in more:
        tiny.written(files.tasks, tiny.PATHS)
        more = {"tours": files.tours}
    with pytest.raises(BadArgument, match="is for single episodes: leave out --tours and --max-episodes"):
        itinera.run("random", files.tasks, files.worlds, until=RULE, workers=0, **more)


def test_the_command_prints_the_interval_of_the_split(files, tmp_path):
    from typer.testing import CliRunner

    from itinera.cli.main import app

    words = ["run", "--agent", "random", *files.options, "--until", "SR +- 12", "--workers", "0"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "a.jsonl")])
    assert "of the full split, after " in done.output
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "b.jsonl"), "--json"])
    assert '"rule": "SR ± 12"' in done.output
