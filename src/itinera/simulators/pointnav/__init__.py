"""PointNav for reinforcement learning: many robots in many houses in one call. Start with `stage.py`.

`goal_table.py` keeps the distances to goals, `houses.py` the houses of a stage, `episodes.py` where episodes come from,
`scan.py` and `depth.py` what the robots observe.
"""
