"""The loop that lets an agent act. Start with `stage.py`, then `walk.py`."""
