"""Records of what happened, the joint between acting and evaluating. Start with `trajectory.py`."""

from itinera.records.predictions import Predictions, Rollout
from itinera.records.provenance import Provenance
from itinera.records.scores import Column, EpisodeInfo, ScoreTable, TourTable
from itinera.records.trajectory import ActionLog, Ending, Phase, Trajectory

__all__ = [
    "ActionLog",
    "Column",
    "Ending",
    "EpisodeInfo",
    "Phase",
    "Predictions",
    "Provenance",
    "Rollout",
    "ScoreTable",
    "TourTable",
    "Trajectory",
]
