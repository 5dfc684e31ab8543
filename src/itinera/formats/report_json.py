"""JSON output of verbs, read back: the findings of skill studies and the coverage of tours."""

from __future__ import annotations

from pathlib import Path

import msgspec

from itinera.formats.decoding import decode
from itinera.formats.io import read_bytes


class Estimate(msgspec.Struct, frozen=True):
    """A mean with its interval."""

    mean: float | None
    low: float | None = None
    high: float | None = None


class SkillResult(msgspec.Struct, frozen=True):
    """The result for one skill of one agent."""

    verdicts: list[str]
    score: Estimate | None = None  # a fraction


class StudyResults(msgspec.Struct, frozen=True):
    """The output of `itinera study analyse --json`: by agent, by skill."""

    agents: dict[str, dict[str, SkillResult]]


class CoveragePoint(msgspec.Struct, frozen=True):
    """The share observed before an episode, over the tours that have that many."""

    episodes_done: int
    mean: float | None
    low: float | None
    high: float | None


class DatasetCoverage(msgspec.Struct, frozen=True):
    """The coverage along tours in the output of `itinera describe --json`: by kind, by share."""

    name: str
    coverage: dict[str, dict[str, list[CoveragePoint]]] = {}


def read_report_json(path: Path) -> StudyResults | list[DatasetCoverage]:
    """The results of a study, or the coverage of each data set, whichever the file contains."""
    content = read_bytes(path)
    kind: type[StudyResults] | type[list[DatasetCoverage]] = (
        list[DatasetCoverage] if content.lstrip()[:1] == b"[" else StudyResults
    )
    return decode(content, kind, str(path))
