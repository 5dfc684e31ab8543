"""Furniture: what each room contains and where it stands. Start with `model.py`, then `furnish.py`."""
