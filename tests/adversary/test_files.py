# ruff: noqa: F811 (fixtures of the command line)
"""Hostile files at the command line: one sentence, exit code 1 or 2, and nothing outside the output."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import tiny
from cli.conftest import Command, files, itinera  # noqa: F401

GRAPHS = {"frame": "z-up", "nodes": {"a": [0, 0, 0], "b": [1, 0, 0]}, "edges": [["a", "b"]]}


@pytest.mark.parametrize("world_id", ["../../escaped", "/tmp/escaped", "a\0b", "x" * 300, "a\nb"])
@pytest.mark.parametrize("target", ["folder", "all.zip", "all.tar.gz"])
def test_a_world_cannot_choose_where_it_is_written(
    tmp_path: Path,
    itinera: Command,
    world_id: str,
    target: str,
) -> None:
    source = tmp_path / "graphs.json"
    source.write_text(json.dumps({world_id: GRAPHS}))
    outcome = itinera("convert", source, tmp_path / "a" / "b" / target, "--to", "connectivity")
    assert outcome.code == 2
    assert "cannot be the name of a file" in outcome.err
    assert [file.name for file in tmp_path.rglob("*")] == ["graphs.json"]


@pytest.mark.parametrize("verb", ["check", "score"])
def test_pipes_and_devices_are_refused_and_not_waited_for(
    files: tiny.Files,
    itinera: Command,
    tmp_path: Path,
    verb: str,
) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", Path("/dev/zero")):
        outcome = itinera(verb, path, *files.options)
        assert outcome.code == 1
        assert "is a pipe, socket or device, which may never end" in outcome.err


def test_a_million_faults_are_neither_built_nor_counted(files: tiny.Files, itinera: Command) -> None:
    bad = files.folder / "bad.jsonl"
    bad.write_bytes(b'{"instruction_id": 1, "path": []}\n' + b'{"instruction_id": [], "path": 0}\n' * 1_000_000)
    outcome = itinera("score", bad, *files.options)
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1].endswith("and at least 980 more faults of this file.")
