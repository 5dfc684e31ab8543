"""What happened: the joint between acting and judging. Start with `trajectory.py`."""

from itinera.records.provenance import Provenance
from itinera.records.scores import Asked, Column, ScoreTable, TourTable
from itinera.records.trajectory import Choices, Ending, Phase, Trajectory
from itinera.records.walk import Logbook, Walk

__all__ = [
    "Asked",
    "Choices",
    "Column",
    "Ending",
    "Logbook",
    "Phase",
    "Provenance",
    "ScoreTable",
    "TourTable",
    "Trajectory",
    "Walk",
]
