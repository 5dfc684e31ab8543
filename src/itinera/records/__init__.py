"""What happened: the joint between acting and judging. Start with `trajectory.py`."""

from itinera.records.provenance import Provenance
from itinera.records.trajectory import Choices, Ending, Phase, Trajectory
from itinera.records.walk import Logbook, Walk

__all__ = ["Choices", "Ending", "Logbook", "Phase", "Provenance", "Trajectory", "Walk"]
