"""What a board is made of: the scored entries of a phase, as far as a viewer may see them."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from sqlalchemy import update

from itinera.server.entries import Submission, rerun_entry, submit_entry
from itinera.server.queue import finish_judgement, lease_judgement, refuse_judgement
from itinera.server.scored_entries import list_scored_entries
from itinera.server.tables import entry
from itinera.server.visibility import HOST, PUBLIC, Viewer
from submitting import VERDICT, add_blob, add_team


@pytest.fixture
def add(store, challenge, clock):
    """Submits and judges an entry; its id. Without a success rate, the entry is refused."""
    phases = {one.name: one.digest for one in challenge.phases}
    submission = Submission("dev", "", "Reader", "")

    def judge(sr):
        clock.advance(seconds=1)
        with store.write() as db:
            lease = lease_judgement(db, worker="w", phases=phases, time=clock())
            ended = (db, lease.judgement_id, lease.attempt)
            if sr is None:
                refuse_judgement(*ended, "wrong", time=clock())
                return
            verdict = msgspec.structs.replace(VERDICT, scores={"SR": (sr, sr, sr)})
            finish_judgement(*ended, verdict, rows=add_blob(db, "rows"), time=clock())

    def send(team_id, sr, **fields):
        clock.advance(seconds=1)
        with store.write() as db:
            one = replace(submission, bundle=add_blob(db), request=f"request-{clock()}", **fields)
            name = submit_entry(db, one, team_id=team_id, time=clock())
        judge(sr)
        return name

    send.judge = judge
    return send


@pytest.fixture
def listed(store, clock):
    def read(viewer=PUBLIC, phase="dev"):
        with store.read() as db:
            return list_scored_entries(db, phase, viewer, time=clock())

    return read


def test_a_board_has_the_scored_entries_with_all_attempts_of_their_teams(store, add, listed):
    with store.write() as db:
        blue, red = add_team(db, "Blue"), add_team(db, "Red")
    hidden = add(blue, 0.1, visibility="team")
    add(blue, None)  # refused: no shot is used
    secret = add(red, 0.2, visibility="anonymous")
    best = add(blue, 0.3)
    assert [(one.id, one.team, one.attempts) for one in listed()] == [(secret, "", 1), (best, "Blue", 2)]
    assert [one.id for one in listed(Viewer(blue))] == [hidden, secret, best]
    assert [one.team for one in listed(HOST)] == ["Blue", "Red", "Blue"]
    assert listed()[1].verdict.scores["SR"][0] == 0.3
    assert listed(phase="test") == []
    keys = {one.id: one.team_key for one in listed(HOST)}
    assert keys[hidden] == keys[best] != keys[secret]


def test_a_rerun_replaces_the_scores_when_it_has_some(store, add, listed, clock):
    with store.write() as db:
        blue = add_team(db, "Blue")
    name = add(blue, 0.1)
    with store.write() as db:
        rerun_entry(db, name, time=clock())
    assert [one.verdict.scores["SR"][0] for one in listed()] == [0.1]
    add.judge(0.4)
    assert [(one.verdict.scores["SR"][0], one.attempts) for one in listed()] == [(0.4, 1)]


def test_rows_are_given_where_the_phase_shows_them(store, add, listed):
    with store.write() as db:
        blue = add_team(db, "Blue")
    add(blue, 0.1)
    name = add(blue, 0.1, phase="test")
    assert listed()[0].rows is not None
    assert listed(phase="test")[0].rows is None
    assert listed(HOST, "test")[0].rows is not None
    with store.write() as db:
        db.execute(update(entry).where(entry.c.id == name).values(visibility="withdrawn"))
    assert listed(HOST, "test") == listed(Viewer(blue), "test") == []
