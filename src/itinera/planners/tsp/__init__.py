"""Visiting orders: the open asymmetric travelling salesman problem, solved to proven optimality. Start with `ordering.py`."""

from itinera.planners.tsp.ordering import Ordering, best_order, lkh_order

__all__ = ["Ordering", "best_order", "lkh_order"]
