"""Planning: `motion` (fastest times and paths of robots) and `tsp` (visiting orders of tours)."""
