"""`itinera sample` and `itinera estimate`: a subset from the command line, scored, and the full split estimated."""

from __future__ import annotations

import json

import pytest

import tiny


@pytest.fixture
def many(files):
    """The tiny benchmark with 40 paths told three times each, and the predictions of an agent that solves half."""
    paths = [tiny.path(k, *(("house", "abcdef"[k % 4 :]), ("hut", "pqrst"[k % 3 :]))[k % 2], 3) for k in range(40)]
    tiny.written(files.tasks, paths)
    walks = {f"{p['path_id']}_{i}": p["path"] if (p["path_id"] // 2 + i) % 2 else p["path"][:1]
             for p in paths for i in range(3)}  # fmt: skip
    tiny.written(files.predictions, tiny.predictions(walks))
    return files


def test_a_subset_is_drawn_scored_and_extrapolated(itinera, many, tmp_path):
    subset, bundle, whole = tmp_path / "subset.json", tmp_path / "some.jsonl", tmp_path / "all.jsonl"
    assert itinera("score", many.predictions, *many.options, "--out", whole).code == 0
    drawn = itinera("sample", many.tasks, "--size", 30, "--out", subset, "--reference", whole, "--seed", 3)
    digest = json.loads(subset.read_text())["digest"]
    assert drawn.code == 0
    assert f"30 of 120 episodes of R2R_tiny in 4 strata, digest {digest}." in drawn.out
    assert "Stated error for the full split (95 %): rates and scores ± " in drawn.out
    assert "For an agent like all.jsonl: NE ± " in drawn.out

    scored = itinera("score", many.predictions, *many.options, "--episodes", subset, "--out", bundle)
    assert f"30 of 120 episodes (subset of R2R_tiny, {digest}) in 2 scenes" in scored.out
    compared = itinera("compare", bundle, bundle)
    assert f"30 of 120 episodes (subset of R2R_tiny, {digest})" in compared.out
    of_whole = itinera("compare", whole, whole, "--episodes", subset)
    assert f"30 of 120 episodes (subset of R2R_tiny, {digest})" in of_whole.out

    estimated = itinera("estimate", bundle, "--subset", subset, "--reference", whole, "--json")
    exact = itinera("score", many.predictions, *many.options, "--json").json["metrics"]["SR"]["mean"]
    # The agent is its own reference here.
    assert estimated.json["metrics"]["SR"]["mean"] == pytest.approx(exact)
    assert estimated.json["subset"] == {"split": "R2R_tiny", "digest": digest, "episodes": 30}
    table = itinera("estimate", bundle, "--subset", subset, "--csv")
    assert table.out.splitlines()[0] == "metric,mean,full split (120 episodes),other scenes"
    assert (
        itinera("check", subset).out
        == f"{subset}: a subset of a split, with its digest; 30 episodes, 4 strata. No faults.\n"
    )


def test_json_states_the_error(itinera, many, tmp_path):
    done = itinera("sample", many.tasks, "--size", 30, "--by", "none", "--out", tmp_path / "s.json", "--json")
    assert done.json["episodes"] == 30
    assert done.json["strata"] == 1
    assert 0.1 < done.json["stated_error"]["at_most"] < 0.2


def test_a_subset_of_other_tasks_is_refused(itinera, many, tmp_path):
    subset = tmp_path / "subset.json"
    assert itinera("sample", many.tasks, "--size", 30, "--out", subset).code == 0
    other = many.write("other.json", [tiny.path(1, "house", "abc", 2), tiny.path(2, "house", "cde")])
    refused = itinera("score", many.predictions, "--tasks", other, "--worlds", many.worlds, "--episodes", subset)
    assert refused.code == 1
    assert "is a subset of R2R_tiny, " in refused.err
    run = itinera(
        "run", "--agent", "still", "--tasks", other, "--worlds", many.worlds, "--episodes", subset, "--out",
        tmp_path / "p.jsonl", "--workers", 0,
    )  # fmt: skip
    assert run.code == 1
    assert "is a subset of R2R_tiny, " in run.err
