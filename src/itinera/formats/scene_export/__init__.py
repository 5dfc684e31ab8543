"""Houses of Hearth in the formats of other simulators, one file per format; `export.py` writes a season."""
