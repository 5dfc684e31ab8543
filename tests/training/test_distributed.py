"""Processes that train together: equal weights, stragglers, lost ranks, and gradients that count every sample once."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from itinera.training.distributed import ALONE, Ranks

SCRIPT = Path(__file__).parent / "rank_script.py"


def launch(size, *options):
    """The last line that each rank prints, as JSON."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    source = str(Path(__file__).parents[2] / "src")
    processes = []
    for rank in range(size):
        env = {
            **os.environ, "RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port), "PYTHONPATH": source, "OMP_NUM_THREADS": "1",
        }  # fmt: skip
        command = [sys.executable, str(SCRIPT), *map(str, options)]
        processes.append(subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    found = []
    for process in processes:
        out, error = process.communicate(timeout=300)
        found.append(json.loads(out.splitlines()[-1]) if out else {"code": process.returncode, "stderr": error})
    return found


def test_two_ranks_end_with_the_same_weights_although_the_slow_one_is_preempted():
    one, other = launch(2, "--slow-rank", 1, "--preempt-share", 0.6, "--updates", 4)
    assert one.get("preempted", 0) >= 1, one
    assert one["sum"] == other["sum"]
    assert one["step"] == other["step"]


@pytest.mark.slow
def test_a_lost_rank_stops_the_others_with_a_sentence_and_the_run_resumes(tmp_path):
    file = tmp_path / "ppo.partial"
    survivor, lost = launch(2, "--checkpoint", file, "--dying-rank", 1)
    assert lost["code"] == 9
    assert survivor["error"] == "RankLost"
    assert "Start the same command again" in survivor["message"]
    one, other = launch(2, "--checkpoint", file)
    assert one["begin"] == other["begin"] == 2 * 16 * 8 * 2
    assert one["sum"] == other["sum"]
    assert one["step"] == 6 * 16 * 8 * 2


@pytest.mark.slow
def test_ranks_with_other_weights_are_told_apart():
    found = launch(2, "--drift")
    assert {row["error"] for row in found} <= {"RanksDiffer", "RankLost"}
    assert "RanksDiffer" in {row["error"] for row in found}


@pytest.mark.slow
def test_four_ranks_end_with_the_same_weights_with_and_without_a_straggler():
    plain = launch(4)
    assert len({row["sum"] for row in plain}) == 1
    slow = launch(4, "--slow-rank", 2, "--preempt-share", 0.6)
    assert len({row["sum"] for row in slow}) == 1
    assert slow[0]["preempted"] >= 1


def test_one_rank_sends_nothing_and_averages_its_own_gradients():
    layer = nn.Linear(2, 1, bias=False)
    layer(torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    ALONE.average_gradients(layer, 2)
    assert layer.weight.grad.tolist() == [[2.0, 3.0]]
    values = torch.tensor([1.0, 2.0])
    assert ALONE.add(values) is values
    ALONE.check_equal(b"anything", "now")
    assert not ALONE.should_stop(64, 64)


class Store:
    """A counter as that of the ranks, without them."""

    def __init__(self):
        self.counts = {}

    def add(self, key, amount):
        self.counts[key] = self.counts.get(key, 0) + amount
        return self.counts[key]


@pytest.mark.parametrize(("size", "enough"), [(2, 1), (3, 2), (4, 2), (5, 3), (8, 5)])
def test_a_rank_is_preempted_once_the_share_is_done_and_a_quarter_of_its_own_steps(size, enough):
    store = Store()
    others = [Ranks(k + 1, size, store, preempt_share=0.6) for k in range(size - 1)]
    slow = Ranks(0, size, store, preempt_share=0.6)
    for rank in (slow, *others):
        rank.begin_rollout()
    for k in range(enough):
        assert not slow.should_stop(64, 128)
        others[k].end_rollout()
    assert slow.should_stop(64, 128)
    assert slow.should_stop(32, 128)
    assert not slow.should_stop(28, 128)
    slow.begin_rollout()
    assert not slow.should_stop(64, 128)  # of the next roll-out nobody is done
