"""Egocentric semantic maps from depth and labels. Start with `egocentric_map.py`; `mapper.py` is one agent's map."""
