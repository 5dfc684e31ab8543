"""Metrics on plain arrays: the same numbers as on attempts, and messages for what cannot be measured."""

from __future__ import annotations

import doctest
import importlib
import inspect

import numpy as np
import pytest

from itinera import metrics
from itinera.errors import BadArgument
from itinera.worlds import World
from text_worlds import STREET, attempts, graph

LINE = [(0.0, 0.0), (2.0, 0.0), (4.0, 0.0)]
ON_ARRAYS = {
    "navigation_error": {},
    "oracle_error": {},
    "success": {"radius": 3.0},
    "oracle_success": {"radius": 3.0},
    "path_length": {},
    "steps": {},
    "spl": {"radius": 3.0},
    "dtw": {},
    "ndtw": {"threshold": 3.0},
    "sdtw": {"radius": 3.0},
    "path_coverage": {"threshold": 3.0},
    "length_score": {"threshold": 3.0},
    "cls": {"threshold": 3.0},
    "sed": {"radius": 3.0},
    "sed_nodes": {"radius": 3.0},
}
MODULES = ("alignment", "attempts", "audit", "completion", "fidelity", "goal", "subtasks", "tours")


@pytest.mark.parametrize("name", ON_ARRAYS)
def test_paths_of_nodes_and_positions_give_what_attempts_give(name: str):
    metric, options = getattr(metrics, name), ON_ARRAYS[name]
    street = graph(STREET)
    walks, references = ["abcd", "abb", "fed"], ["abcd", "abc", "fedc"]
    expected = metric(attempts(street, walks, references), **options)
    by_nodes = metric([list(w) for w in walks], [list(r) for r in references], space=street, **options)
    np.testing.assert_array_equal(by_nodes, expected)
    one = metric(list(walks[1]), list(references[1]), space=World("street", street), **options)
    assert isinstance(one, float)
    assert one == expected[1]
    # Along a straight street the distance of the graph is the straight line.
    positions = [[street.positions[i] for i in street.locate(list(w))] for w in (*walks, *references)]
    np.testing.assert_allclose(metric(positions[:3], positions[3:], **options), expected)


def test_flat_and_spatial_positions_lists_and_arrays_agree():
    flat = metrics.ndtw(LINE, [(0, 1), (4, 1)], threshold=3.0)
    spatial = metrics.ndtw(np.pad(LINE, ((0, 0), (0, 1))), np.array([(0, 1, 0), (4, 1, 0)]), threshold=3.0)
    assert flat == spatial
    batch = metrics.ndtw(np.array([LINE, LINE]), [LINE, [(0, 1), (4, 1)]], threshold=3.0)
    assert batch.tolist() == [1.0, flat]


def test_goals_are_the_end_of_the_reference_unless_given():
    assert metrics.navigation_error(LINE, [(0, 0), (4, 3)]) == 3.0
    assert metrics.navigation_error(LINE, goals=(4, 5)) == 5.0
    assert metrics.navigation_error(LINE, goals=[(4, 5), (4, 2)]) == 2.0
    assert metrics.navigation_error([LINE, LINE], goals=[(4, 5), (4, 2)]).tolist() == [5.0, 2.0]
    assert metrics.navigation_error(list("ab"), goals="c", space=graph(STREET)) == 2.0


def test_stop_may_be_required_of_a_plain_path():
    assert metrics.success(LINE, LINE, radius=3.0, needs_stop=True) == 1.0
    assert metrics.success(LINE, LINE, radius=3.0, needs_stop=True, stopped=False) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.ndtw(LINE, threshold=3.0), r"ndtw compares two paths: give ndtw\(path, reference"),
        (lambda: metrics.success(LINE, radius=3.0), "success needs a goal: give a reference path"),
        (lambda: metrics.spl(LINE, goals=(4, 0), radius=3.0, optimum="reference"), 'optimum="reference" compares'),
        (lambda: metrics.dtw(list("ab"), list("ab")), r"contains node ids, which need their graph: give space="),
        (lambda: metrics.dtw([LINE, LINE], [LINE]), "2 paths but 1 references"),
        (lambda: metrics.dtw([], LINE), "A path has no places"),
        (lambda: metrics.dtw(np.zeros((3, 4)), LINE), r"path has shape \(3, 4\); expected \(n, 2\) or \(n, 3\)"),
        (lambda: metrics.path_length("abc"), r"path must be an \(n, 2\) or \(n, 3\) array of metres or a list of"),
        (lambda: metrics.path_length(3), r"path must be an \(n, 2\) or \(n, 3\) array of metres or a list of"),
    ],
)
def test_what_cannot_be_measured_is_named(call, message: str):
    with pytest.raises(BadArgument, match=message):
        call()


def test_the_signature_shows_both_paths_and_every_option():
    assert list(inspect.signature(metrics.ndtw).parameters)[:3] == ["path", "reference", "threshold"]
    assert metrics.ndtw.__name__ == "ndtw"


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings_run(name: str):
    module = importlib.import_module(f"itinera.metrics.{name}")
    runner = doctest.DocTestRunner()
    for thing in vars(module).values():
        if getattr(thing, "__module__", "") == module.__name__ and (thing.__doc__ or "").count(">>> "):
            for test in doctest.DocTestFinder(recurse=False).find(inspect.unwrap(thing), module=module):
                runner.run(test)
    assert runner.tries > 0
    assert runner.failures == 0


def test_every_metric_has_a_runnable_example():
    for name in metrics.__all__:
        thing = getattr(metrics, name)
        if inspect.isfunction(thing) and name not in ("default_suite", "match", "score"):
            assert ">>> " in (thing.__doc__ or ""), name
