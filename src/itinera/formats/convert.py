"""Conversion of a file from one format into another: the same content, read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from itinera.errors import BadArgument
from itinera.formats import catalog
from itinera.formats.catalog import Format
from itinera.formats.io import check_outputs
from itinera.formats.provenance import write_sidecar
from itinera.records.provenance import Provenance, make_provenance


@dataclass(frozen=True)
class Conversion:
    """What was converted: the file written and both formats."""

    target: Path
    source_format: Format
    target_format: Format

    def __str__(self) -> str:
        return f"{self.target}: {self.target_format.about}, from {self.source_format.about}."


def convert(
    source: Path,
    target: Path,
    to: str,
    *,
    format: str | None = None,
    tasks: Path | None = None,
    tours: Path | None = None,
    traces: Path | None = None,
    episode: str | None = None,
    command: Sequence[str] = (),
) -> Conversion:
    """Write `target` in the format `to` with the content of `source`, whose format is recognized unless given.

    `tasks` are the episodes of predictions, where ids must be translated; `tours` are added to tasks; `traces` is the
    folder of RxR's guide pose traces, which align words; `episode` names the episode of a robot log.
    """
    inputs = {"source": source, "tasks": tasks, "tours": tours, "traces": traces}
    check_outputs([target], inputs.values())
    wanted = catalog.find_format(to, argument="to")
    found = catalog.find_format(format) if format is not None else catalog.detect(source)
    if found.kind != wanted.kind:
        raise BadArgument(f"{source} holds {found.kind} ({found.name}), which cannot become {wanted.kind} ({to}).")
    content = _read(found, source, tasks, tours, traces, episode)
    if to == "rxr-ce-submission" and tasks is not None:
        from itinera.formats.vlnce_predictions import to_instruction_ids

        content = to_instruction_ids(content, catalog.read_tasks(tasks))
    _write(wanted, target, content, make_provenance(inputs, command))
    return Conversion(target, found, wanted)


def _read(
    found: Format, source: Path, tasks: Path | None, tours: Path | None, traces: Path | None, episode: str | None
) -> Any:
    if found.kind == "predictions" and (tasks is not None or episode is not None):
        split = None if tasks is None else catalog.read_tasks(tasks)
        return catalog.read_predictions(source, split, format=found.name, episode=episode)
    if episode is not None:
        raise BadArgument(f"episode (--episode) is for predictions, but {source} holds {found.kind}.")
    content = found.read(source)
    if traces is not None:
        if found.name != "rxr":
            raise BadArgument(f"traces (--traces) aligns words of RxR annotations, but {source} is {found.name}.")
        from itinera.formats.rxr import with_alignment

        content = with_alignment(content, traces)
    if tours is not None:
        if found.kind != "tasks":
            raise BadArgument(f"tours (--tours) is for tasks, but {source} holds {found.kind}.")
        content = content.with_tours(catalog.read_tours(tours, content), str(tours))
    return content


def _write(wanted: Format, target: Path, content: Any, provenance: Provenance) -> None:
    """Itinera's own files contain their provenance; other formats get it in a file beside them."""
    if wanted.name == "native-predictions":
        wanted.write(target, replace(content, provenance=provenance))
    elif wanted.name in ("native-tasks", "times"):
        wanted.write(target, content, provenance)
    else:
        wanted.write(target, content)
        write_sidecar(target, provenance)
