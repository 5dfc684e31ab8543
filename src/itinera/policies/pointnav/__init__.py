"""Policies of PointNav. Start with `policy.py`."""
