"""How agents learn: worlds as index tensors, roll-outs of many walkers at once, losses, rewards, checkpoints.

Start with `rollouts.py`. Like the Gymnasium environments, this folder stands above both acting and judging.
"""
