"""What happened: the joint between acting and judging. Start with `trajectory.py`."""

from itinera.records.predictions import Predictions, Rollout
from itinera.records.provenance import Provenance
from itinera.records.scores import Asked, Column, ScoreTable, TourTable
from itinera.records.trajectory import Choices, Ending, Phase, Trajectory

__all__ = [
    "Asked",
    "Choices",
    "Column",
    "Ending",
    "Phase",
    "Predictions",
    "Provenance",
    "Rollout",
    "ScoreTable",
    "TourTable",
    "Trajectory",
]
