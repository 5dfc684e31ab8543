"""Faster loading of compiled kernels, for processes that run nothing but our own: a command and its workers."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def skip_blas_check() -> None:
    """Load numba without its check for BLAS, which imports all of scipy.linalg: a quarter of a cold `itinera score`.

    No kernel of ours multiplies matrices. In a process with other people's kernels `numpy.convolve` inside them would
    be compiled without BLAS, so only the command line and its workers call this, never the library.
    """
    if "scipy.linalg" in sys.modules or "numba.np.arraymath" in sys.modules:
        return
    linalg: Any = import_module("numba.np.linalg")
    check = linalg.ensure_blas
    linalg.ensure_blas = _no_blas
    try:
        import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = check


def _no_blas() -> None:
    raise ImportError("BLAS is not needed by the kernels of this process")
