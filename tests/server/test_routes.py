"""The JSON interface over a real connection: uploads, entries, workers, and what is refused."""

from __future__ import annotations

import errno
import hashlib
import http.client
import json
import socket
from urllib.parse import urlsplit

import msgspec
import pytest
from sqlalchemy.exc import OperationalError

from itinera.server import requests
from itinera.server.blobs import BlobFolder
from itinera.server.client import Client, Refusal
from itinera.server.messages import (
    ChallengeReport,
    EndMessage,
    EntryChange,
    EntryReport,
    EntryRequest,
    FinishMessage,
    JoinReply,
    JoinRequest,
    LeaseMessage,
    LeaseReply,
    LeaseRequest,
    NewEntry,
    QueueReport,
    WriteReply,
)
from itinera.server.refusals import TooMany
from itinera.server.requests import MAX_GUESSES, GuessLimiter
from itinera.server.service import Service
from itinera.server.teams import create_team, make_token, revoke_token
from live_server import live_server
from submitting import VERDICT

SEALED = msgspec.structs.replace(VERDICT, scores={"SR": (0.4, 0.0, 1.0)}, scenes={})  # rounded to its noise, no scenes

BUNDLE = b'{"itinera": "predictions"}\n' * 1000
DIGEST = hashlib.sha256(BUNDLE).hexdigest()


class Monotonic:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def minutes():
    return Monotonic()


@pytest.fixture
def url(store, tmp_path, minutes):
    with live_server(Service(store, BlobFolder(tmp_path)), GuessLimiter(minutes)) as url:
        yield url


@pytest.fixture
def tokens(store, clock):
    """A token of each kind; those of teams by their names."""
    with store.write() as db:
        made = {scope: make_token(db, scope, time=clock()) for scope in ("worker", "invite")}
        for name in ("Blue", "Red"):
            made[name] = make_token(db, "submit", time=clock(), team_id=create_team(db, name, time=clock()))
    return made


@pytest.fixture
def blue(url, tokens):
    return Client(url, tokens["Blue"], pause=0.01)


@pytest.fixture
def worker(url, tokens):
    return Client(url, tokens["worker"], pause=0.01)


@pytest.fixture
def bundle(tmp_path):
    file = tmp_path / "entry.jsonl"
    file.write_bytes(BUNDLE)
    return file


def request_entry(phase="test", number=1, **fields):
    return EntryRequest(phase, DIGEST, "Reader", f"request-{number}", **fields)


def ask(url, method, path, body=None, headers=None):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    connection.request(method, path, body=body, headers=headers or {})
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    return reply, content


@pytest.fixture
def take(worker, challenge):
    """Leases the next judgement."""

    def one():
        digests = {phase.name: phase.digest for phase in challenge.phases}
        return worker.post("/api/worker/lease", LeaseRequest("w1", digests), LeaseReply)

    return one


def test_from_an_invitation_to_a_score(url, tokens, worker, take, bundle, clock, tmp_path):
    joined = Client(url, tokens["invite"]).post("/api/teams", JoinRequest("Green"), JoinReply)
    green = Client(url, joined.token)
    assert green.upload(bundle, phase="test") == DIGEST
    created = green.post("/api/entries", request_entry(), NewEntry)
    waiting = green.get(f"/api/entries/{created.entry}", EntryReport)
    assert (waiting.state, waiting.place, waiting.shot, waiting.team) == ("queued", 1, "reserved", "Green")
    clock.advance(seconds=7)
    queue = green.get("/api/status", QueueReport)
    assert (queue.queued, queue.running, queue.oldest_seconds) == (1, 0, 7.0)

    job = take()
    assert (job.entry, job.phase, job.bundle, job.attempt) == (created.entry, "test", DIGEST, 1)
    worker.download(f"/api/worker/blobs/{DIGEST}", tmp_path / "downloaded", DIGEST)
    assert (tmp_path / "downloaded").read_bytes() == BUNDLE
    assert worker.post("/api/worker/renew", LeaseMessage(job.judgement, 1), WriteReply).accepted
    rows = worker.upload(bundle)
    done = FinishMessage(job.judgement, 1, VERDICT, rows)
    assert worker.post("/api/worker/finish", done, WriteReply).accepted
    assert not worker.post("/api/worker/finish", done, WriteReply).accepted  # a repeated report changes nothing

    scored = green.get(f"/api/entries/{created.entry}", EntryReport)
    assert (scored.state, scored.shot, scored.verdict, scored.place) == ("scored", "spent", SEALED, None)
    (public,) = Client(url).get("/api/entries", list[EntryReport])
    assert (public.team, public.verdict, public.shot, public.visibility) == ("Green", SEALED, None, None)
    assert take() == LeaseReply()


def test_the_limits_are_known_before_the_upload(url, blue, bundle):
    for number in (1, 2):
        blue.upload(bundle, phase="test")
        blue.post("/api/entries", request_entry(number=number), NewEntry)
    phase = next(one for one in blue.get("/api/challenge", ChallengeReport).phases if one.name == "test")
    assert (phase.today.left, phase.total.left, phase.resets) == (0, 1, "2026-09-22T00:00:00+00:00")
    bundle.write_bytes(b"other")
    with pytest.raises(Refusal, match="No shots are left today in phase test") as caught:
        blue.upload(bundle, phase="test")
    assert caught.value.status == 429
    assert next(one for one in Client(url).get("/api/challenge", ChallengeReport).phases).today is None


def test_a_repeated_request_makes_no_second_entry(blue, bundle):
    blue.upload(bundle, phase="test")
    first, second = (blue.post("/api/entries", request_entry(), NewEntry) for _ in range(2))
    assert first == second
    assert len(blue.get("/api/entries", list[EntryReport])) == 1
    with pytest.raises(Refusal, match="another entry"):
        blue.post("/api/entries", request_entry(phase="dev"), NewEntry)


def test_an_upload_that_breaks_off_continues(url, tokens, blue, bundle):
    headers = {"Authorization": f"Bearer {tokens['Blue']}", "Upload-Length": str(len(BUNDLE))}
    reply, content = ask(url, "PUT", f"/api/blobs/{DIGEST}?phase=dev", BUNDLE[:500], headers | {"Upload-Offset": "0"})
    assert (reply.status, json.loads(content)) == (200, {"received": 500, "complete": False})
    assert blue.upload(bundle, phase="dev") == DIGEST
    reply, content = ask(url, "PUT", f"/api/blobs/{DIGEST}?phase=dev", BUNDLE[:500], headers | {"Upload-Offset": "0"})
    assert json.loads(content) == {"received": len(BUNDLE), "complete": True}


@pytest.mark.parametrize(
    ("path", "body", "headers", "status", "words"),
    [
        (f"/api/blobs/{DIGEST}?phase=dev", b"x", {"Upload-Length": "1"}, 400, "Upload-Offset must be a number"),
        (f"/api/blobs/{DIGEST}?phase=dev", b"x", {"Upload-Offset": "-1", "Upload-Length": "1"}, 400, "Upload-Offset"),
        (f"/api/blobs/{DIGEST}?phase=dev", b"x", {"Upload-Offset": "5", "Upload-Length": "1"}, 413, "beyond"),
        (f"/api/blobs/{DIGEST}?phase=dev", b"x", {"Upload-Offset": "5", "Upload-Length": "9"}, 409, "stands at byte 0"),
        (f"/api/blobs/{DIGEST}?phase=dev", b"xyz", {"Upload-Offset": "0", "Upload-Length": "2"}, 413, "more than 2"),
        (f"/api/blobs/{DIGEST}?phase=dev", b"", {"Upload-Offset": "0", "Upload-Length": "99999999999"}, 413, "accepts"),
        (f"/api/blobs/{DIGEST}?phase=no", b"x", {"Upload-Offset": "0", "Upload-Length": "1"}, 404, "no phase 'no'"),
        (f"/api/blobs/{DIGEST}", b"x", {"Upload-Offset": "0", "Upload-Length": "1"}, 404, "no phase ''"),
        ("/api/blobs/..%2F..%2Fetc%2Fpasswd", b"x", {"Upload-Offset": "0", "Upload-Length": "1"}, 404, ""),
        ("/api/blobs/AB", b"x", {"Upload-Offset": "0", "Upload-Length": "1"}, 400, "64 hexadecimal digits"),
        (f"/api/blobs/{DIGEST}?phase=dev", b"x", {"Upload-Offset": "0", "Upload-Length": "1"}, 409, "have the SHA-256"),
    ],
)
def test_wrong_uploads_are_refused(url, tokens, tmp_path, path, body, headers, status, words):
    reply, content = ask(url, "PUT", path, body, headers | {"Authorization": f"Bearer {tokens['Blue']}"})
    assert reply.status == status
    assert words in json.loads(content)["error"]
    assert not list((tmp_path / "blobs").rglob("*"))


WORDS = {"phase": "dev", "bundle": "0" * 64, "method": "Reader", "request": "request-1"}


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "not the JSON"),
        (b"[" * 50_000, 400, "not the JSON"),
        (b"\xff\xfe", 400, "not the JSON"),
        (b"x" * 70_000, 413, "more than 65536 bytes"),
        (WORDS | {"phase": 3}, 400, "Expected `str`"),
        (WORDS | {"team": 7}, 400, "unknown field"),
        (WORDS | {"bundle": "../../etc"}, 400, "SHA-256"),
        (WORDS, 404, "not uploaded"),
        (WORDS | {"method": " "}, 400, "method"),
        (WORDS | {"request": "1"}, 400, "request must"),
        (WORDS | {"visibility": "all"}, 400, "visibility"),
        (WORDS | {"visibility": "withdrawn"}, 400, "visibility"),
        (WORDS | {"phase": "x' OR '1'='1"}, 404, "no phase"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_entries_are_refused(url, tokens, body, status, words):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    reply, content = ask(url, "POST", "/api/entries", content, {"Authorization": f"Bearer {tokens['Blue']}"})
    assert reply.status == status
    assert words in json.loads(content)["error"]


def test_a_nul_character_is_a_fault_of_the_request(url, tokens):
    """PostgreSQL has no such character in a text."""
    blue, worker = ({"Authorization": f"Bearer {tokens[kind]}"} for kind in ("Blue", "worker"))
    body = json.dumps(WORDS | {"phase": "a\0"}).encode()
    assert ask(url, "POST", "/api/entries", body, blue)[0].status in (400, 404)
    assert ask(url, "GET", "/api/entries/%00", headers=blue)[0].status in (400, 404)
    assert ask(url, "GET", "/api/entries?phase=%00", headers=blue)[0].status in (200, 400)
    body = json.dumps({"worker": "\0", "phases": {"\0": "\0"}}).encode()
    assert ask(url, "POST", "/api/worker/lease", body, worker)[0].status in (200, 400)
    assert ask(url, "GET", "/api/entries", headers={"Authorization": "Bearer \x80"})[0].status == 401


def test_each_token_opens_its_own_doors_only(url, tokens):
    wants = {
        ("POST", "/api/teams"): {"invite"},
        ("GET", f"/api/blobs/{DIGEST}"): {"Blue", "worker"},
        ("PUT", f"/api/blobs/{DIGEST}"): {"Blue", "worker"},
        ("POST", "/api/entries"): {"Blue"},
        ("POST", "/api/entries/x"): {"Blue"},
        ("POST", "/api/worker/lease"): {"worker"},
        ("POST", "/api/worker/renew"): {"worker"},
        ("POST", "/api/worker/finish"): {"worker"},
        ("POST", "/api/worker/end"): {"worker"},
        ("GET", f"/api/worker/blobs/{DIGEST}"): {"worker"},
    }
    for (method, path), allowed in wants.items():
        body = None if method == "GET" else b"{}"
        for kind in ("Blue", "worker", "invite"):
            reply, _ = ask(url, method, path, body, {"Authorization": f"Bearer {tokens[kind]}"})
            assert (reply.status != 403) == (kind in allowed), (method, path, kind)
            assert reply.status < 500
        reply, _ = ask(url, method, path, body)
        assert (reply.status, reply.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_guessing_tokens_ends_after_ten_tries_of_a_minute(url, tokens, minutes):
    right = {"Authorization": f"Bearer {tokens['Blue']}"}
    for _ in range(MAX_GUESSES):
        assert ask(url, "GET", "/api/entries", headers={"Authorization": "Bearer itn_wrong"})[0].status == 401
    assert ask(url, "GET", "/api/entries", headers=right)[0].status == 429
    minutes.now += 61
    assert ask(url, "GET", "/api/entries", headers=right)[0].status == 200


def test_a_revoked_token_ends_at_once(store, clock, blue, tokens):
    assert blue.get("/api/entries", list[EntryReport]) == []
    with store.write() as db:
        revoke_token(db, tokens["Blue"][:12], time=clock())
    with pytest.raises(Refusal, match="revoked"):
        blue.get("/api/entries", list[EntryReport])


def test_an_entry_is_visible_to_its_team_until_it_publishes_it(url, tokens, blue, bundle):
    blue.upload(bundle, phase="dev")
    name = blue.post("/api/entries", request_entry(phase="dev", visibility="team"), NewEntry).entry
    others = (Client(url), Client(url, tokens["Red"]))

    def seen():
        return [look(other) for other in others]

    def look(other):
        try:
            return other.get(f"/api/entries/{name}", EntryReport).team
        except Refusal as error:
            return error.status

    assert seen() == [404, 404]
    for visibility, expected in {"anonymous": [None, None], "public": ["Blue"] * 2, "host": [404] * 2}.items():
        report = blue.post(f"/api/entries/{name}", EntryChange(visibility), EntryReport)
        assert (report.visibility, seen()) == (visibility, expected)
    with pytest.raises(Refusal, match="Your team has no entry"):
        Client(url, tokens["Red"]).post(f"/api/entries/{name}", EntryChange("public"), EntryReport)


def test_a_worker_reports_faults_and_trouble(blue, worker, take, bundle):
    blue.upload(bundle, phase="dev")
    names = [blue.post("/api/entries", request_entry("dev", n), NewEntry).entry for n in (1, 2)]
    first = take()
    assert worker.post(
        "/api/worker/end", EndMessage(first.judgement, 1, "refused", "line 3: wrong."), WriteReply
    ).accepted
    report = blue.get(f"/api/entries/{names[0]}", EntryReport)
    assert (report.state, report.reason, report.shot) == ("refused", "line 3: wrong.", "returned")
    second = take()
    assert worker.post("/api/worker/end", EndMessage(second.judgement, 1, "released", "disk full"), WriteReply).accepted
    assert blue.get(f"/api/entries/{names[1]}", EntryReport).state == "queued"


def test_a_verdict_with_a_number_that_is_none_is_refused(url, tokens, take, blue, bundle):
    blue.upload(bundle, phase="dev")
    blue.post("/api/entries", request_entry("dev"), NewEntry)
    job = take()
    text = json.dumps({"judgement": job.judgement, "attempt": 1, "verdict": {"scores": {"SR": [float("nan"), 0, 1]}}})
    reply, _ = ask(url, "POST", "/api/worker/finish", text.encode(), {"Authorization": f"Bearer {tokens['worker']}"})
    assert reply.status == 400


def test_replies_have_security_headers_and_other_paths_do_not_exist(url):
    reply, content = ask(url, "GET", "/api/nothing")
    assert (reply.status, json.loads(content)) == (404, {"error": "Not Found: GET /api/nothing"})
    assert reply.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert ask(url, "DELETE", "/api/entries")[0].status == 405


def test_health_and_metrics(url, blue, bundle):
    blue.upload(bundle, phase="dev")
    blue.post("/api/entries", request_entry("dev"), NewEntry)
    assert json.loads(ask(url, "GET", "/healthz")[1]) == {"status": "ok"}
    text = ask(url, "GET", "/metrics")[1].decode()
    assert 'itinera_judgements{state="queued"} 1\n' in text
    assert 'itinera_requests_total{status="201"} 2\n' in text


def test_a_full_disk_and_a_silent_database_are_temporary(url, store, blue, bundle, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(BlobFolder, "complete", full)
    with pytest.raises(Refusal, match="disk of the server is full") as caught:
        blue.upload(bundle, phase="dev")
    assert caught.value.status == 507
    monkeypatch.undo()
    assert blue.upload(bundle, phase="dev") == DIGEST

    def silent(*arguments, **options):
        raise OperationalError("SELECT", {}, Exception("database is locked"))

    monkeypatch.setattr(Service, "describe_queue", silent)
    reply, content = ask(url, "GET", "/healthz")
    assert (reply.status, reply.headers["Retry-After"]) == (503, "5")
    assert "locked" not in content.decode()


def test_wrong_tokens_of_very_many_addresses_take_little_memory(minutes, monkeypatch):
    monkeypatch.setattr(requests, "_MAX_ADDRESSES", 3)
    limiter = GuessLimiter(minutes)
    for _ in range(MAX_GUESSES):
        limiter.count("first")
    with pytest.raises(TooMany):
        limiter.check("first")
    for number in range(3):
        limiter.count(f"other {number}")
    limiter.check("first")  # forgotten
    limiter.check("other 2")


def test_a_silent_upload_is_ended_and_keeps_what_has_arrived(url, tokens, blue, monkeypatch):
    monkeypatch.setattr(requests, "SILENCE_SECONDS", 0.2)
    parts = urlsplit(url)
    head = (
        f"PUT /api/blobs/{DIGEST}?phase=dev HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {tokens['Blue']}\r\n"
        f"Upload-Offset: 0\r\nUpload-Length: {len(BUNDLE)}\r\nContent-Length: {len(BUNDLE)}\r\n\r\n"
    )
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
        connection.sendall(head.encode() + BUNDLE[:100])
        assert b"408" in connection.recv(1000)
    _, content = ask(url, "GET", f"/api/blobs/{DIGEST}", headers={"Authorization": f"Bearer {tokens['Blue']}"})
    assert json.loads(content)["received"] == 100
