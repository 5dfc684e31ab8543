"""Simulators of navigation graphs, discrete ground actions and unicycles, alone (`simulator.py`) or many at once."""
