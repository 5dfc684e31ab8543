"""Faster loading of compiled kernels, for processes that run nothing but our own: a command and its workers."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def skip_type_registration() -> None:
    """Load kernels from numba's cache without everything that numba needs only to compile.

    Before numba loads a compiled kernel it registers the types of all it could compile, and imports scipy.linalg on the
    way: half of the time of a cold `itinera score`. A kernel that is not in the cache is compiled as ever, after that
    registration. In a process with other people's kernels the order of numba's steps is theirs to rely on, so only the
    command line calls this, never the library.
    """
    caching: Any = import_module("numba.core.caching")
    runtime: Any = import_module("numba.core.runtime").rtsys

    def load_overload(cache: Any, signature: Any, target_context: Any) -> Any:
        runtime.initialize(target_context)  # the memory of arrays, which a compiled kernel may count references of
        with cache._guard_against_spurious_io_errors():
            return cache._load_overload(signature, target_context)

    needed = ("load_overload", "_load_overload", "_guard_against_spurious_io_errors")
    if all(hasattr(caching.Cache, name) for name in needed):  # else another version of numba: load as it does
        caching.Cache.load_overload = load_overload
