"""Nothing is lost: server, worker and database are killed at random, and every entry is judged exactly once."""

from __future__ import annotations

import shutil
import sys
import time

import numpy as np
import pytest
from sqlalchemy import select

from itinera.formats.hosted_challenge import read_hosted_challenge
from itinera.server.events import read_events
from itinera.server.phases import store_challenge
from itinera.server.shots import find_ledger_faults
from itinera.server.store import Store
from itinera.server.tables import blob, entry, judgement, shot
from itinera.server.teams import create_team, make_token
from itinera.server.verdicts import decode_verdict
from killing import CHALLENGE, HERE, LEASE_SECONDS, Teams, Ward, answers, free_port, kill_at_random, wait_for
from postgres import Cluster

TEAMS = 4


@pytest.fixture
def own_cluster():
    """A PostgreSQL server of its own, because it is killed."""
    made = Cluster()
    made.start()
    yield made
    made.stop()
    shutil.rmtree(made.folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """The URL of a database, and how it is killed and started again; a SQLite file dies with its server."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'itinera.db'}", []
    cluster = request.getfixturevalue("own_cluster")

    def kill():
        cluster.kill()
        cluster.start()

    return cluster.create("killed"), [kill]


def run(place, tmp_path, *, entries, most_kills, seed):
    url, kill_database = place
    folder = tmp_path / "challenge"
    folder.mkdir()
    (folder / "challenge.toml").write_text(CHALLENGE)
    store = Store(url)
    store.migrate()
    with store.write() as db:
        now = store.clock()
        store_challenge(db, read_hosted_challenge(folder), time=now)
        worker_token = make_token(db, "worker", time=now)
        tokens = [
            make_token(db, "submit", time=now, team_id=create_team(db, f"Team {n}", time=now)) for n in range(TEAMS)
        ]
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    server = Ward([sys.executable, str(HERE), "serve", str(folder), str(port), url])
    worker = Ward([sys.executable, str(HERE), "work", address, str(folder), worker_token])
    teams = Teams(address, tokens, entries, tmp_path)
    try:
        server.start()
        worker.start()
        threads = teams.run()
        done = lambda: not any(thread.is_alive() for thread in threads)  # noqa: E731
        rng = np.random.default_rng(seed)

        def kill_server():
            if rng.random() < 0.8:  # else perhaps while it starts
                wait_for(lambda: answers(address) or done(), 60)
                time.sleep(rng.uniform(0, 0.5))
            server.kill()

        kills = kill_at_random([kill_server, worker.kill, *kill_database], rng, done, most_kills)
        for thread in threads:
            thread.join()
        submitted = time.monotonic()

        def settled():
            try:
                with store.read() as db:
                    found = db.execute(select(judgement.c.state)).scalars().all()
            except Exception:  # PostgreSQL starts again
                return False
            return not {"queued", "running"} & set(found)

        wait_for(settled, 120 + entries)
        waited = time.monotonic() - submitted
    finally:
        server.end()
        worker.end()
    check(store, teams, folder)
    store.close()
    return kills, waited


def check(store, teams, folder):
    assert teams.failures == []
    assert sorted(teams.accepted.values()) == list(range(teams.entries))
    with store.read() as db:
        entries = set(db.execute(select(entry.c.id)).scalars())
        judgements = db.execute(select(judgement)).all()
        shots = list(db.execute(select(shot.c.state)).scalars())
        faults = find_ledger_faults(db)
        events = read_events(db)
        blobs = list(db.execute(select(blob.c.sha256, blob.c.size)))
    assert entries == set(teams.accepted)  # every accepted one, and no other
    assert sorted(one.entry_id for one in judgements) == sorted(entries)  # once each
    scored = [one for one in judgements if one.state == "scored"]
    for one in scored:
        assert decode_verdict(one.totals).scores["SR"][0] == teams.accepted[one.entry_id]
    # A judgement that lost its worker three times has failed, says so, and has returned its shot.
    failed = [one for one in judgements if one.state == "failed"]
    assert len(scored) + len(failed) == len(entries)
    assert all(one.losses == 3 and "attempts to judge" in one.reason for one in failed)
    assert (shots.count("spent"), shots.count("returned")) == (len(scored), len(failed))
    assert faults == []
    named = [event.about["entry"] for event in events if event.kind == "judgement"]
    assert sorted(named) == sorted(one.entry_id for one in scored)
    assert [event.previous for event in events[1:]] == [event.digest for event in events[:-1]]
    for digest, size in blobs:
        assert (folder / "blobs" / digest[:2] / digest).stat().st_size == size


def test_no_entry_is_lost_or_judged_twice(place, tmp_path):
    kills, waited = run(place, tmp_path, entries=24, most_kills=6, seed=1)
    assert kills >= 3
    assert waited < 10 * LEASE_SECONDS


@pytest.mark.slow
def test_no_entry_of_ten_thousand_is_lost_in_two_hundred_kills(place, tmp_path):
    kills, _ = run(place, tmp_path, entries=10_000, most_kills=400, seed=2)
    assert kills >= 200
