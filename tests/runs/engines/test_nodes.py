"""Clusters of one and of three nodes, which see no file of this machine but copies: the same bytes."""

from __future__ import annotations

import random
from importlib.util import find_spec

import pytest

from adversary.cluster_kills import KillableCluster
from itinera.runs.engines.ray_cluster import RayEngine
from runs.engines.cases import CASES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=[1, 3])
def cluster_engine(request):
    if find_spec("ray") is None:  # not importorskip: Ray reads the environment when it is imported
        pytest.skip("needs Ray")
    cluster = KillableCluster(random.Random(0), nodes=request.param)
    with RayEngine(cluster.engine.removeprefix("ray:")) as engine:
        yield engine
    cluster.close()


@pytest.fixture(scope="module")
def expected(inputs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected")
    for name, case in CASES.items():
        case(inputs, folder / name, workers=0)
    return folder


@pytest.mark.parametrize("name", CASES)
def test_clusters_write_the_same_bytes(name, inputs, expected, cluster_engine, tmp_path):
    assert not cluster_engine.shares_files
    CASES[name](inputs, tmp_path / name, engine=cluster_engine)
    assert (tmp_path / name).read_bytes() == (expected / name).read_bytes()


def test_a_season_is_built_where_nobody_sees_its_folder(season, cluster_engine, tmp_path):
    import itinera

    itinera.build_hearth(tmp_path / "hearth", houses=3, splits=["val_unseen"], engine=cluster_engine)
    record = (tmp_path / "hearth/season.json").read_bytes()
    assert record == (season / "season.json").read_bytes()
