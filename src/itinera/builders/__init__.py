"""Where tasks come from: long journeys and tours made from any split. Start with `joining.py`."""
