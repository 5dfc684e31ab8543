"""The worker: what it reports of good entries, faulty ones, and its own trouble; and when it ends."""

from __future__ import annotations

import shutil
import threading
import time

import pytest
from sqlalchemy import select

from itinera.errors import BadFile, Fault
from itinera.server.blobs import BlobFolder
from itinera.server.client import Client, Refusal, Unreachable
from itinera.server.messages import EntryReport, EntryRequest, NewEntry
from itinera.server.phases import store_challenge
from itinera.server.queue import expire_leases
from itinera.server.service import Service
from itinera.server.store import Store, now_ms
from itinera.server.tables import judgement
from itinera.server.teams import create_team, make_token
from itinera.server.worker import Worker
from live_server import live_server
from submitting import VERDICT

LEASE_MS = 600


@pytest.fixture
def served(migrated_file, challenge, tmp_path):
    """A server with short leases and a real clock: its URL, store, and the tokens of a worker and a team."""
    shutil.copy(migrated_file, tmp_path / "itinera.db")
    store = Store(tmp_path / "itinera.db")
    with store.write() as db:
        store_challenge(db, challenge, time=now_ms())
        worker = make_token(db, "worker", time=now_ms())
        team = make_token(db, "submit", time=now_ms(), team_id=create_team(db, "Blue", time=now_ms()))
    with live_server(Service(store, BlobFolder(tmp_path), lease_ms=LEASE_MS)) as url:
        yield url, store, worker, team
    store.close()


@pytest.fixture
def submit(served, tmp_path):
    """Submits an entry; returns a function that reads its report."""
    url, _, _, token = served
    client = Client(url, token)
    file = tmp_path / "entry.jsonl"
    file.write_text("actions\n")

    def send():
        digest = client.upload(file, phase="dev")
        request = EntryRequest("dev", digest, "Reader", f"request-{time.monotonic_ns()}")
        name = client.post("/api/entries", request, NewEntry).entry
        return lambda: client.get(f"/api/entries/{name}", EntryReport)

    return send


def make_worker(served, challenge, judge, **options):
    url, _, token, _ = served
    return Worker(Client(url, token, pause=0.01), challenge, judge, name="w1", idle_seconds=0.01, **options)


def test_the_verdict_and_the_rows_of_an_entry_arrive(served, submit, challenge, tmp_path):
    def judge(bundle, phase, rows):
        assert (bundle.read_text(), phase.name) == ("actions\n", "dev")
        rows.write_text("rows\n")
        return VERDICT

    report = submit()
    worker = make_worker(served, challenge, judge)
    assert worker.judge_next()
    assert (report().state, report().verdict, report().shot) == ("scored", VERDICT, "spent")
    with served[1].read() as db:
        digest = db.execute(select(judgement.c.rows)).scalar_one()
    with BlobFolder(tmp_path).open(digest) as stream:
        assert stream.read() == b"rows\n"
    assert not worker.judge_next()


def test_faults_of_an_entry_refuse_it_without_paths_of_the_host(served, submit, challenge):
    def judge(bundle, phase, rows):
        raise BadFile(str(bundle), [Fault("line 3", "has no actions.")])

    report = submit()
    assert make_worker(served, challenge, judge).judge_next()
    assert (report().state, report().reason, report().shot) == ("refused", "entry: line 3: has no actions.", "returned")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (BadFile("/answers/test.json", [Fault("", "is not JSON.")]), "the host's files have faults."),
        (ValueError("/answers/secret"), "internal error of the judge (ValueError)"),
        (MemoryError(), "internal error of the judge (MemoryError)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_trouble_of_the_host_gives_the_entry_back_three_times_and_then_fails_it(
    served, submit, challenge, error, reason
):
    def judge(bundle, phase, rows):
        raise error

    report = submit()
    worker = make_worker(served, challenge, judge)
    for state in ("queued", "queued", "failed"):
        assert worker.judge_next()
        assert report().state == state
    assert report().reason == f"3 attempts to judge the entry ended without a result. The last: {reason}"
    assert report().shot == "returned"


def test_a_long_judgement_keeps_its_lease(served, submit, challenge):
    def judge(bundle, phase, rows):
        time.sleep(3 * LEASE_MS / 1000)
        assert expire_leases(served[1]) == 0
        return VERDICT

    report = submit()
    assert make_worker(served, challenge, judge).judge_next()
    assert report().state == "scored"


def test_a_judgement_beyond_its_limit_loses_its_lease_and_says_so(served, submit, challenge):
    overrun = threading.Event()

    def judge(bundle, phase, rows):
        assert overrun.wait(20)
        time.sleep(2 * LEASE_MS / 1000)
        assert expire_leases(served[1]) == 1
        return VERDICT

    report = submit()
    worker = make_worker(served, challenge, judge, limit_seconds=0.1, on_overrun=overrun.set)
    assert worker.judge_next()
    assert report().state == "queued"  # what came late changed nothing


def test_a_worker_ends_without_a_server_and_without_a_token(served, challenge):
    url, _, _, team = served
    lost = Worker(Client("http://127.0.0.1:9", "x", pause=0.001), challenge, None, name="w",
                  give_up_seconds=0.05, idle_seconds=0.01)  # fmt: skip
    with pytest.raises(Unreachable, match="does not answer"):
        lost.run()
    with pytest.raises(Refusal, match="needs one for worker"):
        Worker(Client(url, team), challenge, None, name="w").run()


def test_a_worker_stops_after_its_judgement(served, submit, challenge):
    def judge(bundle, phase, rows):
        worker.stop()
        return VERDICT

    reports = [submit(), submit()]
    worker = make_worker(served, challenge, judge)
    assert worker.run() == 1
    assert [report().state for report in reports] == ["scored", "queued"]
