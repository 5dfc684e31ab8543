"""Matterport's category of each object name that annotators wrote, from `category_mapping.tsv`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from itinera.errors import BadFile, Fault
from itinera.formats.io import FaultList, read_bytes
from itinera.worlds.labels import MPCAT40

_NEEDED = ("raw_category", "mpcat40")


def read_categories(path: str | Path) -> dict[str, str]:
    """The category of each raw name, from a table with the tab-separated columns raw_category and mpcat40.

    Other columns are ignored. A name may occur again with the same category.
    """
    path = Path(path)
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadFile(str(path), [Fault("", "is not UTF-8 text.", "Save the table as UTF-8.")]) from None
    rows = _rows(text, path)
    header = next(rows, (0, []))[1]
    missing = [name for name in _NEEDED if name not in header]
    if missing:
        remedy = "Give Matterport's category_mapping.tsv, or a table with the columns raw_category and mpcat40."
        raise BadFile(str(path), [Fault("line 1", f"the header lacks {' and '.join(missing)}.", remedy)])
    raw, category = (header.index(name) for name in _NEEDED)
    found: dict[str, str] = {}
    faults = FaultList(str(path))
    for number, row in rows:
        if not row:
            continue
        where = f"line {number}"
        if len(row) <= max(raw, category):
            faults.append(Fault(where, f"has {len(row)} columns.", f"The header has {len(header)}."))
        elif row[category] not in MPCAT40:
            faults.append(
                Fault(where, f"{row[category][:40]!r} is not a category.", "mpcat40 has 41 names, from void on.")
            )
        elif found.setdefault(row[raw], row[category]) != row[category]:
            problem = f"{row[raw][:40]!r} is both {found[row[raw]]} and {row[category]}."
            faults.append(Fault(where, problem, "Give each name one category."))
    faults.raise_any()
    return found


def _rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of the table, each after the number of its line."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
    try:
        for row in rows:
            yield rows.line_num, row
    except csv.Error as error:
        fault = Fault(f"line {rows.line_num}", f"is not a row of a table ({error}).", "Save the table again.")
        raise BadFile(str(path), [fault]) from None
