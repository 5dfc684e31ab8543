"""Evaluation results of the Hugging Face Hub: the YAML of a model's folder `.eval_results`, and its card's table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from itinera.errors import BadArgument, escape_controls
from itinera.records import ScoreTable
from itinera.records.summary import summarize, summary_table
from itinera.records.tables import TextTable, escape_markdown, to_markdown


@dataclass(frozen=True)
class EvalResult:
    """A metric of a model on a task of a benchmark."""

    task_id: str
    value: float  # a fraction, or meters and seconds
    notes: str  # the interval, the unit, and how the number was made


def encode_results(
    results: Sequence[EvalResult], *, dataset: str, day: date, source: tuple[str, str] | None = None
) -> bytes:
    """The results as YAML. dataset: OWNER/NAME of the benchmark on the Hub. source: address and title of a page."""
    owner, _, name = dataset.partition("/")
    if not owner or not name or "/" in name or not dataset.isascii() or not dataset.isprintable():
        raise BadArgument(f"{dataset!r} is no dataset of the Hub; give OWNER/NAME.")
    linked = {} if source is None else {"source": {"url": source[0], "name": source[1]}}
    return to_yaml([
        {"dataset": {"id": dataset, "task_id": one.task_id}, "value": one.value, "date": day.isoformat(),
         **linked, "notes": one.notes}
        for one in results
    ]).encode()  # fmt: skip


def list_results(table: ScoreTable, task: str) -> list[EvalResult]:
    """The metrics of a score table that have a direction and a finite mean, as results of a task."""
    summary = summarize(table)
    made = ", ".join([*_describe(table), *([f"predictions {table.source}"] if table.source else [])])
    found = []
    for column in summary.columns:
        interval = summary.intervals.get(column.name)
        if interval is None or column.better == "neither" or not abs(interval.mean) < float("inf"):
            continue
        unit = f", {column.unit}" if column.unit else ""
        notes = f"95 % interval {interval.low:.4g} to {interval.high:.4g}{unit}; {made}"
        found.append(EvalResult(f"{task}.{column.name}" if task else column.name, interval.mean, notes))
    return found


def render_card(name: str, table: ScoreTable) -> str:
    """A section of a model card: the metrics with their intervals, and how they were made."""
    shown = summary_table(summarize(table))
    rows = tuple(row[:3] for row in shown.rows)
    about = ", ".join(_describe(table))
    caption = "Intervals take scenes as the sample" + (", and runs." if table.runs else ".")
    text = to_markdown(TextTable(shown.headings[:3], rows))
    return f"## Evaluation: {escape_markdown(name)}\n\n{text}\n{escape_markdown(about)}. {caption}\n"


def _describe(table: ScoreTable) -> list[str]:
    scenes = len(set(table.world_ids))
    of = "" if table.part is None else f" of {table.part.total:,}"
    parts = [f"{len(table):,}{of} episodes in {scenes} scenes"]
    parts += [f"mean of {len(table.runs)} runs"] if table.runs else []
    parts += [f"suite {table.suite} ({table.fingerprint})"] if table.suite else []
    parts += [f"protocol {table.protocol.label} ({table.protocol.digest})"] if table.protocol.name else []
    return [*parts, f"itinera {table.provenance.version}"] if table.provenance is not None else parts


def to_yaml(value: Any, *, indent: int = 0) -> str:
    """Plain values as YAML. Texts are always quoted, so none of them is taken for anything else.

    >>> print(to_yaml([{"a": "no", "b": [1, 2.5]}]), end="")
    - a: "no"
      b:
        - 1
        - 2.5
    """
    if not isinstance(value, dict | list):
        raise TypeError(f"{type(value).__name__} is neither a dict nor a list")
    space, lines = " " * indent, ""
    pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    for key, item in pairs:
        if isinstance(item, dict | list) and item:
            inner = to_yaml(item, indent=indent + 2)
            lines += f"{space}- {inner[indent + 2 :]}" if key is None else f"{space}{key}:\n{inner}"
        else:
            lines += f"{space}{'-' if key is None else f'{key}:'} {_scalar(item)}\n"
    return lines


def _scalar(item: Any) -> str:
    if isinstance(item, str):
        return json.dumps(escape_controls(item, one_line=True), ensure_ascii=False)
    return json.dumps(item)
