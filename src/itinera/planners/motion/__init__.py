"""Motion planning: bounds on the fastest time of a robot, and drives. Start with `fastest.py`."""
