"""What an action does. Start with `simulator.py`."""
