"""A house is the same bytes whatever was made before it, in whatever process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from golden.houses import DIGESTS, digest
from itinera.builders.hearth import build_house_graph


@pytest.mark.parametrize("index", sorted(DIGESTS, reverse=True))
def test_a_house_is_the_one_it_always_was(index):
    assert digest(*build_house_graph(1, index)) == DIGESTS[index]


def test_another_process_with_other_hashes_makes_the_same_house():
    script = Path(__file__).parents[1] / "golden" / "houses.py"
    told = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), "7"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONHASHSEED": "7"},
    )
    assert DIGESTS[7] in told.stdout
