"""The whole story of a sealed IR2R-like challenge: a secret season, tours, three teams, a board, its verified copy."""

from __future__ import annotations

import hashlib
import math
import urllib.request
from pathlib import Path

import msgspec
import pytest

import itinera as it
from itinera.errors import BadFile
from itinera.formats.board_archive import check_archive
from itinera.server.board import Board, find_step
from live_server import Served

AGENTS = {"Blue": "reader", "Green": "uniform", "Red": "still"}
CHALLENGE = """\
name = "May"
commitment = "{commitment}"
worlds = "season"
tasks = "season-answers/r2r/R2R_test.json"
tours = "tours.json"
protocol = "ivln-test"

[phases.sealed]
shots = 2

[phases.open]
show = "rows"
"""


def read_secret(folder: Path) -> bytes:
    return bytes.fromhex((folder / "season-answers/secret.txt").read_text().strip())


@pytest.fixture(scope="module")
def host_folder(tmp_path_factory) -> Path:
    """A sealed season of two test houses with tours from start to start, and its challenge file."""
    folder = tmp_path_factory.mktemp("host")
    it.build_hearth(folder / "season", houses=10, splits=("test",), sealed=True, workers=1)
    commitment = hashlib.sha256(read_secret(folder)).hexdigest()
    tasks = folder / "season/r2r/R2R_test.json"
    it.build_tours(tasks, folder / "season", folder / "tours.json", order="start-to-start")
    (folder / "challenge.toml").write_text(CHALLENGE.format(commitment=commitment))
    return folder


@pytest.fixture(scope="module")
def predictions(host_folder, tmp_path_factory) -> dict[str, Path]:
    """The files of the teams, who have only what is published."""
    folder = tmp_path_factory.mktemp("teams")
    season = host_folder / "season"
    tasks, tours = season / "r2r/R2R_test.json", host_folder / "tours.json"
    for agent in AGENTS.values():
        it.run(agent, tasks, season, tours=tours, workers=0, out=folder / f"{agent}.jsonl")
    return {team: folder / f"{agent}.jsonl" for team, agent in AGENTS.items()}


def read_board(url: str, phase: str) -> Board:
    with urllib.request.urlopen(f"{url}/phases/{phase}/board.json") as reply:
        return msgspec.json.decode(reply.read(), type=Board)


def is_rounded(shown, score, unit: str) -> bool:
    """Whether a sealed score is the mean to its step, in an interval that is rounded outwards to it."""
    step = find_step(score, unit)
    mean, low, high = score
    return (
        abs(shown.mean - mean) <= step / 2 + 1e-9
        and low - step - 1e-9 <= shown.low <= low + 1e-9
        and high - 1e-9 <= shown.high <= high + step + 1e-9
    )


@pytest.mark.slow
def test_a_sealed_challenge_from_the_secret_to_the_verified_board(host_folder, predictions, tmp_path):
    with it.host(host_folder) as host:
        tokens = {team: host.make_token("submit", team_name=team) for team in AGENTS}
    server = Served(host_folder)
    try:
        for team, file in predictions.items():
            for phase in ("sealed", "open"):
                words = {"phase": phase, "token": tokens[team], "method": AGENTS[team]}
                report = it.submit(server.url, file, **words, wait=True)
                assert (report.state, report.shot) == ("scored", "spent"), report.reason
                assert report.verdict.badge == "replayed"
        boards = {phase: read_board(server.url, phase) for phase in ("sealed", "open")}
    finally:
        assert server.end() == 0

    rules = it.read_challenge(host_folder, phase="open")
    judged = {AGENTS[team]: it.judge(file, rules).scores for team, file in predictions.items()}
    compared = it.compare(judged)
    metrics = {metric.column.name: metric for metric in compared.metrics}
    assert {"SR", "SPL", "t-nDTW"} <= metrics.keys()
    success = dict(zip(judged, metrics["SR"].means, strict=True))
    order = sorted(AGENTS.values(), key=lambda agent: -success[agent])
    assert [one.method for one in boards["open"].entries] == order
    for phase, board in boards.items():
        assert board.sealed == (phase == "sealed")
        for one in board.entries:
            for name, metric in metrics.items():
                found = judged[one.method].interval(name)
                expected = (found.mean, found.low, found.high)
                shown = one.scores[name]
                if phase == "open" or not math.isfinite(found.low):
                    assert (shown.mean, shown.low, shown.high) == pytest.approx(expected, nan_ok=True), name
                else:
                    assert is_rounded(shown, expected, metric.column.unit), (name, shown, expected)
    letters = dict(zip(judged, metrics["SR"].letters, strict=True))
    assert {one.method: one.scores["SR"].letters for one in boards["open"].entries} == letters

    with it.host(host_folder) as host:
        for phase in boards:
            host.close_phase(phase)
        host.reveal(read_secret(host_folder))
        assert host.check_ledger() == []
        archive = host.export(tmp_path / "export")
    check_archive(archive)
    content = archive.read_bytes()
    for place in range(0, len(content), len(content) // 20):
        changed = bytearray(content)
        changed[place] ^= 1
        archive.write_bytes(changed)
        with pytest.raises(BadFile):
            check_archive(archive)
