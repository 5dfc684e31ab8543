"""Rows for other tools: JSON lines, CSV and Parquet, whose ids and numbers come back."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from formats.test_native import SCORES
from itinera.errors import MissingExtra
from itinera.formats.score_rows import write_rows
from itinera.records import ScoreTable

IDS = ("episode_id", "world_id", "path_id")
# Ids that look like numbers: Python reads "4332_1" as 43321, and 007 loses its zeros.
NUMERIC = ScoreTable.from_values(
    {"SPL": [0.1 + 0.2, 1 / 3, np.nan]}, world_ids=["1e5", "01", "NA"], episode_ids=["4332_1", "007", "1"],
    path_ids=["4332", "007", ""],
)  # fmt: skip


def test_rows_are_records_that_any_tool_can_read(tmp_path: Path) -> None:
    assert write_rows(tmp_path / "rows.jsonl", SCORES) == [tmp_path / "rows.jsonl"]
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert rows[0] == {"episode_id": "1_0", "world_id": "house", "path_id": "1", "SR": 1.0, "NE": 0.1 + 0.2,
                       "missing": False, "goal_distance": 4.0, "reference_length": 5.0, "tour": "0",
                       "leg": 0}  # fmt: skip
    assert rows[1]["SR"] is None
    assert rows[2]["NE"] == "inf"
    assert rows[3] == {"tour_id": "0", "world_id": "house", "t-nDTW": 0.5, "weights": {"t-nDTW": 2.0}}


def test_rows_are_csv_by_their_suffix(tmp_path: Path) -> None:
    written = write_rows(tmp_path / "rows.csv", SCORES)
    assert written == [tmp_path / "rows.csv", tmp_path / "rows-tours.csv"]
    assert [file.read_text() for file in written] == [
        "episode_id,world_id,path_id,SR,NE,missing,goal_distance,reference_length,tour,leg\n"
        "1_0,house,1,1.0,0.30000000000000004,False,4.0,5.0,0,0\n"
        "1_1,house,1,,3.0,False,inf,,0,1\n"
        "2_0,hut,2,0.0,inf,True,2.5,3.0,,-1\n",
        "tour_id,world_id,t-nDTW,weight of t-nDTW\n0,house,0.5,2.0\n1,hut,,1.0\n",
    ]
    assert write_rows(tmp_path / "episodes.csv", replace(SCORES, tours=None)) == [tmp_path / "episodes.csv"]


def test_ids_survive_a_csv_file_if_pandas_knows_that_they_are_text(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    write_rows(tmp_path / "rows.csv", NUMERIC)
    frame = pandas.read_csv(tmp_path / "rows.csv", dtype=dict.fromkeys(IDS, str), keep_default_na=False,
                            na_values={"SPL": ""})  # fmt: skip
    assert [tuple(frame[name]) for name in IDS] == [NUMERIC.episode_ids, NUMERIC.world_ids, NUMERIC.path_ids]
    np.testing.assert_array_equal(frame["SPL"], NUMERIC["SPL"])


def test_ids_survive_json_lines_if_pandas_converts_nothing(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    write_rows(tmp_path / "rows.jsonl", NUMERIC)
    frame = pandas.read_json(tmp_path / "rows.jsonl", lines=True, dtype=False)
    assert [tuple(frame[name]) for name in IDS] == [NUMERIC.episode_ids, NUMERIC.world_ids, NUMERIC.path_ids]


def test_ids_of_a_data_frame_are_text() -> None:
    pandas = pytest.importorskip("pandas")
    frame = NUMERIC.to_pandas()
    assert tuple(frame.index) == NUMERIC.episode_ids
    assert pandas.api.types.is_string_dtype(frame.index)
    assert all(pandas.api.types.is_string_dtype(frame[name]) for name in IDS[1:])


def test_rows_are_parquet_by_their_suffix(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    episodes, tours = (parquet.read_table(file) for file in write_rows(tmp_path / "rows.parquet", SCORES))
    assert [str(episodes.schema.field(name).type) for name in (*IDS, "SR", "leg")] == [
        "string", "string", "string", "double", "int64"]  # fmt: skip
    np.testing.assert_array_equal(episodes["NE"], SCORES["NE"])
    np.testing.assert_array_equal(episodes["SR"], SCORES["SR"])
    assert tours["tour_id"].to_pylist() == ["0", "1"]
    (file,) = write_rows(tmp_path / "numeric.parquet", NUMERIC)
    assert tuple(parquet.read_table(file)["episode_id"].to_pylist()) == NUMERIC.episode_ids


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r'Parquet files need pyarrow\. Install it with: pip install "itinera\[tab'):
        write_rows(tmp_path / "rows.parquet", SCORES)
    assert not list(tmp_path.iterdir())
