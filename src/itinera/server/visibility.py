"""Who may see which entry: one condition, which every page, list and file of the server applies."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, and_, false, or_, select, true

from itinera.server.tables import entry, phase, team


@dataclass(frozen=True)
class Viewer:
    """Who asks: nobody in particular, a team, or the host."""

    team_id: int | None = None
    is_host: bool = False


PUBLIC = Viewer()
HOST = Viewer(is_host=True)


def select_visible(viewer: Viewer, time: int) -> Select[tuple[object, ...]]:
    """The entries that a viewer may see, with team and phase.

    Columns of their own: `named`, whether the viewer may know the team; `own`; `scored`, whether scores may be shown
    now; and `sealed`, whether only rounded.
    """
    own = _own(viewer)
    closed = or_(phase.c.switch == "closed", and_(phase.c.switch.is_(None), phase.c.closes <= time))
    named = or_(own, entry.c.visibility == "public", true() if viewer.is_host else false())
    scored = or_(phase.c.reveal == "always", closed, true() if viewer.is_host else false())
    return (
        select(
            entry,
            team.c.name.label("team"),
            phase.c.show,
            and_(phase.c.show == "totals", false() if viewer.is_host else true()).label("sealed"),
            named.label("named"),
            own.label("own"),
            scored.label("scored"),
        )
        .join(team, team.c.id == entry.c.team_id)
        .join(phase, phase.c.name == entry.c.phase)
        .where(_is_visible(viewer, own, scored))
    )


def _own(viewer: Viewer) -> ColumnElement[bool]:
    return false() if viewer.team_id is None else entry.c.team_id == viewer.team_id


def _is_visible(viewer: Viewer, own: ColumnElement[bool], scored: ColumnElement[bool]) -> ColumnElement[bool]:
    if viewer.is_host:
        return true()
    public = and_(
        entry.c.visibility.in_(("public", "anonymous")), entry.c.hidden.is_(None), team.c.banned.is_(None), scored
    )
    return or_(own, public)
