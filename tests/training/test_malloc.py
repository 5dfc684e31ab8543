from __future__ import annotations

import ctypes
import subprocess
import sys

from itinera.training.malloc import tune_malloc


def test_memory_is_kept_where_that_is_known_how():
    """In a process of its own, as it lasts."""
    program = "from itinera.training.malloc import tune_malloc; print(tune_malloc())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    has = sys.platform.startswith("linux") and hasattr(ctypes.CDLL(None), "mallopt")
    assert done.stdout.strip() == str(has)


def test_elsewhere_nothing_changes(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not tune_malloc()


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert not tune_malloc()
