"""Live phases lose nothing: server, worker, participants and database are killed at random."""

from __future__ import annotations

import shutil
import sys
import time

import numpy as np
import pytest
from sqlalchemy import func, select

import itinera as it
from itinera.api.live import make_live_host
from itinera.formats.hosted_challenge import read_hosted_challenge
from itinera.formats.live_log import read_live_log, session_seed
from itinera.server.blobs import BlobFolder
from itinera.server.phases import store_challenge
from itinera.server.shots import find_ledger_faults
from itinera.server.store import Store
from itinera.server.tables import entry, judgement, live_answer, live_session, shot
from itinera.server.teams import create_team, make_token
from itinera.server.verdicts import decode_verdict
from killing import HERE as SERVER
from killing import Ward, answers, free_port, kill_at_random, wait_for
from live_killing import HERE, SlowWanderer, make_challenge
from postgres import Cluster


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """The URL of a database, and how it is killed and started again; a SQLite file dies with its server."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'itinera.db'}", []
        return
    cluster = Cluster()
    cluster.start()

    def kill():
        cluster.kill()
        cluster.start()

    yield cluster.create("killed"), [kill]
    cluster.stop()
    shutil.rmtree(cluster.folder)


class Participant(Ward):
    """A participant that is started again until it has finished."""

    @property
    def done(self):
        return self.process.poll() == 0

    def kill(self):
        if not self.done:
            super().kill()


def run(place, tmp_path, *, teams, copies, kills, seed):
    url, kill_database = place
    folder = tmp_path / "challenge"
    folder.mkdir()
    tasks = make_challenge(folder, copies=copies)
    store = Store(url)
    store.migrate()
    with store.write() as db:
        now = store.clock()
        store_challenge(db, read_hosted_challenge(folder), time=now)
        worker_token = make_token(db, "worker", time=now)
        tokens = [
            make_token(db, "submit", time=now, team_id=create_team(db, f"Team {n}", time=now)) for n in range(teams)
        ]
    address = f"http://127.0.0.1:{free_port()}"
    server = Ward([sys.executable, str(SERVER), "serve", str(folder), address.rpartition(":")[2], url, "2.0"])
    worker = Ward([sys.executable, str(HERE), "work", address, str(folder), worker_token])
    players = [Participant([sys.executable, str(HERE), "play", address, token]) for token in tokens]
    everyone = [server, worker, *players]
    try:
        for one in everyone:
            one.start()
        rng = np.random.default_rng(seed)
        done = lambda: all(player.done for player in players)  # noqa: E731

        def kill_server():
            wait_for(lambda: answers(address) or done(), 60)
            time.sleep(rng.uniform(0, 0.5))
            server.kill()

        def begun():
            """The number of episodes that were begun."""
            try:
                with store.read() as db:
                    return db.execute(select(func.count()).where(live_answer.c.turn == 0)).scalar_one()
            except Exception:  # PostgreSQL starts again
                return 0

        def kill_player():
            players[rng.integers(teams)].kill()

        victims = [kill_server, worker.kill, kill_player, *kill_database]
        episodes = teams * len(it.read_tasks(tasks))
        kill_at_random(victims, rng, begun, count=kills, most=0.9 * episodes)
        until = time.monotonic() + 300
        while not done():
            assert time.monotonic() < until
            for player in players:
                if player.process.poll() not in (None, 0):  # it gave up
                    player.start()
            time.sleep(0.2)

        def settled():
            try:
                with store.read() as db:
                    states = db.execute(select(judgement.c.state)).scalars().all()
            except Exception:  # PostgreSQL starts again
                return False
            return len(states) == teams and not {"queued", "running"} & set(states)

        wait_for(settled, 120)
    finally:
        for one in everyone:
            one.end()
    check(store, folder, tasks, teams)
    store.close()


def check(store, folder, tasks, teams):
    with store.read() as db:
        entries = db.execute(select(entry)).all()
        scored = dict(db.execute(select(judgement.c.entry_id, judgement.c.totals)).all())
        spent = list(db.execute(select(shot.c.state)).scalars())
        begun = db.execute(select(func.count()).where(live_answer.c.turn == 0)).scalar_one()
        open_sessions = db.execute(select(func.count()).where(live_session.c.closed.is_(None))).scalar_one()
        assert find_ledger_faults(db) == []
    split, worlds = it.read_tasks(tasks), it.read_worlds(next(folder.rglob("*_connectivity.json")).parent)
    assert len(entries) == teams  # one session each, however often they were started
    assert (open_sessions, spent) == (0, ["spent"] * teams)
    assert begun == teams * len(split)  # every episode was begun once
    host = make_live_host(read_hosted_challenge(folder)["test"])
    for one in entries:
        log = read_live_log(BlobFolder(folder).path(one.bundle))
        played = {t.episode_id: t for t in host.rebuild(log, one.id)}
        local = it.run(SlowWanderer(), split, worlds, seed=session_seed(log.secret), workers=0)
        assert {t.episode_id: (t.places, t.ending) for t in local} == {
            name: (t.places, t.ending) for name, t in played.items()
        }
        verdict = decode_verdict(scored[one.id])
        assert (verdict.badge, verdict.missing) == ("live", 0)
        assert verdict.scores["SR"][0] == pytest.approx(it.score(local, split, worlds).mean("SR"))


def test_every_episode_is_played_once_and_as_in_a_local_run(place, tmp_path):
    run(place, tmp_path, teams=2, copies=5, kills=6, seed=1)


@pytest.mark.slow
def test_hundreds_of_kills_change_nothing(place, tmp_path):
    run(place, tmp_path, teams=8, copies=200, kills=250, seed=2)
