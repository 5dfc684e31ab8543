"""How training goes, told while it does: a line now and then, and TensorBoard's curves where that is installed."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from itinera.training.evaluation import SHARES, Scores

EARLY = ("SR", "SPL", "CLS")  # metrics of early scores


class Log:
    """Tells of a training run, named as its folder; give `heard` to `train`.

    Whatever was told is on its way to the terminal and to the disk before training goes on, so a kill loses nothing.
    Training that is taken up again goes on in the same curves, without the steps that are made twice.
    """

    def __init__(self, folder: Path, *, total: int, every: int = 200, told: IO[str] | None = None) -> None:
        self.folder, self.total, self.every = folder, total, every
        self._told = told
        self._curves: Any = None
        self._losses: list[float] = []  # since the last line
        self._since = time.monotonic()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *left: object) -> None:
        if self._curves is not None:
            self._curves.close()

    def heard(self, step: int, loss: float) -> None:
        """So many steps were made, the last with this loss."""
        self._losses.append(loss)
        if step % self.every and step != self.total:
            return
        pace = len(self._losses) / max(time.monotonic() - self._since, 1e-9)
        mean = sum(self._losses) / len(self._losses)
        left = (self.total - step) / pace / 60
        self._say(f"{step} of {self.total} steps, loss {mean:.3f}, {pace:.1f} steps/s, {left:.0f} min left")
        self._draw(step, {"loss": mean, "steps/s": pace})
        self._losses, self._since = [], time.monotonic()

    def scored(self, step: int, where: str, scores: Scores, metrics: Sequence[str] = EARLY) -> None:
        """Early scores after so many steps; `where` names the lessons."""
        found = {name: scores.interval(name) for name in metrics}
        told = []
        for name, one in found.items():
            scale = 100 if name in SHARES else 1
            told.append(f"{name} {scale * one.mean:.1f} ({scale * one.low:.1f} – {scale * one.high:.1f})")
        self._say(f"{step} of {self.total} steps, {where}: {', '.join(told)}")
        self._draw(step, {f"{where}/{name}": one.mean for name, one in found.items()})
        self._since = time.monotonic()  # the time it took is not that of training

    def _say(self, line: str) -> None:
        stream = sys.stderr if self._told is None else self._told
        stream.write(f"{self.folder.name}: {line}\n")  # at once, as other processes write there too
        stream.flush()

    def _draw(self, step: int, values: dict[str, float]) -> None:
        if self._curves is None:
            self._curves = _curves(self.folder, step)
        for name, value in values.items():
            self._curves.add_scalar(name, value, step)
        self._curves.flush()


class _NoCurves:
    """Stands where TensorBoard is not installed."""

    def add_scalar(self, name: str, value: float, step: int) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


def _curves(folder: Path, first: int) -> Any:
    try:
        from torch.utils.tensorboard.writer import SummaryWriter
    except ImportError:
        return _NoCurves()
    return SummaryWriter(str(folder), purge_step=first)
