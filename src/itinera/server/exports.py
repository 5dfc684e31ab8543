"""A board as files that others read: CSV, LaTeX, Hugging Face evaluation results, and a static copy of all pages.

Start with `write_static_export`, whose `board.zip` anybody can verify by `itinera check` when the server is gone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

from itinera.formats.board_archive import make_archive
from itinera.formats.event_log import Event
from itinera.formats.hub import EvalResult, encode_results
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
    notes = f"{entry.badge}; {entry.attempts} attempts; tie groups compare intervals over scenes"
    results: list[EvalResult] = []
    for column in board.columns:
        score = entry.scores.get(column.name)
        if score is None or column.better == "neither":
            continue
        interval = "no interval: too few episodes"
        if score.has_interval:
            interval = f"95 % interval {score.low:.4g} to {score.high:.4g}"
        results.append(
            EvalResult(
                f"{slug(board.phase)}.{column.name}",
                score.mean,
                f"{interval}{f', {column.unit}' if column.unit else ''}; {notes}",
            )
        )
    day = entry.submitted.astimezone(UTC).date()
    source = (url, board.title) if is_web_address(url) else None
    return encode_results(results, dataset=dataset, day=day, source=source)


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
