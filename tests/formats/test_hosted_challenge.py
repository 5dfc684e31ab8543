"""The challenge folder of a server: its phases, and every fault of its file at once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from itinera.errors import BadFile
from itinera.formats.hosted_challenge import read_hosted_challenge

GOOD = """\
name = "Spring"
commitment = "8d0fd0db12f1ae031a73878731316bb306d0ba0e71a1cd365be3cf56e8fc557c"
worlds = "season"
protocol = "r2r"

[phases.dev]
tasks = "dev.json"
show = "rows"

[phases.test]
tasks = "answers/test.json"
protocol = "rxr"
opens = 2026-05-01T00:00:00Z
closes = 2026-06-01T02:00:00+02:00
shots_per_day = 2
shots = 10
reveal = "closed"
max_bytes = 1000
"""


@pytest.fixture
def read(tmp_path):
    def write_and_read(text, **options):
        (tmp_path / "challenge.toml").write_text(text)
        return read_hosted_challenge(tmp_path, **options)

    return write_and_read


def faults(read, text, **options):
    with pytest.raises(BadFile) as caught:
        read(text, **options)
    return [(fault.field, fault.problem) for fault in caught.value.faults]


def test_phases_have_the_shared_keys_and_their_own(read, tmp_path):
    challenge = read(GOOD)
    dev, test = challenge.phases
    assert (challenge.name, dev.name, test.name) == ("Spring", "dev", "test")
    assert (dev.rules.protocol, test.rules.protocol) == ("r2r", "rxr")
    assert test.rules.worlds == tmp_path / "season"
    assert test.rules.tasks == tmp_path / "answers/test.json"
    assert (dev.opens, dev.closes, dev.shots, dev.show, dev.reveal) == (None, None, None, "rows", "always")
    assert test.opens == datetime(2026, 5, 1, tzinfo=UTC)
    assert test.closes == datetime(2026, 6, 1, tzinfo=UTC)
    assert (test.shots_per_day, test.shots, test.show, test.reveal, test.max_bytes) == (2, 10, "totals", "closed", 1000)
    assert challenge["test"] is test


def test_the_digest_of_the_rules_is_the_same_in_another_folder_and_another_with_other_rules(read, tmp_path):
    test = read(GOOD)["test"]
    assert "answers" not in str(test.settings)  # a server does not tell where the answers are
    other = tmp_path / "worker"
    other.mkdir()
    (other / "challenge.toml").write_text(GOOD)
    assert read_hosted_challenge(other)["test"].digest == test.digest
    assert read(GOOD.replace('"rxr"', '"r2r"'))["test"].digest != test.digest
    assert read(GOOD.replace("shots = 10", "shots = 11"))["test"].digest == test.digest


def test_all_faults_are_reported_together(read):
    text = """\
name = 3
tasks = "tasks.json"
[phases.dev]
shot = 3
shots_per_day = 0
opens = 2026-05-01T00:00:00
[phases."Test 1"]
[phases.last]
show = "everything"
"""
    found = faults(read, text)
    assert [field for field, _ in found] == [
        "name",
        "phases.dev.shot",
        "phases.dev.shots_per_day",
        "phases.dev.opens",
        "phases.Test 1",
        "phases.last.show",
    ]


def test_faults_between_keys_are_found(read):
    assert faults(read, "[phases.dev]\ntasks = 'a'\n")[0][1].startswith("Object missing required field `worlds`")
    late = "tasks='a'\nworlds='b'\n[phases.dev]\nopens=2026-05-02T00:00:00Z\ncloses=2026-05-01T00:00:00Z\n"
    assert faults(read, late) == [("phases.dev.closes", "closes before it opens.")]


@pytest.mark.parametrize("text", ["name = 'x'\n", "phases = 3\n", "phases = []\n", "[phases]\n"])
def test_a_challenge_has_phases(read, text):
    assert faults(read, text) == [("phases", "must have 1 to 50 phases.")]


def test_only_workers_need_the_files(read, tmp_path):
    text = "worlds = 'season'\n[phases.dev]\ntasks = 'dev.json'\n[phases.test]\ntasks='test.json'\n"
    read(text)
    (tmp_path / "season").mkdir()
    (tmp_path / "dev.json").write_text("[]")
    assert [field for field, _ in faults(read, text, need_files=True)] == ["phases.test.tasks"]
    (tmp_path / "test.json").write_text("[]")
    assert len(read(text, need_files=True).phases) == 2
