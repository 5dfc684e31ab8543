"""Simulators of navigation graphs, discrete ground actions and unicycles. Start with `simulator.py`."""
