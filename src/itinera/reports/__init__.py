"""Comparisons, breakdowns, figures, report pages and replays. Start with `comparison.py`, then `page/report.py`."""
