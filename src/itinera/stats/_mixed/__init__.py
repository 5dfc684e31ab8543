"""The numerics of the linear mixed-effects models in `stats/mixed.py`."""
