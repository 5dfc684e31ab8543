"""Short ways to fill a challenge server's database in tests."""

from __future__ import annotations

import hashlib

from sqlalchemy import Connection

from itinera.server.entries import Submission, submit_entry
from itinera.server.store import insert_missing
from itinera.server.tables import blob
from itinera.server.teams import create_team
from itinera.server.verdicts import Coverage, Verdict

VERDICT = Verdict(
    badge="replayed",
    episodes=2,
    missing=0,
    coverage=Coverage(answered=2, stopped=2, failed=0),
    suite="paper",
    protocol="r2r",
    fingerprint="f" * 16,
    scores={"SR": (0.5, 0.1, 0.9)},
    scenes={"SR": {"house": (1.0, 2.0)}},
)


def add_team(db: Connection, name: str = "Blue", time: int = 0) -> int:
    """The id of a new team."""
    return create_team(db, name, time=time)


def add_blob(db: Connection, content: str = "entry") -> str:
    """The digest of a bundle that counts as uploaded."""
    digest = hashlib.sha256(content.encode()).hexdigest()
    insert_missing(db, blob, {"sha256": digest, "size": len(content), "created": 0})
    return digest


def submit(db: Connection, team_id: int, request: str = "request-1", *, time: int, phase: str = "test") -> str:
    """The id of a new entry."""
    submission = Submission(phase=phase, bundle=add_blob(db), method="Reader", request=request)
    return submit_entry(db, submission, team_id=team_id, time=time)
