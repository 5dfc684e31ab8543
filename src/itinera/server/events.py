"""The event log: rows that are only appended, each with the digest of the one before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, update

from itinera.server.event_digest import event_digest
from itinera.server.tables import chain, event


def append_event(db: Connection, *, time: int, actor: str, kind: str, content: Mapping[str, Any]) -> None:
    """Append an event to the log, in the transaction of what it is about.

    It locks the end of the chain until the transaction ends, so it is the last statement of a transaction.
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    end = chain.c.id == 1
    grown = update(chain).where(end).values(sequence=chain.c.sequence + 1)
    sequence, previous = db.execute(grown.returning(chain.c.sequence, chain.c.digest)).one()
    row = {"sequence": sequence, "time": time, "actor": actor, "kind": kind, "content": text, "previous": previous}
    digest = event_digest(**row)
    db.execute(insert(event).values(**row, digest=digest))
    db.execute(update(chain).where(end).values(digest=digest))
