"""Why: questions asked of data sets and of what agents did, one file each."""
