"""A random generator for each (seed, names), so that results do not depend on the order of work."""

from __future__ import annotations

import hashlib

import numpy as np

from itinera.errors import BadArgument


def generator(seed: int, *names: str) -> np.random.Generator:
    """The generator for these names: same seed and names, same stream, whatever ran before.

    >>> float(generator(7, "house", "3").random()) == float(generator(7, "house", "3").random())
    True
    """
    if seed < 0:
        raise BadArgument(f"A seed must be ≥ 0 (got {seed}).")
    digest = hashlib.blake2b("\x1f".join(names).encode(), digest_size=16).digest()
    if 0 <= seed < 1 << 32 and any(digest[12:]):
        # The words numpy would make of the two numbers below; making them itself takes longer than all the rest.
        words = np.empty(5, np.uint32)
        words[0], words[1:] = seed, np.frombuffer(digest, "<u4")
        return np.random.default_rng(words)
    return np.random.default_rng([seed, int.from_bytes(digest, "little")])
