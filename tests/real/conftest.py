"""The command, for real data too."""

from cli.conftest import itinera

__all__ = ["itinera"]
