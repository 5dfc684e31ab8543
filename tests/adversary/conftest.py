"""The fixtures of the command line's tests, which attacks use too."""

from cli.conftest import files, itinera, itinera_process

__all__ = ["files", "itinera", "itinera_process"]
