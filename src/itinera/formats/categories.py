"""Matterport's category of each object name that annotators wrote, from `category_mapping.tsv`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from itinera.errors import BadFile, Fault
from itinera.formats.io import read_bytes
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
    rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
    header = next(rows, [])
    missing = [name for name in _NEEDED if name not in header]
    if missing:
        remedy = "Give Matterport's category_mapping.tsv, or a table with the columns raw_category and mpcat40."
        raise BadFile(str(path), [Fault("line 1", f"the header lacks {' and '.join(missing)}.", remedy)])
    raw, category = (header.index(name) for name in _NEEDED)
    found: dict[str, str] = {}
    faults: list[Fault] = []
    for row in rows:
        if not row:
            continue
        where = f"line {rows.line_num}"
        if len(row) <= max(raw, category):
            faults.append(Fault(where, f"has {len(row)} columns.", f"The header has {len(header)}."))
        elif row[category] not in MPCAT40:
            faults.append(Fault(where, f"{row[category]!r} is not a category.", "mpcat40 has 41 names, from void on."))
        elif found.setdefault(row[raw], row[category]) != row[category]:
            problem = f"{row[raw]!r} is both {found[row[raw]]} and {row[category]}."
            faults.append(Fault(where, problem, "Give each name one category."))
    if faults:
        raise BadFile(str(path), faults)
    return found
