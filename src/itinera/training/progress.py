"""Progress of training: messages, and TensorBoard curves if it is installed."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from itinera.errors import escape_controls

METRICS = ("SR", "SPL", "CLS")  # logged by default
_log = logging.getLogger("itinera")
_loss_log = logging.getLogger("itinera.training.loss")  # a program that shows the loss itself may silence it


class Scores(Protocol):
    """The scores of an evaluation, such as `EvaluationScores`."""

    def mean(self, metric: str) -> float: ...

    def format(self, metric: str) -> str: ...


@dataclass(frozen=True)
class TrainingProgress:
    """The state of a training run after a step."""

    step: int  # steps made
    total: int
    loss: float  # of this step
    scores: Scores | None = None  # of the last evaluation
    monitor: str = ""  # the metric that decides which weights are best


OnProgress = Callable[[TrainingProgress], None]


class TrainingLog:
    """Logs a training run under a name; pass `on_step` to `train_model`.

    With a `folder` it also writes TensorBoard curves there, and flushes them at every message, so that a killed run
    loses nothing. A resumed run continues the same curves; steps made twice are purged.
    """

    def __init__(self, name: str, *, total: int, every: int = 200, folder: Path | None = None) -> None:
        self.name, self.total, self.every, self.folder = name, total, every, folder
        self._writer: Any = None
        self._losses: list[float] = []  # since the last message
        self._since = time.monotonic()
        self._last = 0  # step of the last message about values

    def __enter__(self) -> TrainingLog:
        return self

    def __exit__(self, *error: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def on_step(self, step: int, loss: float) -> None:
        """Record the loss of a step; logs a message every `every` steps and at the end."""
        self._losses.append(loss)
        if step % self.every and step != self.total:
            return
        pace = len(self._losses) / max(time.monotonic() - self._since, 1e-9)
        mean = sum(self._losses) / len(self._losses)
        left = (self.total - step) / pace / 60
        message = "%s: %d of %d steps, loss %.3f, %.1f steps/s, %.0f min left"
        _loss_log.info(message, self.name, step, self.total, mean, pace, left)
        self._draw(step, {"loss": mean, "steps/s": pace})
        self._losses, self._since = [], time.monotonic()

    def log_values(self, step: int, values: Mapping[str, float]) -> bool:
        """Log and draw values such as success rates, but only every `every` steps and at the end: whether it did."""
        if step - self._last < self.every and step < self.total:
            return False
        pace = (step - self._last) / max(time.monotonic() - self._since, 1e-9)
        texts = ", ".join(f"{name} {value:.3g}" for name, value in values.items())
        _log.info("%s: %d of %d steps, %s, %.0f steps/s", self.name, step, self.total, texts, pace)
        self._draw(step, {**values, "steps/s": pace})
        self._last, self._since = step, time.monotonic()
        return True

    def log_scores(self, step: int, split: str, scores: Scores, metrics: Sequence[str] = METRICS) -> None:
        """Log scores after a step with their confidence intervals; `split` names the dataset."""
        texts = ", ".join(f"{name} {scores.format(name)}" for name in metrics)
        _log.info("%s: %d of %d steps, %s: %s", self.name, step, self.total, split, texts)
        self._draw(step, {f"{split}/{name}": scores.mean(name) for name in metrics})
        self._since = time.monotonic()  # evaluation does not count in steps/s

    def _draw(self, step: int, values: dict[str, float]) -> None:
        if self._writer is None:
            self._writer = _NoCurves() if self.folder is None else _open_curves(self.folder, step)
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()


class _StderrHandler(logging.Handler):
    """Prints messages to what is stderr at that time; a notebook replaces it."""

    def emit(self, record: logging.LogRecord) -> None:
        print(escape_controls(record.getMessage()), file=sys.stderr, flush=True)


@contextmanager
def print_messages() -> Iterator[None]:
    """Print the messages of the `itinera` logger to stderr, unless the program shows them already."""
    if _log.isEnabledFor(logging.INFO) and _log.hasHandlers():
        yield
        return
    level, handler = _log.level, _StderrHandler()
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    try:
        yield
    finally:
        _log.setLevel(level)
        _log.removeHandler(handler)


def log_to_stderr() -> None:
    """Print the messages of the `itinera` logger to stderr, a line each: for scripts and their worker processes."""
    if not _log.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(message)s"))
        _log.addHandler(handler)
    _log.setLevel(logging.INFO)


class _NoCurves:
    """Takes the place of TensorBoard's writer where there is none."""

    def add_scalar(self, name: str, value: float, step: int) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


def _open_curves(folder: Path, first: int) -> Any:
    try:
        from torch.utils.tensorboard.writer import SummaryWriter
    except ImportError:
        _log.warning('TensorBoard is not installed, so %s gets no curves: pip install "itinera[neural]"', folder)
        return _NoCurves()
    return SummaryWriter(str(folder), purge_step=first)
