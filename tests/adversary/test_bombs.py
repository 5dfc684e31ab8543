"""Files that ask for far more memory than they have bytes: bounded memory, or one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from adversary import bombs

EXPECTED = {
    "a large map": "read",
    "a large map as a floor plan": "read",
    "an image of 3.6 gigapixels": "has more than 67,108,864 pixels",
    "text for 16 pixels": "read",
    "a large model": "is missing",
    "a model of many layers": "config.num_text_layers: is 8192.\n  Sizes must be from 0 to 64.",
    "a model of size 0": "config.num_heads: is 0.\n  Sizes must be from 1 to 8192.",
    "a nested card": "header: has no model card of Itinera",
    "nested notes": "has a line of more than 32 MiB",
    "a nested document": "contains so many values that they would take more than 4 GiB of memory",
    "a gzip bomb": "holds more than 16 MiB once unpacked",
    "an xz bomb": "holds more than 16 MiB once unpacked",
    "an xz dictionary": "the compressed data is cut short or damaged (Memory usage limit exceeded)",
    "a zip bomb": "holds more than 31 MiB once unpacked",
    "a tar bomb": "holds more than",
    "a scene of a trillion vertices": "asks for 1,000,000,000,000 values; at most 33,554,432 are allowed",
    "a scene of a billion vertices": "asks for 1,000,000,000 values; at most 33,554,432 are allowed",
    "a season of 5,000 digits": "season.json: config.seed: Integer value out of range",
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("bombs")
    command = [sys.executable, str(Path(bombs.__file__)), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(line) for line in done.stdout.splitlines())


@pytest.mark.parametrize("name", bombs.BOMBS)
def test_a_bomb_takes_little_memory_or_is_refused(outcomes: dict[str, str], name: str) -> None:
    outcome, expected = outcomes[name], EXPECTED[name]
    if expected == "read":
        assert outcome == "read"
    else:
        assert expected in outcome
        assert not outcome.startswith("MemoryError")
