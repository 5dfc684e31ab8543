"""Live phases over a real connection: turns, repetitions, limits, and what a team may not do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import select

import itinera as it
import tiny
from itinera.api.live import make_live_host, run_live
from itinera.api.serving import work
from itinera.errors import BadArgument, BadFile
from itinera.formats.hosted_challenge import read_hosted_challenge
from itinera.formats.live_log import read_live_log, session_seed
from itinera.formats.live_turns import TurnLine, decode_replies, encode_turns
from itinera.server.client import Client, Refusal
from itinera.server.folder import ServerFolder
from itinera.server.live_messages import OpenRequest, SessionReport
from itinera.server.messages import EntryReport, EntryRequest, NewEntry
from itinera.server.service import Service
from itinera.server.tables import entry, shot
from itinera.server.teams import create_team, make_token
from live_server import live_server
from scripted_agents import Still, Wanderer

EXAMPLE = Path(__file__).parents[2] / "examples" / "live_client.py"
PHASES = """\
tasks = "R2R_tiny.json"
worlds = "connectivity"
show = "rows"
[phases.test]
kind = "live"
protocol = "r2r"
shots = 2
[phases.quick]
kind = "live"
protocol = "r2r"
step_seconds = 0.2
session_seconds = 3600
[phases.tours]
kind = "live"
protocol = "ivln-test"
tours = "tours.json"
[phases.file]
protocol = "r2r"
"""


class Clock:
    def __init__(self):
        self.ahead = 0

    def __call__(self):
        return time.time_ns() // 1_000_000 + self.ahead


@pytest.fixture
def site(tmp_path):
    """A server with a live worker: its folder, URL, clock, and tokens of two teams."""
    tiny.on_graphs(tmp_path)
    (tmp_path / "challenge.toml").write_text(PHASES)
    clock = Clock()
    folder = ServerFolder(tmp_path, clock=clock)
    with folder.store.write() as db:
        worker_token = make_token(db, "worker", time=clock())
        tokens = [
            make_token(db, "submit", time=clock(), team_id=create_team(db, name, time=clock()))
            for name in ("Blue", "Red")
        ]
    with live_server(Service(folder.store, folder.blobs)) as url:
        worker = work(url, tmp_path, token=worker_token)
        thread = threading.Thread(target=worker.run)
        thread.start()
        yield folder, url, clock, tokens
        worker.stop()
        thread.join()
    folder.close()


class Team:
    """A team that sends turns by itself."""

    def __init__(self, url, token, phase="test", method="Mine"):
        self.client = Client(url, token)
        self.request = OpenRequest(phase, method)
        self.session = self.client.post("/api/live", self.request, SessionReport)

    def turns(self, *lines):
        path = f"/api/live/{self.session.entry}/turns"
        return decode_replies(self.client.exchange(path, encode_turns(list(lines)), "application/x-ndjson"))

    def turn(self, **line):
        return self.turns(TurnLine(**line))[0]

    def refused(self, **line):
        with pytest.raises(Refusal) as refusal:
            self.turn(**line)
        return refusal.value.status

    def wait_for_scores(self):
        until = time.monotonic() + 60
        while (report := self.client.get(f"/api/entries/{self.session.entry}", EntryReport)).state != "scored":
            assert time.monotonic() < until
            time.sleep(0.2)
        return report


@pytest.fixture
def blue(site):
    return Team(site[1], site[3][0])


def test_a_session_is_an_entry_that_is_judged_as_a_local_run_scores(site):
    folder, url, _, tokens = site
    report = run_live(Wanderer, url, phase="test", method="Wanderer", token=tokens[0], workers=3)
    assert (report.state, report.shot, report.verdict.badge, report.verdict.missing) == ("scored", "spent", "live", 0)
    with folder.store.read() as db:
        log = read_live_log(folder.blobs.path(db.execute(select(entry.c.bundle)).scalar_one()))
    split, worlds = it.read_tasks(folder.folder / "R2R_tiny.json"), it.read_worlds(folder.folder / "connectivity")
    local = it.run(Wanderer(), split, worlds, seed=session_seed(log.secret), workers=0)
    scores = it.score(local, split, worlds)
    for metric in ("SR", "NE", "nDTW"):
        assert report.verdict.scores[metric][0] == pytest.approx(scores.mean(metric))


def test_tours_are_guided_and_judged_as_tours(site):
    _, url, _, tokens = site
    report = run_live(Still(), url, phase="tours", method="Still", token=tokens[0])
    assert report.verdict.protocol == "ivln-test"
    assert (report.verdict.episodes, report.verdict.coverage.stopped) == (5, 5)
    assert "t-nDTW" in report.verdict.scores


def test_a_team_has_one_open_session_and_one_shot_for_it(site, blue):
    folder, url, _, tokens = site
    assert Team(url, tokens[0]).session.entry == blue.session.entry
    with pytest.raises(Refusal, match="is open: finish it"):
        Team(url, tokens[0], method="Other")
    assert Team(url, tokens[1]).session.entry != blue.session.entry
    with folder.store.read() as db:
        assert db.execute(select(shot.c.state)).scalars().all() == ["reserved", "reserved"]
    report = blue.client.get(f"/api/entries/{blue.session.entry}", EntryReport)
    assert (report.state, report.verdict) == ("playing", None)


def test_shots_end(site, blue):
    _, url, _, tokens = site
    for _ in range(2):
        blue.client.post(f"/api/live/{Team(url, tokens[0]).session.entry}/close", {}, dict)
    with pytest.raises(Refusal, match="No shots are left"):
        Team(url, tokens[0])


def test_a_turn_may_be_repeated_and_never_changed(blue):
    first = blue.turn(tour=0, turn=0)
    assert blue.turn(tour=0, turn=0) == first
    second = blue.turn(tour=0, turn=1, action=1)
    assert blue.turn(tour=0, turn=1, action=1) == second
    assert blue.refused(tour=0, turn=1, action=0) == 409
    assert blue.refused(tour=0, turn=3, action=0) == 409
    assert blue.refused(tour=0, turn=0) == 409  # not from the beginning again
    assert [json.loads(line)["ask"] for line in first[1].splitlines()] == ["reset", "start_episode", "act"]
    assert [json.loads(line)["ask"] for line in second[1].splitlines()] == ["act"]


def test_earlier_turns_are_shown_again_with_what_was_answered(blue):
    sent = [blue.turn(tour=0, turn=0), blue.turn(tour=0, turn=1, action=1), blue.turn(tour=0, turn=2, action=0)]
    shown = [blue.turn(tour=0, turn=turn, replay=True) for turn in range(3)]
    assert [payload for _, payload in shown] == [payload for _, payload in sent]
    assert [head.action for head, _ in shown] == [1, 0, None]
    assert shown[2][0].done
    assert blue.refused(tour=0, turn=3, replay=True) == 409
    assert blue.refused(tour=1, turn=0, replay=True) == 409


def test_a_tour_that_was_left_is_over(blue):
    blue.turn(tour=0, turn=0)
    assert blue.turn(tour=0, turn=0, end=True)[0].done
    blue.turn(tour=0, turn=0, end=True)  # may be repeated
    assert blue.refused(tour=0, turn=1, action=0) == 409
    session = blue.client.get(f"/api/live/{blue.session.entry}", SessionReport)
    assert (session.turns, session.ended, session.tours) == ({0: 1}, [0], 5)


def test_only_some_tours_are_open_at_a_time(blue, monkeypatch):
    monkeypatch.setattr("itinera.server.live_play.MAX_OPEN", 2)
    blue.turns(TurnLine(0, 0), TurnLine(1, 0))
    assert blue.refused(tour=2, turn=0) == 429
    blue.turns(TurnLine(0, 0, end=True), TurnLine(2, 0))
    assert blue.refused(tour=5, turn=0) == 404


def test_other_teams_and_unknown_sessions_are_not_there(site, blue):
    red = Client(site[1], site[3][1])
    for path in (f"/api/live/{blue.session.entry}", "/api/live/0123456789abcdef"):
        with pytest.raises(Refusal, match="There is no session"):
            red.get(path, SessionReport)
    red = Team(site[1], site[3][1])
    red.session = blue.session
    assert red.refused(tour=0, turn=0) == 404


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b'{"tour": 0}', b'{"tour": 0, "turn": 1}', b'{"tour": -1, "turn": 0}', b"[" * 10_000,
     b'{"tour": 0, "turn": 1, "action": 1, "failed": "no"}', b'{"tour": 0, "turn": 1, "action": 99999999999}',
     b'{"tour": 0, "turn": 0, "goal": 1}', b'{"tour": 0, "turn": 0}\n' * 65],
)  # fmt: skip
def test_a_body_that_is_no_turn_is_refused(blue, body):
    with pytest.raises(Refusal) as refusal:
        blue.client.exchange(f"/api/live/{blue.session.entry}/turns", body, "application/x-ndjson")
    assert refusal.value.status == 400


def test_who_is_too_slow_has_failed_the_episode(site):
    folder, url, _, tokens = site
    team = Team(url, tokens[0], phase="quick")
    team.turn(tour=0, turn=0)
    time.sleep(0.4)
    head, payload = team.turn(tour=0, turn=1, action=1)
    assert head.done
    assert json.loads(payload) == {"ask": "end"}
    assert team.turn(tour=0, turn=1, action=1) == (head, payload)
    with folder.store.read() as db:
        from itinera.server.live_sessions import load_session

        assert load_session(db, team.session.entry).answers == {0: [(-2, "")]}


def test_a_session_ends_at_its_deadline_with_the_rest_failed(site):
    _, url, clock, tokens = site
    team = Team(url, tokens[0], phase="quick")
    team.turn(tour=0, turn=0)
    clock.ahead = 3_601_000
    assert team.refused(tour=0, turn=1, action=0) == 403
    report = team.wait_for_scores()
    assert (report.verdict.missing, report.verdict.coverage.failed) == (4, 1)
    assert report.shot == "spent"


def test_a_session_with_failures_is_logged_with_their_reasons(site, blue):
    blue.turn(tour=0, turn=0)
    assert blue.turn(tour=0, turn=1, failed="lost")[0].done
    blue.client.post(f"/api/live/{blue.session.entry}/close", {}, dict)
    report = blue.wait_for_scores()
    assert (report.verdict.missing, report.verdict.coverage.failed) == (4, 1)
    folder = site[0]
    with folder.store.read() as db:
        log = read_live_log(folder.blobs.path(db.execute(select(entry.c.bundle)).scalar_one()))
    assert [one.reasons for one in log.tours] == [{0: "lost"}]


def test_images_have_a_budget(site, blue, monkeypatch):
    from itinera.runs.live_host import LiveHost, TourState

    play = LiveHost.play
    monkeypatch.setattr(LiveHost, "play", lambda self, *a, **k: TourState(play(self, *a, **k).payload, False, 600_000))
    blue.turn(tour=0, turn=0)
    blue.turn(tour=0, turn=1, action=1)
    assert blue.refused(tour=0, turn=2, action=1) == 403


def test_files_are_for_other_phases(site, blue, tmp_path):
    file = tmp_path / "entry.jsonl"
    file.write_text("{}")
    with pytest.raises(Refusal, match="is live"):
        blue.client.upload(file, phase="test")
    with pytest.raises(Refusal, match="is live"):
        blue.client.post("/api/entries", EntryRequest("test", "0" * 64, "Mine", "request-1"), NewEntry)
    with pytest.raises(Refusal, match="takes files"):
        Team(site[1], site[3][0], phase="file")


def test_a_resumed_agent_acts_as_if_nothing_had_happened(site):
    """The first process dies in the middle of everything; the second has another memory and the same episodes."""
    folder, url, _, tokens = site

    class Mortal(Wanderer):
        left = 4

        def act(self, observation):
            Mortal.left -= 1
            if Mortal.left == 0:
                raise KeyboardInterrupt
            return super().act(observation)

    with pytest.raises(KeyboardInterrupt):
        run_live(Mortal, url, phase="test", method="Wanderer", token=tokens[0], workers=2)
    report = run_live(Wanderer, url, phase="test", method="Wanderer", token=tokens[0], workers=2)
    with folder.store.read() as db:
        log = read_live_log(folder.blobs.path(db.execute(select(entry.c.bundle)).scalar_one()))
    split, worlds = it.read_tasks(folder.folder / "R2R_tiny.json"), it.read_worlds(folder.folder / "connectivity")
    local = it.run(Wanderer(), split, worlds, seed=session_seed(log.secret), workers=0)
    played = make_live_host(read_hosted_challenge(folder.folder)["test"]).rebuild(log, "x")
    assert {t.episode_id: t.places for t in played} == {t.episode_id: t.places for t in local}
    assert report.verdict.missing == 0


def test_the_example_plays_a_session(site):
    _, url, _, tokens = site
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), url, "test", "Example"],
        env=os.environ | {"ITINERA_TOKEN": tokens[0]}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    name = done.stdout.split()[-1]
    report = Client(url, tokens[0]).get(f"/api/entries/{name}", EntryReport)
    assert report.state in ("queued", "running", "scored")
    assert "Instruction: go to" in done.stderr


def test_goals_are_not_shown_by_guidance(tmp_path):
    tiny.on_graphs(tmp_path)
    (tmp_path / "challenge.toml").write_text(PHASES.replace("ivln-test", "ivln").replace("rows", "totals"))
    with pytest.raises(BadArgument, match="guides agents to goals"):
        make_live_host(read_hosted_challenge(tmp_path)["tours"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('kind = "dead"', "phases.test.kind"),
        ("step_seconds = 0", "phases.test.step_seconds"),
        ('kind = "file"\nstep_seconds = 5', "is for live phases"),
        ('missing = "fail"', "would refuse sessions"),
        ('camera = "wide"', "phases.test.camera"),
        ('channels = "instances"', "phases.test.channels"),
    ],
)
def test_faults_of_a_live_phase_are_named(tmp_path, change, message):
    text = '[phases.test]\ntasks = "t.json"\nworlds = "w"\n' + change + "\n"
    (tmp_path / "challenge.toml").write_text(text if "kind" in change else text + 'kind = "live"\n')
    with pytest.raises(BadFile, match=message):
        read_hosted_challenge(tmp_path)
