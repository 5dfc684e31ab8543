"""PointNav for reinforcement learning: many robots in many houses in one call. Start with `vectorized.py`.

`house_set.py` has the houses of a stage and the distances to their goals, `episodes.py` where episodes come from,
`sensors.py` and `observations.py` what robots observe, `storeys.py` the maps of scans.
"""
