"""Nothing is lost: server, worker and database are killed at random, and every entry is judged exactly once."""

from __future__ import annotations

import resource
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
from killing import CHALLENGE, HERE, LONGEST_WAIT, Teams, Ward, Watcher, answers, free_port, kill_at_random, wait_for
from postgres import Cluster

TEAMS, WORKERS = 4, 2


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


def make_challenge(folder, store):
    """The token of a worker and those of the teams."""
    folder.mkdir()
    (folder / "challenge.toml").write_text(CHALLENGE)
    store.migrate()
    with store.write() as db:
        now = store.clock()
        store_challenge(db, read_hosted_challenge(folder), time=now)
        teams = [create_team(db, f"Team {n}", time=now) for n in range(TEAMS)]
        tokens = [make_token(db, "submit", time=now, team_id=team_id) for team_id in teams]
        return make_token(db, "worker", time=now), tokens


def run(place, tmp_path, *, entries, kills, lease_seconds, seed):
    """Submit and kill until every entry is judged; the longest time without news of a leased one, and a report."""
    url, kill_database = place
    folder, store = tmp_path / "challenge", Store(url)
    worker_token, tokens = make_challenge(folder, store)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    server = Ward([sys.executable, str(HERE), "serve", str(folder), str(port), url, str(lease_seconds)])
    command = [sys.executable, str(HERE), "work", address, str(folder), worker_token]
    workers = [Ward(command) for _ in range(WORKERS)]
    teams = Teams(address, tokens, entries, tmp_path)
    rng, begun = np.random.default_rng(seed), time.monotonic()

    def kill_server():
        if rng.random() < 0.8:  # else perhaps while it starts
            wait_for(lambda: answers(address), LONGEST_WAIT)
            time.sleep(rng.uniform(0, 0.5))
        server.kill()

    try:
        for one in (server, *workers):
            one.start()
        with Watcher(store) as watcher:
            threads = teams.run()
            victims = [kill_server, *(one.kill for one in workers), *kill_database]
            kill_at_random(victims, rng, lambda: watcher.settled + len(teams.accepted), count=kills, most=2 * entries)
            for thread in threads:
                thread.join()
            wait_for(lambda: watcher.settled == entries or teams.failures, LONGEST_WAIT)
    finally:
        for one in (server, *workers):
            one.end()
    check(store, teams, folder)
    store.close()
    killed = server.kills, sum(one.kills for one in workers), kills - server.kills - sum(one.kills for one in workers)
    print(f"\n{entries} entries; kills: server {killed[0]}, workers {killed[1]}, database {killed[2]}; ", end="")
    print(f"{time.monotonic() - begun:.0f} s; longest without news {watcher.longest_seconds:.1f} s", end="; ")
    return watcher.longest_seconds


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
    run(place, tmp_path, entries=24, kills=4, lease_seconds=2.0, seed=1)


@pytest.mark.slow
def test_no_entry_of_ten_thousand_is_lost_in_two_hundred_kills(place, tmp_path):
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    longest = run(place, tmp_path, entries=10_000, kills=240, lease_seconds=10.0, seed=2)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"CPU of the processes {used.ru_utime + used.ru_stime - begun.ru_utime - begun.ru_stime:.0f} s")
    assert longest <= 2 * 10.0  # two lease times, the starts of killed servers included
