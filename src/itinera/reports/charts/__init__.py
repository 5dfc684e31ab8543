"""Charts and figures: SVG for the report page, matplotlib figures for papers. Start with `svg.py`."""
