"""Training of PointNav agents by PPO. Start with `train_agent.py`; the algorithm is in `training/ppo.py`."""
