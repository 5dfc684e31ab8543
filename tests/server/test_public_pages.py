"""The content of the pages: computed again when something has happened that it shows, and not before."""

from __future__ import annotations

import pytest
from sqlalchemy import update

import itinera as it
import tiny
from itinera.server.blobs import BlobFolder
from itinera.server.entries import hide_entry, set_visibility
from itinera.server.html import SubmitView, render_challenge, render_submit
from itinera.server.phases import switch_phase
from itinera.server.public_pages import PublicPages, find_columns
from itinera.server.queue import finish_judgement, lease_judgement
from itinera.server.service import Service
from itinera.server.tables import phase
from itinera.server.teams import ban_team
from server.boards import judged
from submitting import VERDICT, add_team, submit


@pytest.fixture
def pages(store, tmp_path):
    return PublicPages(Service(store, BlobFolder(tmp_path)))


@pytest.fixture
def judge(store, challenge, clock):
    """Judges the next entry."""

    def judge():
        with store.write() as db:
            digests = {one.name: one.digest for one in challenge.phases}
            lease = lease_judgement(db, worker="w", phases=digests, time=clock())
            finish_judgement(db, lease.judgement_id, lease.attempt, VERDICT, rows=None, time=clock())

    return judge


def test_a_board_is_computed_again_after_an_event_that_changes_it(store, clock, pages, judge):
    def names():
        return [one.id for one in pages.find_board("test").entries]

    with store.write() as db:
        team_id = add_team(db, "Blue")
        name = submit(db, team_id, time=clock())
    empty = pages.find_board("test")
    with store.write() as db:
        submit(db, team_id, "request-2", time=clock())
    assert pages.find_board("test") is empty  # the arrival of an entry changes no board
    judge()
    assert names() == [name]
    assert pages.find_board("test") is pages.find_board("test")
    for hide, show in (
        (lambda db: hide_entry(db, name, "wrong", time=clock()), lambda db: hide_entry(db, name, "", time=clock())),
        (lambda db: ban_team(db, "Blue", "wrong", time=clock()), lambda db: ban_team(db, "Blue", "", time=clock())),
        (lambda db: set_visibility(db, name, "team", team_id=team_id, time=clock()),) * 2,
    ):
        with store.write() as db:
            hide(db)
        assert names() == []
        with store.write() as db:
            show(db)


def test_a_board_is_computed_again_when_its_phase_closes_by_the_clock(store, clock, pages, judge):
    with store.write() as db:
        db.execute(update(phase).values(reveal="closed", closes=clock() + 1000))
        name = submit(db, add_team(db, "Blue"), time=clock())
    judge()
    assert pages.find_board("test").entries == ()
    clock.advance(seconds=1)
    assert [one.id for one in pages.find_board("test").entries] == [name]


def test_the_form_lists_only_phases_that_take_files(store, challenge, pages):
    assert pages.describe_submission() == SubmitView(("dev", "test"), 64 << 20)
    with store.write() as db:
        db.execute(update(phase).where(phase.c.name == "test").values(rules='{"kind": "live"}', max_bytes=1 << 40))
    submission, rules = pages.describe_submission(), pages.describe_challenge()
    assert submission == SubmitView(("dev",), 64 << 20, live=("test",))
    assert [one.is_live for one in rules.phases] == [False, True]
    form, page = render_submit(pages.site(), submission), render_challenge(pages.site(), rules)
    assert '<option value="dev">' in form
    assert '<option value="test">' not in form
    for text in (form, page):
        assert "itinera run --agent my_agent:Agent --challenge URL --phase test" in text
    with store.write() as db:
        switch_phase(db, "dev", "closed", time=0)
    form = render_submit(pages.site(), pages.describe_submission())
    assert "itinera submit" not in form
    assert "No phase that takes files is open." in form


def test_a_board_has_the_metrics_of_tours(tmp_path):
    files = tiny.on_graphs(tmp_path)
    it.run("still", files.tasks, files.worlds, tours=files.tours, workers=0, out=tmp_path / "still.jsonl")
    rules = 'tasks = "R2R_tiny.json"\nworlds = "connectivity"\ntours = "tours.json"\n'
    table = it.judge(tmp_path / "still.jsonl", files.write("tours.toml", rules)).scores
    columns = find_columns([judged("e1", None, load_rows=lambda: table)])
    assert {column.name for column in columns} >= {"SR", "nDTW", "t-nDTW"}
