"""Engines that tests share, because they take their time to start, and what the engines work on."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from itinera.runs.engines.ray_cluster import RayEngine
from runs.engines.cases import write_inputs


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("trimesh")
    folder = tmp_path_factory.mktemp("engines")
    write_inputs(folder)
    return folder


@pytest.fixture(scope="module")
def ray_engine() -> Iterator[RayEngine]:
    """A cluster of this machine, as `--engine ray` starts it."""
    if find_spec("ray") is None:  # not importorskip: Ray reads the environment when it is imported
        pytest.skip("needs Ray")
    with RayEngine(workers=2) as engine:
        yield engine
