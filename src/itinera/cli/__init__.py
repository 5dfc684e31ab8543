"""The command line: one file per verb, each imported when it is used."""
