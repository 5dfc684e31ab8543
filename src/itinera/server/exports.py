"""A board as files that others read: CSV, LaTeX, Hugging Face evaluation results, and a static copy of all pages.

Start with `write_static_export`, whose `board.zip` anybody can verify by `itinera check` when the server is gone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

from itinera.errors import BadArgument, escape_controls
from itinera.formats.board_archive import make_archive
from itinera.formats.event_log import Event
from itinera.formats.writing import atomic_write
from itinera.records.tables import TextTable, column_heading, format_number, to_csv, to_latex
from itinera.server.board import Board, BoardEntry, BoardScore, encode_board
from itinera.server.html import (
    ChallengeView,
    Site,
    file_name,
    is_web_address,
    render_board,
    render_challenge,
    render_entry,
    render_team,
    slug,
    static_files,
)

ARCHIVE = "board.zip"


def encode_csv(board: Board) -> bytes:
    """The board as CSV: fractions and meters, a column for each end of an interval."""
    metrics = [(column.name, part) for column in board.columns for part in ("", " low", " high", " ties")]
    headings = ("entry", "team", "method", "badge", "submitted", "attempts", "spread",
                "episodes", "answered", "stopped", "failed", *(name + part for name, part in metrics),
                "bundle", "fingerprint")  # fmt: skip
    return to_csv(TextTable(headings, tuple(_csv_row(board, entry) for entry in board.entries))).encode()


def _csv_row(board: Board, entry: BoardEntry) -> tuple[str, ...]:
    scores: list[str] = []
    for column in board.columns:
        score = entry.scores.get(column.name)
        values = ("", "", "") if score is None else tuple(_csv_number(x) for x in (score.mean, score.low, score.high))
        scores += [*values, "" if score is None else score.letters]
    coverage = entry.coverage
    counts = (coverage.episodes, coverage.answered, coverage.stopped, coverage.failed)
    spread = "" if entry.spread is None else f"{entry.spread:.6g}"
    submitted = entry.submitted.astimezone(UTC).isoformat(timespec="seconds")
    return (entry.id, entry.team, entry.method, entry.badge, submitted, str(entry.attempts), spread,
            *map(str, counts), *scores, entry.bundle, entry.fingerprint)  # fmt: skip


def _csv_number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"


def encode_latex(board: Board) -> bytes:
    """The board as a booktabs table: means with intervals and tie groups."""
    columns = [column for column in board.columns if column.better != "neither"]
    headings = ("method", "team", *map(column_heading, columns), "attempts")
    rows = []
    for entry in board.entries:
        cells = [_latex_cell(column, entry.scores.get(column.name)) for column in columns]
        rows.append((entry.method or entry.id, entry.team or "anonymous", *cells, str(entry.attempts)))
    return to_latex(TextTable(headings, tuple(rows))).encode()


def _latex_cell(column: Any, score: BoardScore | None) -> str:
    if score is None:
        return "–"
    mean, low, high = (format_number(column, value) for value in (score.mean, score.low, score.high))
    interval = f" [{low}, {high}]" if score.has_interval else ""
    return f"{mean}{interval} {score.letters}".strip()


def encode_eval_results(board: Board, entry: BoardEntry, *, dataset: str, url: str = "") -> bytes:
    """The scores of an entry for the folder `.eval_results` of a model on the Hugging Face Hub.

    dataset: the id of the benchmark there; its task ids are `PHASE.METRIC`.
    url: of the page of the entry.
    """
    _check_dataset(dataset)
    notes = f"{entry.badge}; {entry.attempts} attempts; tie groups compare intervals over scenes"
    results = []
    for column in board.columns:
        score = entry.scores.get(column.name)
        if score is None or column.better == "neither":
            continue
        result: dict[str, Any] = {
            "dataset": {"id": dataset, "task_id": f"{slug(board.phase)}.{column.name}"},
            "value": score.mean,
            "date": entry.submitted.astimezone(UTC).date().isoformat(),
        }
        if is_web_address(url):
            result["source"] = {"url": url, "name": board.title}
        interval = "no interval: too few episodes"
        if score.has_interval:
            interval = f"95 % interval {score.low:.4g} to {score.high:.4g}"
        result["notes"] = f"{interval}{f', {column.unit}' if column.unit else ''}; {notes}"
        results.append(result)
    return to_yaml(results).encode()


def _check_dataset(dataset: str) -> None:
    owner, _, name = dataset.partition("/")
    if not owner or not name or "/" in name or not dataset.isascii() or not dataset.isprintable():
        raise BadArgument(f"{dataset!r} is no dataset of the Hub; give OWNER/NAME.")


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


def make_static_files(
    title: str,
    boards: Sequence[Board],
    challenge: ChallengeView,
    *,
    dataset: str = "",
    reports: Mapping[str, bytes] | None = None,
) -> dict[str, bytes]:
    """Every page of a challenge with its data, as files that need no server.

    dataset: on the Hugging Face Hub; with it, evaluation results of every entry are written too.
    reports: report pages by the id of their entry.
    """
    phases = tuple(board.phase for board in boards)
    top, below = (Site(title, phases, root, static=True) for root in ("", "../"))
    files = {f"static/{name}": data for name, data in static_files().items()}
    rules = render_challenge(top, challenge).encode()
    files |= {"index.html": rules, file_name("challenge"): rules}
    pages = reports or {}
    for board in boards:
        folder = slug(board.phase)
        files[file_name("board", board.phase)] = render_board(below, board).encode()
        files[f"{folder}/board.json"] = encode_board(board)
        files[f"{folder}/board.csv"] = encode_csv(board)
        files[f"{folder}/board.tex"] = encode_latex(board)
        for entry in board.entries:
            linked = {"report": f"../reports/{slug(entry.id)}.html"} if entry.id in pages else {}
            files[file_name("entry", entry.id)] = render_entry(below, board, entry, reports=linked).encode()
            if entry.id in pages:
                files[f"reports/{slug(entry.id)}.html"] = pages[entry.id]
            if dataset:
                files[f"eval-results/{slug(entry.id)}.yaml"] = encode_eval_results(board, entry, dataset=dataset)
    for team in sorted({entry.team for board in boards for entry in board.entries if entry.team}):
        files[file_name("team", team)] = render_team(below, team, boards).encode()
    return files


def write_static_export(
    folder: str | Path,
    title: str,
    boards: Sequence[Board],
    challenge: ChallengeView,
    events: Sequence[Event],
    *,
    dataset: str = "",
    reports: Mapping[str, bytes] | None = None,
) -> Path:
    """Write the pages and data of a challenge into a folder, with `board.zip`, which also has its log.

    Pages of entries that are no longer shown are removed from an earlier export in the folder.
    """
    folder = Path(folder)
    files = make_static_files(title, boards, challenge, dataset=dataset, reports=reports)
    archive = make_archive(title, files, list(events))
    for name, data in {**files, ARCHIVE: archive}.items():
        with atomic_write(folder / name) as stream:
            stream.write(data)
    for kind in ("entries", "teams", "reports", "eval-results"):
        for path in (folder / kind).glob("*"):
            if f"{kind}/{path.name}" not in files and path.suffix in (".html", ".yaml"):
                path.unlink()
    return folder / ARCHIVE
