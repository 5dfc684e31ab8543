"""Metric rows: what most systems of 2023–2026 save instead of trajectories, one row of metrics per episode.

The shapes that released evaluation scripts write are recognized by content: JSON lines (StreamVLN, InternNav), one
object by episode id (ETPNav, VLN-CE, shards of NaVILA), a file per episode (NaVid, Uni-NaVid, EVT-Bench), JSON lists
and CSV tables. Start with `read_metric_rows`.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats.decoding import UNDECODABLE, MemoryBudget, make_fault
from itinera.formats.io import read_bytes
from itinera.records.metric_rows import METRIC_COLUMNS, MetricRow, MetricRows

KNOWN_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        name: metric
        for metric, names in {
            "SR": "success sr success_rate is_success",
            "OSR": "os oracle_success osr oracle_success_rate",
            "SPL": "spl",
            "SoftSPL": "softspl soft_spl",
            "NE": "ne distance_to_goal navigation_error nav_error",
            "ONE": "oracle_navigation_error oracle_ne one",
            "nDTW": "ndtw",
            "SDTW": "sdtw",
            "CLS": "cls",
            "PL": "path_length tl pl trajectory_length",
            "steps": "steps steps_taken num_steps total_step episode_length",
            "collision rate": "collisions collision collision_rate",
            "TR": "following_rate tracking_rate tr",
            "FR": "fall fall_rate fr",
            "StR": "stuck stuck_rate str",
        }.items()
        for name in names.split()
    }
)
"""Our name of each column that the released scripts write, compared in lower case."""

ID_COLUMNS = ("instr_id", "instruction_id", "episode_id", "ep_id", "episode", "id")
"""The columns that contain the id of the episode; the first that a row has is taken."""

_IN_NAME = re.compile(r"(?:stats|episode|ep|result)[_-](.+)$|^(.+)$")
_TEXT = re.compile(
    r"instruction|scene|scan|question|answer|object|caption|text|prompt|model|path|action|traj", re.IGNORECASE
)
MAX_FILES = 1 << 20
COUNT = "count"  # the number of episodes in the aggregates of a split, as VLN-PE writes them
TRAJECTORIES = frozenset({"trajectory", "positions", "path"})  # what a record without metrics may contain instead


def list_files(sources: Iterable[str | Path]) -> list[Path]:
    """The files that files, folders and glob patterns name, sorted within each; raises BadArgument for none."""
    found: list[Path] = []
    for source in sources:
        path = Path(source)
        if path.is_dir():
            files = sorted(one for one in path.rglob("*") if one.is_file() and not one.name.startswith("."))
            known = (".json", ".jsonl", ".csv", ".gz", ".xz", ".txt")
            files = [one for one in files if one.suffix.lower() in known]
        elif path.exists() or not set(str(source)) & set("*?["):
            files = [path]
        else:
            base = Path(path.anchor) if path.is_absolute() else Path()
            files = sorted(base.glob(str(path.relative_to(base) if path.is_absolute() else path)))
        if not files:
            raise BadArgument(f"{source} has no file with metric rows (.json, .jsonl, .csv, also compressed).")
        found += files
    if len(found) > MAX_FILES:
        raise BadArgument(f"{len(found):,} files are more than {MAX_FILES:,}. Join them into one JSON lines file.")
    return list(dict.fromkeys(found))


def read_metric_rows(
    sources: Sequence[str | Path], *, columns: Mapping[str, str] | None = None, id_column: str | None = None
) -> MetricRows:
    """The rows of all files together, which are one system's.

    columns: our metric for columns of other names, such as {"reached": "SR"}; an empty name ignores the column.
    id_column: the column of the episode's id, if it is none of `ID_COLUMNS`.
    """
    names = {**KNOWN_COLUMNS, **{name.lower(): metric for name, metric in (columns or {}).items()}}
    unknown = sorted({metric for metric in names.values() if metric and metric not in METRIC_COLUMNS})
    if unknown:
        raise BadArgument(f"{unknown[0]!r} is no metric. Columns can be one of {', '.join(METRIC_COLUMNS)}.")
    collector = _Collector(names, id_column)
    for path in list_files(sources):
        try:
            collector.add_file(path, read_bytes(path))
        except BadFile as error:
            collector.unreadable += [Fault(str(path), fault.problem, fault.remedy) for fault in error.faults]
    rows = tuple(collector.rows)
    return MetricRows(
        rows, tuple(collector.unreadable), collector.aggregates, dict(collector.ignored), collector.trajectories
    )


class _Collector:
    """Collects rows file by file."""

    def __init__(self, names: Mapping[str, str], id_column: str | None) -> None:
        self._names, self._id_columns = names, ID_COLUMNS if id_column is None else (id_column,)
        self.rows: list[MetricRow] = []
        self.unreadable: list[Fault] = []
        self.ignored: Counter[str] = Counter()
        self.aggregates = self.trajectories = 0

    def add_file(self, path: Path, content: bytes) -> None:
        MemoryBudget(str(path)).spend(content)
        if ".csv" in path.suffixes:
            self._add_table(path, content)
            return
        try:
            document = _load(content)
        except UNDECODABLE as error:
            lines = content.split(b"\n")
            if sum(1 for line in lines if line.strip()) > 1 and content.lstrip()[:1] == b"{":
                self._add_lines(path, lines)
                return
            raise BadFile(str(path), [make_fault(error, "")]) from None
        self._add_document(path, document)

    def _add_lines(self, path: Path, lines: Sequence[bytes]) -> None:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            where = f"{path}, line {number}"
            try:
                record = _load(line)
            except UNDECODABLE as error:
                fault = make_fault(error, where)
                self.unreadable.append(Fault(where, fault.problem, "The line is cut short or no JSON."))
                continue
            self._add_record(record, where, None)

    def _add_table(self, path: Path, content: bytes) -> None:
        try:
            text = content.decode("utf-8-sig")
            rows = list(csv.DictReader(io.StringIO(text, newline="")))
        except (UnicodeDecodeError, csv.Error) as error:
            raise BadFile(str(path), [Fault("", f"is no CSV table ({error}).", "Save it as UTF-8 CSV.")]) from None
        for number, row in enumerate(rows, start=2):
            cells = {
                name: cell if name in self._id_columns else _read_cell(cell)
                for name, cell in row.items()
                if isinstance(name, str)
            }
            self._add_record(cells, f"{path}, line {number}", None)

    def _add_document(self, path: Path, document: Any) -> None:
        if isinstance(document, list):
            for number, record in enumerate(document):
                self._add_record(record, f"{path}, record {number}", None)
            return
        if not isinstance(document, dict):
            raise BadFile(str(path), [Fault("", "has no rows.", "Give JSON objects with an episode id and metrics.")])
        parts = list(document.pairs if isinstance(document, _Object) else document.items())
        if parts and all(isinstance(value, dict) for _, value in parts):
            for name, record in parts:
                self._add_record(record, f'{path}, record "{name}"', name)
        else:
            self._add_record(document, str(path), _name_in_file(path), one_file=True)

    def _add_record(self, record: Any, where: str, name: str | None, *, one_file: bool = False) -> None:
        if not isinstance(record, dict):
            self.unreadable.append(Fault(where, "is no object with metrics.", "Each row needs an id and metrics."))
            return
        own = next((str(record[key]) for key in self._id_columns if _is_id(record.get(key))), None)
        # A key beside an id column, as ETPNav's, is the id; the name of a file is so only where the record has none.
        episode_id = (own or name) if one_file else (name or own)
        values: dict[str, float] = {}
        for key, value in record.items():
            metric = self._names.get(key.lower())
            if metric is None and key in METRIC_COLUMNS:
                metric = key
            if not metric:
                if key not in self._id_columns and _is_number(value) and not _TEXT.search(key):
                    self.ignored[key] += 1
                continue
            if _is_number(value):
                values.setdefault(metric, as_float(value))
            else:
                problem = f"{str(value)[:40]!r} is not a number."
                self.unreadable.append(Fault(where, problem, "Write numbers, or leave the entry out.", key))
        if not values and any(key.lower() in TRAJECTORIES for key in record):
            self.trajectories += 1
        elif not values or episode_id is None or (own is None and any(key.lower() == COUNT for key in record)):
            self.aggregates += 1
        else:
            self.rows.append(MetricRow(episode_id, values, where))


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and str(value) != ""


def _is_number(value: Any) -> bool:
    if isinstance(value, int | float):
        return True
    return value is None


def _read_cell(text: str | None) -> float | str | None:
    if text is None or not text.strip():
        return None
    word = text.strip()
    if word.lower() in ("true", "false"):
        return float(word.lower() == "true")
    try:
        return float(word)
    except ValueError:
        return text


def _name_in_file(path: Path) -> str:
    """The episode in the name of a file: stats_217.json, 217.json."""
    name = path.name.split(".")[0]
    found = _IN_NAME.search(name)
    return (found[1] or found[2]) if found else name


class _Object(dict[str, Any]):
    """A JSON object that keeps repeated keys, which a plain dict drops silently."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def _load(content: bytes) -> Any:
    # The released scripts write NaN and Infinity, which are no JSON: the standard library reads them.
    return json.loads(content, object_pairs_hook=_Object, parse_int=_read_int)


def _read_int(text: str) -> int | float:
    return int(text) if len(text) < 18 else float(text)


def as_float(value: float | None) -> float:
    """The number, NaN for null."""
    return math.nan if value is None else float(value)
