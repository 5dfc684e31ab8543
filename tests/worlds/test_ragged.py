"""Rows of different lengths, against plain lists of lists."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from itinera.worlds import Ragged
from text_worlds import thorough

rows_of_numbers = st.lists(st.lists(st.integers(-9, 9), max_size=4), max_size=6)
filled_rows = st.lists(st.lists(st.integers(-9, 9), min_size=1, max_size=4), min_size=1, max_size=6)


def told(ragged: Ragged) -> list[list[int]]:
    return [ragged[k].tolist() for k in range(len(ragged))]


@thorough
@given(rows_of_numbers)
def test_rows_come_back_as_they_went_in(rows):
    made = Ragged.from_rows(rows, dtype=np.int64)
    assert told(made) == rows
    assert made.counts.tolist() == [len(row) for row in rows]
    assert made.owners.tolist() == [k for k, row in enumerate(rows) for _ in row]
    assert Ragged.from_rows(rows, dtype=np.float64).sums().tolist() == [sum(row) for row in rows]


@thorough
@given(filled_rows, st.data())
def test_rows_can_be_taken_in_any_order_and_more_than_once(rows, data):
    order = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
    assert told(Ragged.from_rows(rows).take(np.array(order, dtype=np.int64))) == [rows[k] for k in order]


@thorough
@given(rows_of_numbers, st.data())
def test_a_slice_is_a_run_of_rows(rows, data):
    first = data.draw(st.integers(0, len(rows)))
    last = data.draw(st.integers(first, len(rows)))
    assert told(Ragged.from_rows(rows, dtype=np.int64).slice(first, last)) == rows[first:last]


@thorough
@given(filled_rows)
def test_ends_and_minima_of_rows(rows):
    made = Ragged.from_rows(rows)
    assert made.firsts().tolist() == [row[0] for row in rows]
    assert made.lasts().tolist() == [row[-1] for row in rows]
    assert made.minima().tolist() == [min(row) for row in rows]


@thorough
@given(rows_of_numbers)
def test_joints_are_where_a_row_goes_on(rows):
    made = Ragged.from_rows(rows, dtype=np.int64)
    pairs = [(int(made.values[i]), int(made.values[i + 1])) for i in made.joints]
    assert pairs == [pair for row in rows for pair in itertools.pairwise(row)]


def test_no_rows_have_no_minima():
    assert Ragged.from_rows([]).minima().tolist() == []
