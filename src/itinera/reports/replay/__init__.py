"""Replays of trajectories: HTML page, image, video or Rerun recording. Start with `trajectories.py`."""
