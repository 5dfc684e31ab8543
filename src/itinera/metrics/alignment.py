"""Which walked place meets which of the reference in the alignment that dynamic time warping finds: what nDTW sums."""

from __future__ import annotations

import numpy as np

from itinera.metrics._alignment_kernels import warping_pairs
from itinera.metrics.attempts import Attempts
from itinera.worlds import Ragged


def aligned_places(attempts: Attempts) -> Ragged:
    """(pairs, 2) of every attempt: numbers of a walked and a reference place that meet, both ends first to last.

    The gaps between them sum to the cost of `dtw`. Of several alignments that cost the same it is the shortest in the
    end.
    """
    ends = np.cumsum(attempts.walked.counts + attempts.reference.counts - 1)
    pairs = np.empty((int(ends[-1]) if len(ends) else 0, 2), dtype=np.int64)
    counts = np.empty(len(attempts), dtype=np.int64)
    warping_pairs(attempts.gaps, attempts.walked.counts, attempts.reference.counts, ends, pairs, counts)
    rows = [pairs[end - count : end] for end, count in zip(ends.tolist(), counts.tolist(), strict=True)]
    return Ragged.of(rows) if rows else Ragged(pairs, np.zeros(1, dtype=np.int64))
