"""The command as a person runs it: here in this process, which is quick, or in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tiny
from itinera.__main__ import main


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Outcome]


@pytest.fixture
def itinera(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command run in this process, through the same door as the installed one."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["itinera", *map(str, arguments)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 0
        return Outcome(code, *capsys.readouterr())

    return run


@pytest.fixture
def itinera_process() -> Command:
    """The command in a process of its own; `limit` bounds its memory in bytes."""

    def run(*arguments: object, limit: int | None = None) -> Outcome:
        def bounded() -> None:
            import resource

            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))  # type: ignore[arg-type]

        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "itinera", *map(str, arguments)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            preexec_fn=None if limit is None else bounded,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def files(tmp_path: Path) -> tiny.Files:
    """A tiny benchmark on two graphs."""
    return tiny.on_graphs(tmp_path)
