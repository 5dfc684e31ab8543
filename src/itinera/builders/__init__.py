"""Builders of tasks: R4R and its kin, tours, ablated instructions, Hearth's episodes. Start with `joining.py`."""
