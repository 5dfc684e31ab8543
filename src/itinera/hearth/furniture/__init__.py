"""Furniture: the contents of each room and their placement. Start with `model.py`, then `furnish.py`."""
