"""One condition decides who may see an entry: every list and every page of the interface agrees with it."""

from __future__ import annotations

import itertools

import pytest
from sqlalchemy import update

from itinera.server.blobs import BlobFolder
from itinera.server.entries import Submission, submit_entry
from itinera.server.queue import finish_judgement, lease_judgement
from itinera.server.refusals import NotFound
from itinera.server.service import Service
from itinera.server.tables import entry, phase, team
from itinera.server.visibility import HOST, PUBLIC, Viewer
from submitting import VERDICT, add_blob, add_team

VISIBILITIES = ("team", "host", "anonymous", "public", "withdrawn")
STATES = list(
    itertools.product(VISIBILITIES, (None, "wrong"), (None, "banned"), ("always", "closed"), (None, "closed"))
)


def may_see(viewer, own, visibility, hidden, banned, reveal, switch):
    """The rule: the host and the team itself; others what is public, shown and revealed, of no banned team."""
    if viewer is HOST or viewer == Viewer(own):
        return True
    public = visibility in ("anonymous", "public") and hidden is None and banned is None
    return public and (reveal == "always" or switch == "closed")


@pytest.fixture
def scored(store, challenge, clock):
    """An entry with a score; its id, its team and another team."""
    with store.write() as db:
        own, other = add_team(db, "Blue"), add_team(db, "Red")
        submission = Submission("test", add_blob(db), "Reader", "request-1")
        name = submit_entry(db, submission, team_id=own, time=clock())
        phases = {one.name: one.digest for one in challenge.phases}
        lease = lease_judgement(db, worker="w", phases=phases, time=clock())
        finish_judgement(db, lease.judgement_id, 1, VERDICT, rows=None, time=clock())
    return name, own, other


def test_every_list_and_every_report_follow_the_rule(store, scored, tmp_path):
    name, own, other = scored
    service = Service(store, BlobFolder(tmp_path))
    for state in STATES if store.is_sqlite else STATES[::7]:
        visibility, hidden, banned, reveal, switch = state
        with store.write() as db:
            db.execute(update(entry).values(visibility=visibility, hidden=hidden))
            db.execute(update(team).where(team.c.id == own).values(banned=banned))
            db.execute(update(phase).values(reveal=reveal, switch=switch))
        for viewer in (PUBLIC, HOST, Viewer(own), Viewer(other)):
            expected = may_see(viewer, own, *state)
            try:
                report = service.describe_entry(name, viewer)
            except NotFound:
                report = None
            assert (report is not None) == expected, (viewer, state)
            listed = service.list_entries(viewer)
            assert [one.entry for one in listed] == [name] * (expected and viewer != Viewer(other)), (viewer, state)
            if report is None:
                continue
            mine = viewer == Viewer(own)
            assert (report.shot is not None, report.visibility is not None) == (mine, mine)
            assert (report.team is None) == (visibility != "public" and not mine and viewer is not HOST)
            revealed = viewer is HOST or reveal == "always" or switch == "closed"
            assert (report.verdict is not None) == revealed
            assert all(one == report for one in listed)
