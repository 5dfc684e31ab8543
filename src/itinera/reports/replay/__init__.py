"""Replays of trajectories: page, picture, film or Rerun recording. Start with `trajectories.py`."""
