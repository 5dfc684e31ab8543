"""The terminal's door: one file per verb, each imported when chosen."""
