"""Attacking a scorer with forged entries."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from itinera.api.scoring import load_protocol, load_split
from itinera.errors import BadArgument, validate_choice

if TYPE_CHECKING:
    from itinera.attacks.trial import AttackReport

File: TypeAlias = str | PathLike[str]


def attack(
    scorer: str | Callable[[Path], Mapping[str, Any]],
    tasks: File | None = None,
    worlds: File | None = None,
    *,
    format: str | None = None,
    protocol: str | None = None,
    seconds: float = 60.0,
    memory_mb: int = 4096,
    progress: Callable[[int], None] | None = None,
) -> AttackReport:
    """The answers of a scorer to some forty forged entries: which beat an agent that never moves, crash it or hang.

    scorer: a command with {file}, and {tasks}, {worlds} or {out} if it needs them, which prints its scores as JSON or
        writes them to {out}; or a function from the path of an entry to scores by name.
    tasks: the tasks with their goals, and their worlds, which the scorer scores by; default: a house of Hearth.
    format: of the entries: "r2r", "vlnce" or "native" (predictions with actions, as `judge` takes them); default: by
        the tasks.
    seconds, memory_mb: limits of a command for each entry.
    progress: called with 1 after each entry.

    >>> import itinera
    >>> judge = lambda file: itinera.judge(file, "challenge.toml").to_dict()["scores"]["metrics"]
    >>> print(itinera.attack(judge, "tasks.json", "worlds", format="native"))  # doctest: +SKIP
    """
    from itinera.attacks.entry_formats import ENTRY_FORMATS
    from itinera.attacks.scorer import CommandScorer, FunctionScorer
    from itinera.attacks.trial import run_attack

    if tasks is None and worlds is not None:
        raise BadArgument("Worlds without tasks cannot be attacked: give tasks (--tasks) too, or neither.")
    if format is not None:
        validate_choice("format", format, ENTRY_FORMATS)
    if seconds <= 0 or memory_mb <= 0:
        raise BadArgument(f"Limits must be > 0 (got {seconds:g} s and {memory_mb} MB).")
    with tempfile.TemporaryDirectory() as folder:
        if tasks is None:
            tasks, worlds = _build_house(Path(folder))
        places = None if worlds is None else Path(worlds)
        if isinstance(scorer, str):
            limited = CommandScorer(scorer, Path(tasks), places, seconds, memory_mb)
            return run_attack(limited, _make_honest(tasks, worlds, format, protocol), progress=progress)
        return run_attack(FunctionScorer(scorer), _make_honest(tasks, worlds, format, protocol), progress=progress)


def _build_house(folder: Path) -> tuple[Path, Path]:
    from itinera.api.building import build_hearth

    build_hearth(folder / "hearth", houses=3, splits=("val_unseen",), workers=0)
    return folder / "hearth" / "r2r" / "R2R_val_unseen.json", folder / "hearth"


def _make_honest(tasks: File, worlds: File | None, format: str | None, protocol: str | None) -> Any:
    """The entries of the still agent and of the expert."""
    from itinera.api.running import run
    from itinera.attacks.entry_formats import ENTRY_FORMATS
    from itinera.attacks.forgeries import Honest

    split = load_split(tasks)
    split.require_goals("The forgeries jump to the goals: give the tasks that have them.")
    if worlds is None:
        raise BadArgument("The expert needs worlds: give their folder as worlds (--worlds).")
    on_ground = load_protocol(protocol, split).on_ground
    chosen = ENTRY_FORMATS[format or ("vlnce" if on_ground else "r2r")]
    still, expert = (
        chosen.load(run(agent, split, worlds, workers=0, protocol=protocol)) for agent in ("still", "expert")
    )
    return Honest(still, expert)
