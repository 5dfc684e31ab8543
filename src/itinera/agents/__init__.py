"""Who: agents that are told what to do and see what is around them. Start with `agent.py`, then `simple.py`."""
