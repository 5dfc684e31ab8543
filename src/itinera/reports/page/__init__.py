"""The report page: sentences, tables and charts in one self-contained HTML file. Start with `report.py`."""
