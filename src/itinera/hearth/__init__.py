"""Places we make: houses from a seed, and the words for ways through them. Start with `plan.py`, then `build.py`."""
