"""Attacks on scorers: forged entries, how a scorer answers them, and what that says about it.

Start with `forgeries.make_forgeries` for the entries and `trial.run_attack` for the verdicts.
"""
