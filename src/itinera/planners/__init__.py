"""How to get there: orders of visiting. Start with `ordering.py`."""

from itinera.planners.ordering import Ordering, best_order, lkh_order

__all__ = ["Ordering", "best_order", "lkh_order"]
