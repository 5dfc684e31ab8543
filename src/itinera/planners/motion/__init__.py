"""Motion planning: fastest times under a robot's dynamics, with bounds. Start with `fastest.py`."""
