"""Teams and tokens: 256 random bits, shown once; the database has their SHA-256 only. There are no passwords."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement, Connection, and_, insert, or_, select, update

from itinera.errors import INVISIBLE, LINE_BREAKS
from itinera.server.events import append_event
from itinera.server.refusals import Conflict, NotFound, RefusedRequest, UnknownToken
from itinera.server.store import insert_missing
from itinera.server.tables import team, token

Scope = Literal["submit", "read", "worker", "invite"]
PREFIX = "itn_"  # secret scanners find leaked tokens by it
SHOWN = 12  # characters of a token that tell it apart
LONGEST_NAME = 80


@dataclass(frozen=True)
class Identity:
    """Who a token belongs to, and what it allows."""

    scope: Scope
    prefix: str
    team_id: int | None = None
    team: str = ""


def hash_token(text: str) -> str:
    """What the database stores of a token."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def make_token(
    db: Connection, scope: Scope, *, time: int, team_id: int | None = None, label: str = "", expires: int | None = None
) -> str:
    """A new token; the only time that its text exists outside of the hands of its owner."""
    text = PREFIX + secrets.token_urlsafe(32)
    row = {"sha256": hash_token(text), "prefix": text[:SHOWN], "scope": scope, "team_id": team_id}
    db.execute(insert(token).values(**row, label=label[:LONGEST_NAME], created=time, expires=expires))
    append_event(db, "token", {"scope": scope}, by="host", time=time)
    return text


def identify(db: Connection, text: str, time: int) -> Identity:
    """Who sends this token; raises UnknownToken if it is unknown, expired, revoked or its team is banned."""
    found = (
        select(token.c.scope, token.c.prefix, token.c.team_id, team.c.name, team.c.banned)
        .outerjoin(team, team.c.id == token.c.team_id)
        .where(token.c.sha256 == hash_token(text), _valid(time))
    )
    row = db.execute(found).one_or_none()
    if row is None:
        raise UnknownToken("The token is unknown, expired or revoked. Ask the host for a new one.")
    if row.banned is not None:
        raise UnknownToken(f"Team {row.name} is excluded: {row.banned}")
    return Identity(row.scope, row.prefix, row.team_id, row.name or "")


def revoke_token(db: Connection, prefix: str, *, time: int) -> None:
    """End a token, named by its first characters."""
    found = db.execute(select(token.c.sha256).where(token.c.prefix == prefix[:SHOWN])).scalars().all()
    if len(found) != 1:
        raise NotFound(f"No single token begins with {prefix!r}: give its first {SHOWN} characters.")
    db.execute(update(token).where(token.c.sha256 == found[0]).values(revoked=time))
    append_event(db, "revoke", {}, by="host", time=time)


def revoke_tokens_labelled(db: Connection, label: str, *, time: int) -> None:
    """End all tokens with a label."""
    db.execute(update(token).where(token.c.label == label, token.c.revoked.is_(None)).values(revoked=time))


def create_team(db: Connection, name: str, *, time: int) -> int:
    """The id of a new team; raises Conflict if the name is taken."""
    plain = check_name(name)
    if not insert_missing(db, team, {"name": plain, "created": time}):
        raise Conflict(f"There is a team {plain} already. Choose another name.")
    team_id = find_team(db, plain)
    append_event(db, "team", {"team": team_id}, by="host", time=time)
    return team_id


def join_by_invitation(db: Connection, invitation: str, name: str, *, time: int) -> tuple[int, str]:
    """The id of a new team and its token, in exchange for an invitation, which ends with it."""
    used = and_(token.c.sha256 == hash_token(invitation), token.c.scope == "invite", _valid(time))
    if db.execute(update(token).where(used).values(revoked=time)).rowcount != 1:
        raise UnknownToken("The invitation is unknown, expired or used already. Ask the host for a new one.")
    team_id = create_team(db, name, time=time)
    return team_id, make_token(db, "submit", time=time, team_id=team_id, label="by invitation")


def find_team(db: Connection, name: str) -> int:
    """The id of a team; raises NotFound if there is none of this name."""
    found = db.execute(select(team.c.id).where(team.c.name == name)).scalar_one_or_none()
    if found is None:
        raise NotFound(f"There is no team {name!r}.")
    return int(found)


def ban_team(db: Connection, name: str, why: str, *, time: int) -> None:
    """Exclude a team: its tokens end to work and its entries leave the board. An empty reason lifts the ban."""
    team_id = find_team(db, name)
    db.execute(update(team).where(team.c.id == team_id).values(banned=why or None))
    append_event(db, "ban" if why else "readmit", {"team": team_id}, by="host", time=time)


def check_name(name: str) -> str:
    """A name that can be shown, without outer spaces; raises RefusedRequest for any other."""
    plain = " ".join(name.split())
    if not plain or len(plain) > LONGEST_NAME or INVISIBLE.search(plain) or LINE_BREAKS.search(plain):
        raise RefusedRequest(f"A name has 1 to {LONGEST_NAME} visible characters.")
    return plain


def _valid(time: int) -> ColumnElement[bool]:
    unexpired = or_(token.c.expires.is_(None), token.c.expires > time)
    return and_(token.c.revoked.is_(None), unexpired)
