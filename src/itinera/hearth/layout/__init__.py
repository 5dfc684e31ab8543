"""Floor plans: storeys, rooms, doors and windows from a random generator. Start with `plan.py`, then `generate.py`."""
