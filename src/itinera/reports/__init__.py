"""How to tell it: means with intervals, comparisons, tables for people and machines. Start with `summary.py`."""
