"""The triangles of a house: walls, floors, stairs, and the solids of its furniture. Start with `shell.py`."""
