"""Teams and tokens: shown once, stored as digests, ended by time, revocation and bans."""

from __future__ import annotations

import pytest

from itinera.server.refusals import Conflict, NotFound, RefusedRequest, UnknownToken
from itinera.server.teams import (
    SHOWN,
    ban_team,
    create_team,
    identify,
    join_by_invitation,
    make_token,
    revoke_token,
)
from submitting import add_team


@pytest.fixture
def db(store):
    with store.write() as db:
        yield db


def test_a_token_identifies_its_team_and_is_stored_nowhere(db, clock):
    team_id = add_team(db)
    text = make_token(db, "submit", time=clock(), team_id=team_id)
    found = identify(db, text, clock())
    assert (found.scope, found.team_id, found.team, found.prefix) == ("submit", team_id, "Blue", text[:SHOWN])
    assert len(text) == 4 + 43  # 256 bits
    for table in ("token", "event"):
        assert text not in str(db.exec_driver_sql(f"SELECT * FROM {table}").all())


@pytest.mark.parametrize("wrong", ["", "itn_", "itn_" + "A" * 43, "é\ud800", "x" * 10_000])
def test_a_wrong_token_is_nobody(db, clock, wrong):
    make_token(db, "submit", time=clock(), team_id=add_team(db))
    with pytest.raises(UnknownToken, match="unknown, expired or revoked"):
        identify(db, wrong, clock())


def test_a_token_ends_by_time_revocation_or_ban(db, clock):
    team_id = add_team(db)
    first, second, third = (
        make_token(db, "submit", time=clock(), team_id=team_id, expires=expires)
        for expires in (clock() + 1000, None, None)
    )
    assert identify(db, first, clock() + 999).team == "Blue"
    with pytest.raises(UnknownToken):
        identify(db, first, clock() + 1000)
    revoke_token(db, second[:SHOWN], time=clock())
    with pytest.raises(UnknownToken):
        identify(db, second, clock())
    ban_team(db, "Blue", "two accounts", time=clock())
    with pytest.raises(UnknownToken, match="Team Blue is excluded: two accounts"):
        identify(db, third, clock())
    ban_team(db, "Blue", "", time=clock())
    assert identify(db, third, clock()).team == "Blue"
    with pytest.raises(NotFound):
        revoke_token(db, "itn_", time=clock())


def test_an_invitation_makes_one_team(db, clock):
    invitation = make_token(db, "invite", time=clock())
    _, text = join_by_invitation(db, invitation, " Red   team ", time=clock())
    assert identify(db, text, clock()).team == "Red team"
    with pytest.raises(UnknownToken, match="used already"):
        join_by_invitation(db, invitation, "Green", time=clock())
    with pytest.raises(UnknownToken):  # another token is no invitation
        join_by_invitation(db, text, "Green", time=clock())


def test_a_name_is_taken_once(db, clock):
    create_team(db, "Blue", time=clock())
    with pytest.raises(Conflict, match="There is a team Blue already"):
        create_team(db, " Blue ", time=clock())


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\x1bb", "a\u202eb", "zero\u200bwidth"])
def test_a_name_is_visible(db, clock, name):
    with pytest.raises(RefusedRequest, match="visible characters"):
        create_team(db, name, time=clock())
