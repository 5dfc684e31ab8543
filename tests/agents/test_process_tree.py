"""Processes and their descendants: all are ended, those that left their session too."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from itinera.agents.process_tree import OrphanReaper, adopt_orphans, descendants, kill_tree

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
# Starts a child in a session of its own, prints its id, and either waits or leaves it behind.
PROGRAM = """
import subprocess, sys, time
words = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
child = subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
time.sleep(float(sys.argv[1]))
"""


def start(seconds):
    words = [sys.executable, "-I", "-S", "-c", PROGRAM, str(seconds)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline())


def is_alive(pid):
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_tree_is_ended_whatever_sessions_it_has():
    process, child = start(600)
    assert descendants(process.pid) == {child}
    kill_tree(process.pid)
    process.communicate()
    while is_alive(child):
        time.sleep(0.01)


def test_orphans_are_ended_and_other_children_are_not():
    other = subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE)
    with OrphanReaper():
        process, child = start(0)
        process.communicate()
        later = subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE)
        assert is_alive(child)
    assert not Path(f"/proc/{child}").exists()
    for alive in (other, later):
        assert alive.poll() is None
        alive.communicate(b"\n")


def test_adoption_is_restored():
    before = adopt_orphans(False)
    with OrphanReaper():
        assert adopt_orphans(True)
    assert not adopt_orphans(before)
