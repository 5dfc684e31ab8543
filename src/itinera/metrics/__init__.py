"""Metrics of vision-and-language navigation: every metric of the five papers, batch-first or on plain arrays.

Start with `score.py`. The definitions are in `goal.py`, `fidelity.py`, `tours.py`, `completion.py`, `grounding.py`,
`subtasks.py` and `step_events.py`; `suites.py`, `benchmark_suites.py` and `task_suites.py` list their conventions.

>>> ndtw([(0, 0), (2, 0), (4, 0)], [(0, 0), (2, 0), (4, 0)], threshold=3.0)
1.0
"""

from itinera.metrics.attempts import Attempts
from itinera.metrics.completion import bounded_sct
from itinera.metrics.fidelity import cls, dtw, length_score, ndtw, path_coverage, sdtw, sed, sed_nodes
from itinera.metrics.goal import (
    goal_progress,
    navigation_error,
    oracle_error,
    oracle_success,
    path_length,
    sct,
    soft_spl,
    spl,
    steps,
    success,
)
from itinera.metrics.matching import match
from itinera.metrics.score import score
from itinera.metrics.suites import SUITES, Metric, Suite, TourMetric, default_suite
from itinera.metrics.tours import TourGroups, tour_mean, tour_ndtw

__all__ = [
    "SUITES",
    "Attempts",
    "Metric",
    "Suite",
    "TourGroups",
    "TourMetric",
    "bounded_sct",
    "cls",
    "default_suite",
    "dtw",
    "goal_progress",
    "length_score",
    "match",
    "navigation_error",
    "ndtw",
    "oracle_error",
    "oracle_success",
    "path_coverage",
    "path_length",
    "score",
    "sct",
    "sdtw",
    "sed",
    "sed_nodes",
    "soft_spl",
    "spl",
    "steps",
    "success",
    "tour_mean",
    "tour_ndtw",
]
