"""The alignment that dynamic time warping finds: which place of the path meets which place of the reference."""

from __future__ import annotations

import numpy as np

from itinera.metrics._alignment_kernels import warping_pairs
from itinera.metrics.attempts import Attempts
from itinera.worlds import Ragged


def align_places(attempts: Attempts) -> Ragged:
    """(pairs, 2) for every attempt: indices of a path place and a reference place that are aligned, first to last.

    Their distances sum to the cost of `dtw`. Of several alignments with the same cost it is the one that is shortest
    at its end.

    >>> from itinera.metrics.attempts import attempts_from_arrays
    >>> attempts, _ = attempts_from_arrays([(0, 0), (2, 0)], [(0, 0), (1, 0), (2, 0)])
    >>> align_places(attempts)[0].tolist()
    [[0, 0], [0, 1], [1, 2]]
    """
    ends = np.cumsum(attempts.path.counts + attempts.reference.counts - 1)
    pairs = np.empty((int(ends[-1]) if len(ends) else 0, 2), dtype=np.int64)
    counts = np.empty(len(attempts), dtype=np.int64)
    warping_pairs(attempts.distances, attempts.path.counts, attempts.reference.counts, ends, pairs, counts)
    rows = [pairs[end - count : end] for end, count in zip(ends.tolist(), counts.tolist(), strict=True)]
    return Ragged.from_rows(rows) if rows else Ragged(pairs, np.zeros(1, dtype=np.int64))
