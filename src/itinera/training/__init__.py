"""Imitation and reinforcement learning: batched environments, rollouts, losses, rewards, training with checkpoints.

Start with `rollout.py`, then `losses.py` and `trainer.py`; `train_agent.py` puts them together for `itinera.train`.
"""
