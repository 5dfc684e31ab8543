"""The files a report is made from, recognized by content."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import msgspec

from itinera.errors import BadArgument
from itinera.formats.bundles import read_scores
from itinera.formats.catalog import read_head
from itinera.formats.fastest_times import read_times
from itinera.formats.report_json import DatasetCoverage, FirstFaultResults, StudyResults, read_report_json
from itinera.records import ScoreTable
from itinera.skills.first_faults import FirstFaults
from itinera.tasks.fastest_times import FastestTimes

Result = (
    ScoreTable | StudyResults | FirstFaults | FirstFaultResults | FastestTimes | DatasetCoverage | str | PathLike[str]
)


@dataclass
class ReportInputs:
    """Scores with their names, and the other inputs of a report."""

    names: list[str] = field(default_factory=list)
    tables: list[ScoreTable] = field(default_factory=list)
    findings: list[StudyResults] = field(default_factory=list)
    described: list[DatasetCoverage] = field(default_factory=list)
    times: list[FastestTimes] = field(default_factory=list)
    first_faults: list[FirstFaultResults] = field(default_factory=list)


def collect_inputs(results: Iterable[tuple[str, Result]]) -> ReportInputs:
    """Named results by kind: score tables, fastest times, findings of studies, first faults, descriptions; or files.

    A name may occur several times: an agent on several benchmarks.
    """
    inputs = ReportInputs()
    for name, result in results:
        for item in _read(Path(result)) if isinstance(result, (str, PathLike)) else [result]:
            _add(inputs, name, item)
    return inputs


def _add(inputs: ReportInputs, name: str, item: object) -> None:
    if isinstance(item, ScoreTable):
        inputs.names.append(name)
        inputs.tables.append(item)
    elif isinstance(item, StudyResults):
        inputs.findings.append(item)
    elif isinstance(item, FirstFaultResults):
        inputs.first_faults.append(item)
    elif isinstance(item, FirstFaults):
        inputs.first_faults.append(msgspec.convert(item.to_dict() | {"first_faults": name}, FirstFaultResults))
    elif isinstance(item, FastestTimes):
        inputs.times.append(item)
    elif isinstance(item, DatasetCoverage):
        inputs.described.append(item)
    else:
        raise BadArgument(
            f"A report is made from ScoreTable, FastestTimes, findings or the paths of their files; {name} is "
            f"{type(item).__name__}. Score predictions first: itinera.score(predictions, tasks, worlds)."
        )


def _read(path: Path) -> list[object]:
    """The contents of a file: a score bundle, fastest times, or the JSON of another verb."""
    head = read_head(path)
    if head.begins(r'\{\s*"itinera"\s*:\s*"times"'):
        return [read_times(path)]
    if head.begins(r'\{\s*"itinera"'):
        return [read_scores(path)]
    found = read_report_json(path)
    return list(found) if isinstance(found, list) else [found]
