"""The entries of a phase with their scores, as far as a viewer may see them: what a board is made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, func, select

from itinera.server.tables import entry, judgement, shot
from itinera.server.verdicts import Verdict, decode_verdict
from itinera.server.visibility import Viewer, select_visible


@dataclass(frozen=True)
class ScoredEntry:
    """An entry with its latest judgement that has scores."""

    id: str
    team: str  # "" where the viewer may not know it
    team_key: str  # equal for entries of one team; not to be shown
    method: str
    notes: str
    submitted: datetime
    attempts: int  # entries of the team in this phase that have used a shot, up to this one
    bundle: str  # SHA-256 of the uploaded file
    rows: str | None  # SHA-256 of the score bundle; None where its rows are not shown
    verdict: Verdict


def list_scored_entries(db: Connection, phase: str, viewer: Viewer, *, time: int) -> list[ScoredEntry]:
    """The scored entries of a phase that a viewer may see, in the order of submission.

    Withdrawn entries are not on a board, also not on that of their team.
    """
    visible = select_visible(viewer, time).where(entry.c.phase == phase, entry.c.visibility != "withdrawn").subquery()
    newest = (
        select(judgement.c.entry_id, func.max(judgement.c.number).label("number"))
        .where(judgement.c.state == "scored")
        .group_by(judgement.c.entry_id)
        .subquery()
    )
    # Of all entries of the team, also of those that the viewer may not see: attempts that are hidden count.
    order = (entry.c.submitted, entry.c.id)
    attempts = (
        select(entry.c.id, func.row_number().over(partition_by=entry.c.team_id, order_by=order).label("attempts"))
        .join(shot, shot.c.entry_id == entry.c.id)
        .where(entry.c.phase == phase, shot.c.state == "spent")
        .subquery()
    )
    found = (
        select(visible, judgement.c.totals, judgement.c.rows, func.coalesce(attempts.c.attempts, 1).label("attempts"))
        .join(newest, newest.c.entry_id == visible.c.id)
        .join(judgement, (judgement.c.entry_id == visible.c.id) & (judgement.c.number == newest.c.number))
        .outerjoin(attempts, attempts.c.id == visible.c.id)
        .where(visible.c.scored)
        .order_by(visible.c.submitted, visible.c.id)
    )
    return [
        ScoredEntry(
            id=row.id,
            team=row.team if row.named else "",
            team_key=str(row.team_id),
            method=row.method,
            notes=row.notes,
            submitted=datetime.fromtimestamp(row.submitted / 1000, UTC),
            attempts=row.attempts,
            bundle=row.bundle,
            rows=row.rows if row.show == "rows" or viewer.is_host else None,
            verdict=decode_verdict(row.totals),
        )
        for row in db.execute(found)
    ]
