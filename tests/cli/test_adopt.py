"""`itinera adopt`, as a person runs it, and what reads its bundles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import itinera as it
import tiny


def write_rows(path: Path, successes: dict[str, float]) -> Path:
    lines = [
        {"episode_id": name, "success": rate, "spl": rate, "ne": 4.0 - 4.0 * rate} for name, rate in successes.items()
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_adopted_rows_are_compared_and_reported_without_maps(itinera, files, tmp_path):
    good = write_rows(tmp_path / "good.json", {name: float(name != "2_0") for name in tiny.WALKS})
    poor = write_rows(tmp_path / "poor.json", {name: float(name.endswith("0")) for name in tiny.WALKS})
    for path in (good, poor):
        printed = itinera("adopt", path, "--tasks", files.tasks, "--out", path.with_suffix(".jsonl"))
        assert printed.code == 0, printed.err
        assert "suite claimed" in printed.out
        assert "no trajectory was replayed" in printed.err
    bundles = [path.with_suffix(".jsonl") for path in (good, poor)]
    compared = itinera("compare", *bundles, "--json")
    assert compared.code == 0, compared.err
    assert itinera("report", *bundles, "--out", tmp_path / "report.html").code == 0
    assert itinera("power", *bundles).code == 0
    assert itinera("check", bundles[0]).code == 0


def test_json_has_the_counts(itinera, files, tmp_path):
    path = write_rows(tmp_path / "rows.json", {"1_0": 1.0, "2_0": 0.0})
    refused = itinera("adopt", path, "--tasks", files.tasks)
    assert refused.code == 1
    assert "3 episodes of 5 without a row" in refused.err
    printed = itinera("adopt", path, "--tasks", files.tasks, "--missing", "drop", "--json")
    assert printed.json == {
        "episodes": 2, "missing": 3, "duplicates": 0, "unknown": 0, "undefined": {}, "unreadable": 0,
        "metrics": {"SR": 0.5, "SPL": 0.5, "NE": 2.0},
    }  # fmt: skip


def test_columns_are_named_on_the_command_line(itinera, files, tmp_path):
    table = tmp_path / "rows.csv"
    table.write_text("case,reached\n" + "".join(f"{name},1\n" for name in tiny.WALKS))
    options = ["--id-column", "case", "--columns", "reached=SR"]
    printed = itinera("adopt", table, "--tasks", files.tasks, "--json", *options)
    assert printed.json["metrics"] == {"SR": 1.0}
    assert itinera("adopt", table, "--tasks", files.tasks, "--columns", "reached").code == 2


@pytest.mark.real
def test_the_rows_of_two_released_agents_have_the_means_their_script_printed(data):
    folder = data / "vlnce"
    tasks = folder / "R2R_VLNCE_v1-3_preprocessed" / "val_unseen.json.gz"
    adopted = {}
    for name in ("cma", "vlnbert"):
        rows = folder / "eval" / f"cont-cwp-{name}-ori_stats_ep_ckpt_0_val_unseen_r0_w1.json.gz"
        printed = json.loads((folder / "eval" / f"cont-cwp-{name}-ori_stats_ckpt_0_val_unseen.json").read_text())
        found = adopted[name] = it.adopt(rows, tasks)
        assert (len(found.scores), found.missing, found.duplicates, found.unreadable) == (1839, 0, 0, 0)
        for metric, column in {"SR": "success", "SPL": "spl", "NE": "distance_to_goal", "nDTW": "ndtw"}.items():
            assert found.scores.mean(metric) == pytest.approx(printed[column], abs=1e-9)
    compared = it.compare({name: found.scores for name, found in adopted.items()})
    difference = compared["SR"].differences[0].interval
    assert difference.mean == pytest.approx(0.4382816748 - 0.4061990212, abs=1e-9)
    assert difference.low < 0 < difference.high  # 3.2 points are not significant over 11 scenes
