"""Engines: chunks of work in processes, on a Ray cluster, or in SLURM jobs. Start with `engine.py`."""

from itinera.runs.engines.engine import Engine, WorkerFailure, check_engine, is_local, open_engine

__all__ = ["Engine", "WorkerFailure", "check_engine", "is_local", "open_engine"]
