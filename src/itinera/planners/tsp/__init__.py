"""Visiting orders: the open asymmetric traveling salesman problem, solved exactly. Start with `ordering.py`."""

from itinera.planners.tsp.ordering import Ordering, solve_order, solve_order_lkh

__all__ = ["Ordering", "solve_order", "solve_order_lkh"]
