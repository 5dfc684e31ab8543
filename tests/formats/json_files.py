"""What the tests of annotation files share: JSON to disk and back, and records compared field by field."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any


def written(path: Path, content: Any) -> Path:
    """The path, after writing content there: text as it is, anything else as JSON."""
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def records(path: Path) -> list[dict[str, Any]]:
    """The records of a JSON list, which may be compressed."""
    text = path.read_bytes()
    found: list[dict[str, Any]] = json.loads(gzip.decompress(text) if path.suffix == ".gz" else text)
    return found


def assert_same_records(some: list[dict[str, Any]], others: list[dict[str, Any]]) -> None:
    """Equal field by field, headings up to rounding and whole turns."""
    assert len(some) == len(others)
    for a, b in zip(some, others, strict=True):
        assert abs(math.remainder(a["heading"] - b["heading"], math.tau)) < 1e-9
        assert a | {"heading": 0} == b | {"heading": 0}
