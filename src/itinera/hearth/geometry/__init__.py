"""Triangles of a house: walls, floors, stairs and the solids furniture is made of. Start with `shell.py`."""
