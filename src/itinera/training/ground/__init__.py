"""Imitation learning on the ground: teacher forcing, DAgger and tours, from trajectories stored as actions.

Start with `tour_lanes.py` (many tours at once) and `experience.py` (actions back into observations), then `dagger.py`.
"""
