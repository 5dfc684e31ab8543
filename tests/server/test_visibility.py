"""One condition decides who may see an entry: every list and every page of the interface agrees with it."""

from __future__ import annotations

import itertools
from urllib.parse import quote

import pytest
from sqlalchemy import update

from asgi import get
from itinera.server.app import create_app
from itinera.server.blobs import BlobFolder
from itinera.server.entries import Submission, submit_entry
from itinera.server.events import append_event
from itinera.server.page_routes import make_page_routes
from itinera.server.public_pages import PublicPages
from itinera.server.queue import finish_judgement, lease_judgement
from itinera.server.refusals import NotFound
from itinera.server.service import Service
from itinera.server.tables import entry, phase, team
from itinera.server.teams import make_token
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


# Words of the entry that occur nowhere else, and all addresses that could show one.
TEAM, METHOD, NOTES = "Secretive Blue", "Unpublished Reader", "Nobody knows this"
ADDRESSES = {
    **{path: (path,) for path in ("/", "/challenge", "/status", "/submit", "/metrics", "/healthz", "/openapi.json")},
    **{path: (path,) for path in ("/api/status", "/api/challenge")},
    "/phases/{phase}": ("/phases/test", "/phases/dev"),
    "/phases/{phase}/{name}": ("/phases/test/board.json", "/phases/test/board.csv", "/phases/test/board.tex"),
    "/entries/{entry}": ("/entries/ENTRY",),
    "/teams/{team:path}": (f"/teams/{quote(TEAM)}",),
    "/api/entries": ("/api/entries", "/api/entries?phase=test"),
    "/api/entries/{entry}": ("/api/entries/ENTRY",),
}
# For tokens that submit or judge, and the style sheet.
EXEMPT = {"/api/live/{entry}", "/api/blobs/{digest}", "/api/worker/blobs/{digest}", "/static/{name}"}


@pytest.fixture
def scored(store, challenge, clock):
    """An entry with a score; its id, its team and another team."""
    with store.write() as db:
        own, other = add_team(db, TEAM), add_team(db, "Red")
        submission = Submission("test", add_blob(db), METHOD, "request-1", NOTES)
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


def set_state(store, own, state):
    """Change an entry, its team and its phase as the commands of the host do, which leave an event."""
    visibility, hidden, banned, reveal, switch = state
    with store.write() as db:
        db.execute(update(entry).values(visibility=visibility, hidden=hidden))
        db.execute(update(team).where(team.c.id == own).values(banned=banned))
        db.execute(update(phase).values(reveal=reveal, switch=switch))
        append_event(db, "state", {}, by="host", time=store.clock())


def test_no_address_shows_what_a_viewer_may_not_see(store, scored, tmp_path):
    name, own, other = scored
    with store.write() as db:
        tokens = {one: make_token(db, "read", time=store.clock(), team_id=one) for one in (own, other)}
    service = Service(store, BlobFolder(tmp_path))
    app = create_app(service, pages=make_page_routes(PublicPages(service)))
    assert {one.path for one in app.routes if "GET" in one.methods} == ADDRESSES.keys() | EXEMPT
    shown = set()
    for state in STATES[:: 7 if store.is_sqlite else 17]:
        visibility, _, banned, _, _ = state
        set_state(store, own, state)
        for viewer in (PUBLIC, Viewer(other)) if banned else (PUBLIC, Viewer(other), Viewer(own)):
            sees = may_see(viewer, own, *state)
            named = sees and (visibility == "public" or viewer == Viewer(own))
            for address in itertools.chain(*ADDRESSES.values()):
                # Pages are the same for everybody.
                token = tokens.get(viewer.team_id, "") if address.startswith("/api/") else ""
                status, _, body = get(app, address.replace("ENTRY", name), token)
                assert status in (200, 404), (address, state, body)
                text = body.decode().replace(quote(TEAM), "" if status == 404 else TEAM)
                found = {word for word in (TEAM, METHOD, NOTES, name) if word in text} if status == 200 else set()
                assert named or TEAM not in found, (address, viewer, state)
                assert sees or not found, (address, viewer, state)
                shown |= {(address, word) for word in found}
    # The words do occur where they may.
    assert {
        ("/phases/test", TEAM),
        ("/entries/ENTRY", NOTES),
        ("/api/entries", METHOD),
        ("/api/entries/ENTRY", name),
    } <= shown
