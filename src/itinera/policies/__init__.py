"""Agents that learned: policies over what is read and seen, in torch. Start with `policy.py`, then `rcm.py`."""
