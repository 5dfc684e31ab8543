"""JSON output of verbs, read back: the findings of skill studies, first faults, and the coverage of tours."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from itinera.formats.decoding import decode
from itinera.formats.io import read_bytes

_FIRST_FAULTS = re.compile(rb'\{\s*"first_faults"')


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


class ClauseResult(msgspec.Struct, frozen=True):
    """The first faults at clauses of one kind."""

    kind: str
    clauses: int
    faults: int
    rate: Estimate
    share: Estimate | None = None


class FirstFaultResults(msgspec.Struct, frozen=True):
    """The output of `itinera first-faults --json`, without its episodes."""

    first_faults: str  # the agent
    episodes: int
    succeeded: int
    how: dict[str, int]
    kinds: list[ClauseResult]


def read_report_json(path: Path) -> StudyResults | FirstFaultResults | list[DatasetCoverage]:
    """The results of a study, first faults, or the coverage of each data set, whichever the file contains."""
    content = read_bytes(path)
    head = content.lstrip()[:100]
    if head[:1] == b"[":
        return decode(content, list[DatasetCoverage], str(path))
    if _FIRST_FAULTS.match(head):
        return decode(content, FirstFaultResults, str(path))
    return decode(content, StudyResults, str(path))
