"""The walk-through of a house: a 3D page with navigation graph and episodes. Start with `make.py`, then `page.py`."""
