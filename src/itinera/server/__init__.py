"""The challenge server: teams submit predictions, workers judge them, and the board shows the scores.

Start with `store.py` (transactions), `tables.py` (what is stored) and `queue.py` (the life of an entry). One process
serves HTTP and owns the database; workers lease judgements over HTTP and alone have the answers of sealed tasks.
"""
