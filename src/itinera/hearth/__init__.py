"""Procedural houses: layout, furniture and instructions from a seed. Start with `build.py`, then `layout/plan.py`."""
