"""Kernels loaded from the cache without numba's registration of types must do as those just compiled."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import sys
from itinera.worlds import NavGraph
from itinera.worlds.kernel_loading import skip_type_registration
skip_type_registration()
graph = NavGraph.from_edges({"a": (0, 0, 0), "b": (3, 0, 0), "c": (3, 4, 0)}, [("a", "b"), ("b", "c")])
print(graph.distances.tolist(), graph.route("a", "c"), "numba.np.arraymath" in sys.modules)
"""


def test_a_kernel_is_compiled_once_and_then_loaded_without_registration(tmp_path):
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=settings).stdout
        for _ in range(2)
    )
    # 3 m from a to b, 4 m on to c.
    numbers = "[[0.0, 3.0, 7.0], [3.0, 0.0, 4.0], [7.0, 4.0, 0.0]] ('a', 'b', 'c')"
    assert first == f"{numbers} True\n"  # compiling needs the types
    assert second == f"{numbers} False\n"
