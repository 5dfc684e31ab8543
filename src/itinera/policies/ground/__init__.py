"""Policies that act on the ground from egocentric depth, images and maps. Start with `base.py`, then `cma.py`."""
