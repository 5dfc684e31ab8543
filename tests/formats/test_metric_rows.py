"""Files as the released evaluation scripts write them; what each contains is described in docs/adopting.md."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.formats.metric_rows import list_files, read_metric_rows

STREAM = {"scene_id": "s", "episode_id": 7, "success": 1.0, "spl": 0.5, "os": 1.0, "ne": 2.5, "steps": 40,
          "episode_instruction": "go"}  # fmt: skip
STATS = {"distance_to_goal": 2.5, "success": 1.0, "spl": 0.5, "ndtw": 0.75, "path_length": 9.0, "oracle_success": 1.0,
         "steps_taken": 40}  # fmt: skip


def read(tmp_path, *, columns=None, id_column=None, **contents):
    for name, content in contents.items():
        path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_metric_rows([tmp_path], columns=columns, id_column=id_column)


def values(found):
    return {row.episode_id: dict(row.values) for row in found.rows}


def test_json_lines_of_streamvln_and_internnav(tmp_path):
    lines = [json.dumps(STREAM), json.dumps(STREAM | {"episode_id": 8, "success": 0.0, "ndtw": 0.3})]
    lines.append(json.dumps({"sucs_all": 0.5, "spls_all": 0.25, "length": 2}))
    found = read(tmp_path, result_dot_json="\n".join(lines) + "\n")
    assert values(found) == {
        "7": {"SR": 1.0, "SPL": 0.5, "OSR": 1.0, "NE": 2.5, "steps": 40.0},
        "8": {"SR": 0.0, "SPL": 0.5, "OSR": 1.0, "NE": 2.5, "steps": 40.0, "nDTW": 0.3},
    }
    assert found.aggregates == 1
    assert found.rows[1].where.endswith("result.json, line 2")


def test_shards_of_navila_and_ranks_of_etpnav_are_objects_by_id(tmp_path):
    first, second = {"217": STATS}, {"218": STATS | {"collisions": 0.25}}
    found = read(tmp_path, **{"val_unseen_2-0_dot_json": first, "val_unseen_2-1_dot_json": second})
    assert list(values(found)) == ["217", "218"]
    assert values(found)["218"]["collision rate"] == 0.25
    assert found.metrics == ["SR", "OSR", "SPL", "nDTW", "collision rate", "NE", "PL", "steps"]


def test_a_file_per_episode_of_navid_is_named_by_it(tmp_path):
    found = read(tmp_path, log__stats_217_dot_json=STATS, log__stats_218_dot_json=STATS | {"id": 218})
    assert list(values(found)) == ["217", "218"]


def test_evt_bench_and_csv_and_lists(tmp_path):
    evt = {"success": True, "following_rate": 0.8, "following_step": 40, "total_step": 50, "collision": False}
    found = read(
        tmp_path,
        a__31_dot_json=evt,
        b_dot_csv="episode_id,SR,SPL\n32,1,0.5\n33,0,0\n",
        c_dot_json=[{"instr_id": "34_0", "success": 0}],
    )
    assert values(found)["31"] == {"SR": 1.0, "TR": 0.8, "steps": 50.0, "collision rate": 0.0}
    assert values(found)["32"] == {"SR": 1.0, "SPL": 0.5}
    assert values(found)["34_0"] == {"SR": 0.0}
    assert found.ignored == {"following_step": 1}


def test_rows_with_a_dialog_and_a_path_of_vl_ln_are_rows(tmp_path):
    line = STREAM | {"object_category": "chair", "path": [[0.0, 0.0, 0.0]], "action": [1, 1, 0]}
    found = read(tmp_path, progress_dot_json=json.dumps(line) + "\n" + json.dumps(line | {"episode_id": 8}) + "\n")
    assert values(found)["8"] == {"SR": 1.0, "SPL": 0.5, "OSR": 1.0, "NE": 2.5, "steps": 40.0}


def test_cases_of_mapgpt_and_navbench_are_named_by_their_instruction(tmp_path):
    case = {"instr_id": "4332_1", "trajectory": [["a"], ["b"]], "success": 1, "spl": 0.5, "nav_error": 0.5}
    found = read(tmp_path, run__case_InstrID_4332_1_dot_json=case)
    assert values(found) == {"4332_1": {"SR": 1.0, "SPL": 0.5, "NE": 0.5}}


def test_aggregates_of_vln_pe_are_no_row(tmp_path):
    table = {"TL": 9.0, "NE": 3.0, "FR": 0.1, "StR": 0.1, "OS": 0.5, "SR": 0.4, "SPL": 0.3, "Count": 100}
    found = read(tmp_path, result_dot_json={"val_seen": table, "val_unseen": table})
    assert (found.rows, found.aggregates) == ((), 2)


def test_trajectories_of_soon_and_omninavbench_are_no_rows(tmp_path):
    soon = [{"instr_id": "1_0", "trajectory": {"path": [["a"]], "obj_heading": [0.1], "obj_elevation": [0.2]}}]
    omni = {"positions": [[0, 0, 0]], "quaternions": [[1, 0, 0, 0]], "times": [0], "stop_step": 0, "human_paths": []}
    found = read(tmp_path, submit_dot_json=soon, scenario_dot_json=omni)
    assert (found.rows, found.trajectories, found.aggregates) == ((), 2, 0)


def test_columns_of_other_names_and_another_id(tmp_path):
    record = {"case": "x1", "reached": 1, "dist": 0.5, "spl": 0.9}
    found = read(tmp_path, rows_dot_json=[record], columns={"reached": "SR", "dist": "NE", "spl": ""}, id_column="case")
    assert values(found) == {"x1": {"SR": 1.0, "NE": 0.5}}
    with pytest.raises(BadArgument, match="'speed' is no metric"):
        read(tmp_path, columns={"reached": "speed"})


def test_nan_and_infinity_as_python_writes_them_are_read(tmp_path):
    found = read(tmp_path, rows_dot_json='{"1": {"success": 0, "ne": Infinity, "spl": NaN, "ndtw": null}}')
    row = values(found)["1"]
    assert row["NE"] == math.inf
    assert math.isnan(row["SPL"])
    assert math.isnan(row["nDTW"])


def test_a_repeated_key_of_an_object_is_two_rows(tmp_path):
    found = read(tmp_path, rows_dot_json='{"1": {"success": 0}, "1": {"success": 1}}')
    assert [row.values["SR"] for row in found.rows] == [0.0, 1.0]


def test_lines_files_and_values_that_cannot_be_read_are_named(tmp_path):
    found = read(
        tmp_path,
        a_dot_json='{"episode_id": 1, "success": 1}\n{"episode_id": 2, "succ\n{"episode_id": 3, "success": "yes"}\n',
        b_dot_json="[1, 2",
        c_dot_json="[[1], {}]",
    )
    assert [row.episode_id for row in found.rows] == ["1"]
    text = "\n".join(str(fault) for fault in found.unreadable)
    for words in ("a.json, line 2", "'yes' is not a number", "b.json", "is no object with metrics"):
        assert words in text


def test_a_folder_without_rows_is_refused(tmp_path):
    with pytest.raises(BadArgument, match="no file with metric rows"):
        list_files([tmp_path])
    (tmp_path / "a.json").write_text("{}")
    assert list_files([str(tmp_path / "*.json")]) == [tmp_path / "a.json"]


@given(st.dictionaries(st.from_regex(r"[a-z0-9]{1,4}", fullmatch=True), st.floats(0, 1), min_size=1, max_size=9))
def test_all_shapes_give_the_same_rows(tmp_path_factory, rates):
    folder = tmp_path_factory.mktemp("shapes")
    rows = [{"episode_id": name, "success": rate} for name, rate in rates.items()]
    (folder / "a.json").write_text(json.dumps(rows))
    (folder / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "c.json").write_text(json.dumps({name: {"success": rate} for name, rate in rates.items()}))
    (folder / "d.csv").write_text(
        "episode_id,success\n" + "".join(f"{name},{rate!r}\n" for name, rate in rates.items())
    )
    expected = {name: {"SR": rate} for name, rate in rates.items()}
    for name in ("a.json", "b.jsonl", "c.json", "d.csv"):
        assert values(read_metric_rows([folder / name])) == expected
