"""Real predictions on real graphs: numbers worked out by other means, and what the data is known to hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from itinera.errors import GoalsWithheld
from itinera.formats import catalog, matterport, vlnce
from itinera.formats.matterport import Connectivity
from itinera.metrics.score import score
from itinera.records import Predictions, ScoreTable, Trajectory
from itinera.tasks import Split
from itinera.worlds import Euclidean, World

pytestmark = pytest.mark.real

PREVALENT = "prevalent_seq2seq_teacher_imagenet"


@pytest.fixture(scope="module")
def worlds(data: Path) -> Connectivity:
    return matterport.read_worlds(data / "connectivity.tar.xz")


@pytest.fixture(scope="module")
def val_unseen(data: Path) -> Split:
    return catalog.read_tasks(data / "r2r" / "R2R_val_unseen.json.gz")


def scored(data: Path, worlds: Connectivity, name: str, split: str) -> ScoreTable:
    tasks = catalog.read_tasks(data / split)
    return score(catalog.read_predictions(data / "predictions" / name, tasks), tasks, worlds)


# Means from a script of a few lines that has nothing in common with ours: SR, OSR, SPL, NE, PL.
KNOWN = {
    f"{PREVALENT}_val_unseen_iter_36000": (0.6015, 0.6488, 0.5601, 4.136, 9.986),
    f"{PREVALENT}_val_unseen_iter_36000_add": (0.4874, 0.5653, 0.4479, 5.281, 10.161),
    f"{PREVALENT}_val_seen_iter_36000": (0.6611, 0.7258, 0.6307, 3.316, 10.304),
    f"{PREVALENT}_val_seen_iter_36000_add": (0.5338, 0.6190, 0.5027, 4.673, 10.315),
    "val_unseen_shortest_agent": (1.0, 1.0, 1.0, 0.0, 9.480),
}


@pytest.mark.parametrize(("name", "means"), KNOWN.items(), ids=KNOWN.keys())
def test_r2r_predictions_have_their_known_scores(
    data: Path, worlds: Connectivity, name: str, means: tuple[float, ...]
) -> None:
    split = "val_seen" if "val_seen" in name else "val_unseen"
    table = scored(data, worlds, f"r2r/{name}.json.gz", f"r2r/R2R_{split}.json.gz")
    assert len(table) == {"val_seen": 1021, "val_unseen": 2349}[split]
    found = [table[metric].mean() for metric in ("SR", "OSR", "SPL", "NE", "PL")]
    assert [round(x, 4) for x in found[:3]] == list(means[:3])
    assert [round(x, 3) for x in found[3:]] == list(means[3:])
    assert all(np.isfinite(values).all() for values in table.values.values())


@pytest.mark.parametrize("suffix", ["", "_add"])
def test_hidden_test_predictions_are_refused_by_score_and_passed_by_check(
    data: Path, worlds: Connectivity, itinera: Callable[..., Any], suffix: str
) -> None:
    name = f"{PREVALENT}_test_iter_36000{suffix}.json.gz"
    with pytest.raises(GoalsWithheld, match="goals withheld: 4173 of 4173 episodes"):
        scored(data, worlds, f"r2r/{name}", "r2r/R2R_test.json.gz")
    options = ("--tasks", data / "r2r" / "R2R_test.json.gz", "--worlds", data / "connectivity.tar.xz", "--json")
    told = itinera("check", data / "predictions" / "r2r" / name, *options).json
    assert (told["trajectories"], told["worlds"]) == (4173, 18)


NDH = {
    "baseline_sample": ("val_unseen", 48),
    "val-seq2seq-all-trusted_path-40-sample-imagenet_val_seen_iter_100": ("val_seen", 13),
    "val-seq2seq-all-trusted_path-40-sample-imagenet_val_unseen_iter_100": ("val_unseen", 55),
    "val-seq2seq-all-trusted_path-80-sample-imagenet_val_unseen_iter_19900": ("val_unseen", 57),
}


@pytest.mark.parametrize(("name", "split", "arrived"), [(n, *v) for n, v in NDH.items()], ids=NDH.keys())
def test_ndh_predictions_end_on_a_goal_as_often_as_known(
    data: Path, worlds: Connectivity, name: str, split: str, arrived: int
) -> None:
    table = scored(data, worlds, f"ndh/{name}.json.gz", f"ndh/{split}.json.gz")
    assert len(table) == {"val_seen": 382, "val_unseen": 907}[split]
    assert int((table["NE"] == 0).sum()) == arrived  # no two nodes are in one place
    assert table["SR"].sum() >= arrived


def test_spl_measures_the_shortest_way_and_not_the_reference(worlds: Connectivity, val_unseen: Split) -> None:
    """Eight references of val-unseen are not shortest paths, so even who follows them does not get SPL 1."""
    walks = Predictions.from_trajectories(
        "references", tuple(Trajectory(e.id, e.reference) for e in val_unseen.episodes)
    )
    table = score(walks, val_unseen, worlds)
    for metric in ("SR", "OSR", "SED", "nDTW", "SDTW", "CLS"):
        assert table[metric].min() == 1.0
    longer = {table.path_ids[i] for i in np.flatnonzero(table["SPL"] < 1 - 1e-9)}
    assert longer == {"601", "2847", "3108", "6939", "1404", "3090", "5476", "7053"}
    assert table["SPL"][table.path_ids.index("5476")] == pytest.approx(15.302 / 19.016, abs=1e-4)


def test_a_shortest_walk_is_not_always_the_reference(data: Path, worlds: Connectivity) -> None:
    table = scored(data, worlds, "r2r/val_unseen_shortest_agent.json.gz", "r2r/R2R_val_unseen.json.gz")
    assert table["SPL"].min() == pytest.approx(1.0)
    other = {table.path_ids[i] for i in np.flatnonzero(table["nDTW"] < 1 - 1e-9)}
    assert {"601", "5476"} <= other
    assert len(other) < 40


@pytest.mark.parametrize("split", ["val_seen", "val_unseen"])
def test_the_experts_of_vlnce_arrive(data: Path, split: str) -> None:
    folder = data / "vlnce" / "R2R_VLNCE_v1-3_preprocessed"
    tasks = catalog.read_tasks(folder / f"{split}.json.gz")
    dense = vlnce.read_dense(folder / f"{split}_gt.json.gz")
    walks = Predictions.from_trajectories(
        "experts", tuple(Trajectory(e.id, dense[e.id].positions) for e in tasks.episodes)
    )
    worlds = {world_id: World(world_id, Euclidean()) for world_id in tasks.world_ids}
    table = score(walks, tasks, worlds)
    assert table["SR"].min() == 1.0
    assert table["NE"].max() < 0.5
    # Whatever the waypoints left out, a step is 0.25 m, a little more on stairs.
    assert table["PL"].sum() / table["steps"].sum() == pytest.approx(0.25, abs=0.01)
    against_itself = score(walks, vlnce.with_dense_reference(tasks, dense), worlds)
    assert against_itself["nDTW"].min() == 1.0
    assert (against_itself["nDTW"] >= table["nDTW"]).all()


def test_an_audit_finds_who_could_have_scored_prevalent(data: Path, itinera: Callable[..., Any]) -> None:
    outcome = itinera(
        "audit", data / "predictions" / "r2r" / f"{PREVALENT}_val_unseen_iter_36000_add.json.gz",
        "--tasks", data / "r2r" / "R2R_val_unseen.json.gz", "--worlds", data / "connectivity.tar.xz",
        "--published", "SR=48.74", "OSR=56.53", "SPL=44.79", "NE=5.281", "--json",
    )  # fmt: skip
    assert outcome.code == 0
    matches = {match["suite"] for match in outcome.json["matches"]}
    assert {"paper", "m3ds", "envdrop"} <= matches
    # Against the references' own lengths SPL is a little higher; of google's numbers only SR is among these.
    assert not matches & {"hamt", "ivln", "google"}
