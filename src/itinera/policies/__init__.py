"""Neural navigation policies in PyTorch. Start with `base.py` (the policy contract), then `rcm.py`."""
