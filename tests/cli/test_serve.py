"""`itinera serve`, `submit`, `work` and `host`, as their users run them."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import itinera as it
import tiny
from itinera.errors import BadArgument, BadFile
from itinera.formats.board_archive import check_archive
from itinera.server.client import Client
from itinera.server.messages import EntryReport
from live_server import Served


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tiny.Files:
    made = tiny.on_graphs(tmp_path_factory.mktemp("tasks"))
    for name in ("expert", "still"):
        it.run(name, made.tasks, made.worlds, workers=0, out=made.folder / f"{name}.jsonl")
    made.write("broken.jsonl", (made.folder / "still.jsonl").read_text().replace('"1_0"', '"9_9"'))
    return made


@pytest.fixture
def folder(files: tiny.Files, tmp_path: Path) -> Path:
    it.create_challenge(tmp_path / "may", tasks=files.tasks, worlds=files.worlds, protocol="r2r", shots=3)
    return tmp_path / "may"


def read(address: str) -> str:
    with urllib.request.urlopen(address) as reply:
        return reply.read().decode()


@pytest.fixture
def serve() -> Iterator[type[Served]]:
    started = []

    def start(*arguments) -> Served:
        started.append(Served(*arguments))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.end(signal.SIGKILL)


def test_three_entries_from_the_command_line(itinera, files, folder, serve, monkeypatch):
    tokens = {name: itinera("host", "token", folder, "--team", name).out.strip() for name in ("Blue", "Red")}
    server = serve(folder)

    def submit(team, name, *options):
        monkeypatch.setenv("ITINERA_TOKEN", tokens[team])
        words = ("--phase", "test", "--method", name, "--wait", *options)
        return itinera("submit", server.url, files.folder / f"{name}.jsonl", *words)

    done = submit("Blue", "expert", "--json")
    assert done.code == 0, done.err
    verdict = done.json["verdict"]
    assert (done.json["state"], done.json["shot"], verdict["badge"]) == ("scored", "spent", "replayed")
    assert verdict["scores"]["SR"][0] == 1.0
    assert verdict["coverage"] == {"answered": 5, "stopped": 5, "failed": 0}
    still = submit("Red", "still")
    assert ": scored (replayed): " in still.out
    broken = submit("Red", "broken")
    assert broken.code == 1
    assert 'episode "9_9"' in broken.out
    assert "/" not in broken.out.split("refused: ")[1].split("\n")[0]  # no paths of the host

    public = Client(server.url).get("/api/entries", list[EntryReport])
    assert {one.team: one.verdict and one.verdict.scores["SR"][0] for one in public if one.verdict} == {
        "Blue": 1.0,
        "Red": 0.0,
    }
    page = read(f"{server.url}/phases/test")
    assert page.index(">expert<") < page.index(">still<")
    assert "broken" not in page
    board = json.loads(read(f"{server.url}/phases/test/board.json"))
    rules = it.read_challenge(folder, phase="test")
    judged = {name: it.judge(files.folder / f"{name}.jsonl", rules) for name in ("expert", "still")}
    compared = it.compare({name: one.scores for name, one in judged.items()})
    letters = {metric.column.name: metric.letters for metric in compared.metrics}
    assert [one["scores"]["SR"]["letters"] for one in board["entries"]] == list(letters["SR"])
    first = board["entries"][0]["id"]
    for address in ("", "submit", "status", f"entries/{first}", "teams/Blue", "static/board.css"):
        assert read(f"{server.url}/{address}")
    assert server.end() == 0

    exported = itinera("host", "export", folder, "--out", folder.parent / "export")
    archive = folder.parent / "export" / "board.zip"
    assert str(archive) in exported.out
    assert itinera("check", archive).code == 0
    data = bytearray(archive.read_bytes())
    data[len(data) // 2] ^= 1
    archive.write_bytes(data)
    assert itinera("check", archive).code == 1
    listed = itinera("host", "entries", folder, "--json").json
    assert sorted(one["state"] for one in listed) == ["refused", "scored", "scored"]
    with it.host(folder) as host:
        assert host.check_ledger() == []


def test_a_worker_elsewhere_judges_and_stops_when_told(itinera, files, folder, serve, monkeypatch):
    blue = itinera("host", "token", folder, "--team", "Blue").out.strip()
    worker_token = itinera("host", "token", folder, "--worker").out.strip()
    server = serve(folder, "--workers", "0")
    report = it.submit(server.url, files.folder / "still.jsonl", phase="test", token=blue, method="Still")
    assert (report.state, report.place) == ("queued", 1)
    worker = it.work(server.url, folder, token=worker_token)
    assert worker.judge_next()
    assert not worker.judge_next()
    assert Client(server.url, blue).get(f"/api/entries/{report.entry}", EntryReport).state == "scored"
    command = [sys.executable, "-m", "itinera", "work", server.url, "--challenge", str(folder)]
    process = subprocess.Popen(command, env=os.environ | {"ITINERA_TOKEN": worker_token}, stderr=subprocess.PIPE)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(4)
    process.terminate()
    assert process.wait(30) == 0
    assert b"Judged 0 entries." in process.stderr.read()
    process.stderr.close()


def test_a_file_with_faults_is_refused_before_the_upload(files, tmp_path):
    tiny.written(tmp_path / "bad.jsonl", "{}")
    with pytest.raises(BadFile):
        it.submit("http://127.0.0.1:9", tmp_path / "bad.jsonl", phase="test", token="itn_x", method="m")
    with pytest.raises(BadFile, match="9_9"):
        it.submit(
            "http://127.0.0.1:9",
            files.folder / "broken.jsonl",
            phase="test",
            token="itn_x",
            method="m",
            tasks=files.tasks,
            worlds=files.worlds,
        )


def test_the_host_opens_closes_grants_hides_bans_and_reruns(itinera, folder, tmp_path):
    for words in (
        ("open", folder, "test"),
        ("close", folder, "test"),
        ("open", folder, "test", "--by-times"),
        ("token", folder, "--team", "Blue"),
        ("grant", folder, "Blue", "test", "--shots", "2"),
        ("ban", folder, "Blue", "--why", "two accounts"),
        ("ban", folder, "Blue", "--why", ""),
        ("rerun", folder, "--phase", "test"),
        ("export", folder, "--out", tmp_path / "export"),
        ("backup", folder, "--out", tmp_path / "backup"),
        ("restore", tmp_path / "backup", tmp_path / "restored"),
        ("entries", tmp_path / "restored"),
    ):
        done = itinera("host", *words)
        assert done.code == 0, (words, done.err)
    kinds = [event.kind for event in check_archive(tmp_path / "export" / "board.zip").events]
    assert kinds == ["season", "phase", "switch", "switch", "switch", "team", "token", "grant", "ban", "readmit"]


def test_the_host_reveals_the_secret_that_the_challenge_was_committed_to(itinera, folder, tmp_path):
    def reveal(secret):
        (tmp_path / "secret").write_text(secret)
        return itinera("host", "reveal", folder, "--secret", tmp_path / "secret")

    assert "was not committed to a secret" in reveal("ab" * 32).err
    file = folder / "challenge.toml"
    file.write_text(f'commitment = "{hashlib.sha256(bytes.fromhex("ab" * 32)).hexdigest()}"\n{file.read_text()}')
    assert "not the secret to which" in reveal("cd" * 32).err
    assert reveal("ab" * 32).code == 0
    assert "has been revealed already" in reveal("ab" * 32).err
    assert itinera("host", "export", folder, "--out", tmp_path / "export").code == 0
    assert itinera("check", tmp_path / "export" / "board.zip").code == 0
    assert "ab" * 32 in (tmp_path / "export" / "index.html").read_text()


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("grant", "Nobody", "test"), 1, "There is no team 'Nobody'."),
        (("open", "train"), 1, "There is no phase 'train'. The phases are test."),
        (("rerun", "123"), 1, "There is no entry '123'."),
        (("rerun",), 2, "Name an entry, or a phase"),
        (("token",), 2, "Give one of --team"),
        (("hide", "123", "--why", "x"), 1, "There is no entry"),
        (("token", "--revoke", "itn_"), 1, "No single token begins with"),
    ],
)
def test_wrong_commands_say_what_is_wrong(itinera, folder, words, code, told):
    done = itinera("host", words[0], folder, *words[1:])
    assert (done.code, told in done.err) == (code, True), done.err


def test_a_folder_without_a_challenge_is_named(itinera, tmp_path):
    assert "itinera host new" in itinera("serve", tmp_path / "none").err
    (tmp_path / "challenge.toml").write_text("[phases.test]\nshot = 3\n")
    assert "is not a key of a phase" in itinera("serve", tmp_path).err


def test_addresses_and_arguments_are_checked(folder):
    with pytest.raises(BadArgument, match="not the address of a server"):
        Client("ftp://host")
    with pytest.raises(BadArgument, match="workers must be between"):
        it.serve(folder, workers=-1)
    with pytest.raises(BadArgument, match="exists already"):
        it.create_challenge(folder, tasks="a", worlds="b")
