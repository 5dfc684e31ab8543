"""How well: every metric of the five papers, batch-first. Start with `score.py`; definitions are in
`reaching.py`, `efficiency.py`, `completion.py`, `fidelity.py` and `touring.py`, their conventions side by side in
`suites.py`."""

from itinera.metrics.attempts import Attempts
from itinera.metrics.score import score
from itinera.metrics.suites import SUITES, Metric, Suite, TourMetric
from itinera.metrics.tours import Legs

__all__ = ["SUITES", "Attempts", "Legs", "Metric", "Suite", "TourMetric", "score"]
