"""Other people's files, and ours: the only folder that knows their keys, axes and units. Start with `r2r.py`."""
