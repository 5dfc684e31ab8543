"""Runs of agents: start with `run.py`, then `rollout.py` and `tour_loop.py`; `resume.py` writes every long result."""
