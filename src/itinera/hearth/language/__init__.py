"""Instructions for paths through a house, and their semantics. Start with `scene_description.py`."""
