"""What agents leaned to in the trials of a study: our own file, and the records that vln-behave's patch logs.

Ours is a header that names the agent, then a record per trial. The others are read beside the trials they answer, for
they name neither the cut nor its twin: `read_behave`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import decode_list, finite
from itinera.formats.frames import heading_from_r2r
from itinera.formats.io import read_bytes
from itinera.formats.native import Header, read_records, write_file
from itinera.records import Provenance
from itinera.records.action_probabilities import Leaning
from itinera.rendering.panorama import STEP, TURNS
from itinera.tasks.trial import Trial

NEAR_ONE = 1e-3  # how far logged probabilities may be from their sum: half precision, or four digits printed
_SUM = "Log the probabilities of all actions, STOP's among them, after the softmax."


@dataclass(frozen=True, eq=False)
class LeaningFile:
    """What one agent leaned to."""

    agent: str
    leanings: tuple[Leaning, ...]
    provenance: Provenance | None = None

    def __len__(self) -> int:
        return len(self.leanings)


class _Leaning(msgspec.Struct, omit_defaults=True, kw_only=True):
    trial_id: str
    heading: float = 0.0
    nodes: list[str] = []
    headings: list[float] = []
    probabilities: list[float] = []
    walked: list[str] = []
    failed: str = ""


def read_leanings(path: str | Path) -> LeaningFile:
    """The leanings of a file of ours."""
    path = Path(path)
    header, records = read_records(path, "leanings", _Leaning)
    faults = list(_repeated([(f"line {n}", record.trial_id) for n, record in enumerate(records, start=2)]))
    for number, record in enumerate(records, start=2):
        where = f'line {number} (trial "{record.trial_id}")'
        faults += (Fault(where, *told) for told in _wrong(record))
    if faults:
        raise BadFile(str(path), faults)
    return LeaningFile(header.agent or path.stem, tuple(map(_leaning, records)), header.provenance)


def _wrong(record: _Leaning) -> Iterator[tuple[str, str, str]]:
    """Problem, remedy and field of whatever is wrong."""
    if record.failed:
        return
    count = len(record.nodes)
    if not finite([record.heading, *record.headings]):
        yield "is not finite.", "Headings are radians, counter-clockwise from +x.", "headings"
    if len(record.headings) != count:
        yield f"has {len(record.headings)} entries for {count} nodes.", "Give the heading of each node.", "headings"
    if len(set(record.nodes)) != count:
        yield "names a node twice.", "Every node one step away is one action.", "nodes"
    if len(record.probabilities) != count + 1:
        problem = f"has {len(record.probabilities)} entries for {count} nodes; {count + 1} are expected."
        yield problem, "The first is that of stopping, then one for each node.", "probabilities"
    else:
        yield from ((told, _SUM, "probabilities") for told in _wrong_sum(record.probabilities))


def _wrong_sum(probabilities: Sequence[float]) -> Iterator[str]:
    if not finite(probabilities) or min(probabilities) < 0:
        yield "holds what is no probability."
    elif abs(math.fsum(probabilities) - 1) > NEAR_ONE:
        yield f"sums to {math.fsum(probabilities):.6g}, not to 1."


def _repeated(named: Sequence[tuple[str, str]]) -> Iterator[Fault]:
    first: dict[str, str] = {}
    for where, name in named:
        if name in first:
            yield Fault(where, f'trial "{name}" is also answered in {first[name]}.', "A trial has one answer.")
        first.setdefault(name, where)


def _leaning(record: _Leaning) -> Leaning:
    return Leaning(
        record.trial_id,
        record.heading,
        tuple(record.nodes),
        np.array(record.headings, dtype=np.float64),
        _summing_to_one(record.probabilities),
        tuple(record.walked),
        record.failed,
    )


def _summing_to_one(probabilities: Sequence[float]) -> Any:
    values = np.array(probabilities, dtype=np.float64)
    return values / values.sum() if len(values) else values


def write_leanings(path: str | Path, told: LeaningFile) -> None:
    """Leanings as a file, one line each."""
    header = Header(itinera="leanings", agent=told.agent, provenance=told.provenance)
    write_file(Path(path), header, b"".join(record_of(leaning) + b"\n" for leaning in told.leanings))


def record_of(leaning: Leaning) -> bytes:
    """The line of a leaning in a file, without its end."""
    return msgspec.json.encode(
        _Leaning(
            trial_id=leaning.trial_id,
            heading=leaning.heading,
            nodes=list(leaning.nodes),
            headings=leaning.headings.tolist(),
            probabilities=leaning.probabilities.tolist(),
            walked=list(leaning.walked),
            failed=leaning.failed,
        )
    )


def refuse_unknown(source: str, leanings: Sequence[Leaning], trials: Mapping[str, Trial]) -> None:
    """Raise BadFile if an answer is to no trial of the study."""
    remedy = "Give the trials that were asked."
    unknown = [leaning.trial_id for leaning in leanings if leaning.trial_id not in trials]
    if unknown:
        raise BadFile(source, [Fault(f'trial "{name}"', "is not in the study.", remedy) for name in unknown])


class _Candidate(msgspec.Struct):
    """A node one step away, as R2R's agents know it; headings are clockwise from +y."""

    viewpointId: str
    heading: float  # relative to where the agent looks
    normalized_heading: float | None = None  # absolute


class _Step(msgspec.Struct, array_like=True):
    viewpoint: str
    candidates: list[_Candidate]


class _Place(msgspec.Struct, array_like=True):
    viewpoint: str


class _Record(msgspec.Struct, kw_only=True):
    """One episode of vln-behave. Lists are over the steps after the walk was over; only the first counts."""

    instr_id: str | int
    trajectory: list[_Place]
    final_logits: list[list[float]]  # probabilities in truth: of the candidates, of stopping, then zeros
    candidates: list[_Step]
    heading: float | list[float]
    viewIndex: int | list[int] | None = None  # of the 36 it looks at, which candidates' headings are relative to
    stop_prob: float | list[float] | None = None


def study_names(trials: Sequence[Trial]) -> dict[str, int]:
    """By every name an agent may know a trial by, its number in the study.

    A trial's own id; "N", RxR's instruction_id of an exported study; "N_0" as R2R's agents and "N_N" as RxR's name the
    same.
    """
    names = {trial.id: number for number, trial in enumerate(trials)}
    for number in range(len(trials)):
        for name in (str(number), f"{number}_0", f"{number}_{number}"):
            names.setdefault(name, number)
    return names


def read_behave(path: str | Path, trials: Sequence[Trial]) -> tuple[Leaning, ...]:
    """The leanings in a file of vln-behave's records, each the answer to one of these trials."""
    path = Path(path)
    records = decode_list(read_bytes(path), _Record, str(path))
    names = study_names(trials)
    leanings, faults = [], []
    for number, record in enumerate(records):
        known = names.get(str(record.instr_id))
        where = f'record {number} ("{record.instr_id}")'
        if known is None:
            faults.append(Fault(where, "is no trial of the study.", "Give the trials that were asked.", "instr_id"))
            continue
        found = list(_behave_faults(record, trials[known]))
        faults += (Fault(where, *told) for told in found)
        if not found:
            leanings.append(_behaved(record, trials[known]))
    faults += _repeated([(f"record {n}", leaning.trial_id) for n, leaning in enumerate(leanings)] if not faults else [])
    if faults:
        raise BadFile(str(path), faults)
    return tuple(leanings)


def _behave_faults(record: _Record, trial: Trial) -> Iterator[tuple[str, str, str]]:
    walked = _without_repeats(record)
    path = list(trial.episode.reference)
    if walked[: len(path)] != path:
        yield "does not begin with the path of its trial.", "The agent is led along the path first.", "trajectory"
    if not record.final_logits or not record.candidates:
        yield "holds no step after the walk.", "Log the first step at which the agent is free.", "final_logits"
        return
    if record.candidates[0].viewpoint != trial.last:
        problem = f"are seen from {record.candidates[0].viewpoint}, but the trial is asked at {trial.last}."
        yield problem, "Log the first step at which the agent is free.", "candidates"
    shares, count = record.final_logits[0], len(record.candidates[0].candidates)
    if len(shares) < count + 1:
        problem = f"has {len(shares)} entries for {count} candidates and stopping."
        yield problem, "Candidates come first, in their order, then stopping.", "final_logits"
        return
    yield from ((told, _SUM, "final_logits") for told in _wrong_sum(shares[: count + 1]))
    stop = _first(record.stop_prob)
    if stop is not None and not math.isclose(stop, shares[count], abs_tol=NEAR_ONE):
        problem = f"is {stop:.4g}, but final_logits has {shares[count]:.4g} after its {count} candidates."
        yield problem, "Candidates come first, in their order, then stopping.", "stop_prob"
    if _first(record.heading) is None:
        yield "is empty.", "Log where the agent looks at its first free step.", "heading"


def _behaved(record: _Record, trial: Trial) -> Leaning:
    ways, count = record.candidates[0].candidates, len(record.candidates[0].candidates)
    faced, view = _first(record.heading) or 0.0, _first(record.viewIndex)
    faced = faced if view is None else int(view) % TURNS * STEP
    clockwise = [faced + way.heading if way.normalized_heading is None else way.normalized_heading for way in ways]
    shares = record.final_logits[0][: count + 1]
    return Leaning(
        trial.id,
        heading_from_r2r(faced),
        tuple(way.viewpointId for way in ways),
        heading_from_r2r(np.array(clockwise, dtype=np.float64)),
        _summing_to_one([shares[-1], *shares[:-1]]),
        tuple(_without_repeats(record)[len(trial.episode.reference) - 1 :]),
    )


def _without_repeats(record: _Record) -> list[str]:
    """The nodes walked, without the turns in place that some agents log."""
    return [node for node, _ in groupby(step.viewpoint for step in record.trajectory)]


def _first(value: float | list[float] | list[int] | None) -> float | None:
    return (value[0] if value else None) if isinstance(value, list) else value
