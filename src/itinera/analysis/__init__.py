"""Statistics of data sets and tours: lengths, coverage, visibility, admissibility of SPL. Start with `datasets.py`."""
