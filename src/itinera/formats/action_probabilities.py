"""Action probabilities of agents in the trials of a study: our own file, and the records that vln-behave's patch logs.

Ours is a header that names the agent, then a record per trial. vln-behave's records are read together with the trials,
because they name neither the truncation nor the control: `read_behave`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from itinera.errors import Fault
from itinera.formats.decoding import all_finite, decode_list
from itinera.formats.frames import heading_from_r2r
from itinera.formats.io import FaultList, read_bytes
from itinera.formats.native import Header, read_records, write_file
from itinera.records import Provenance
from itinera.records.action_probabilities import ActionDistribution
from itinera.rendering.panorama import STEP, TURNS
from itinera.tasks.trial import Trial

SUM_TOLERANCE = 1e-3  # of logged probabilities: half precision, or four printed digits
_SUM_REMEDY = "Log the probabilities of all actions, STOP's among them, after the softmax."


@dataclass(frozen=True, eq=False)
class ActionProbabilities:
    """The action distributions of one agent, one per trial."""

    agent: str
    distributions: tuple[ActionDistribution, ...]
    provenance: Provenance | None = None

    def __len__(self) -> int:
        return len(self.distributions)

    def __iter__(self) -> Iterator[ActionDistribution]:
        return iter(self.distributions)

    def __repr__(self) -> str:
        failed = sum(bool(distribution.failed) for distribution in self.distributions)
        return f"ActionProbabilities({self.agent!r}: {len(self.distributions)} trials, {failed} failed)"


class _Record(msgspec.Struct, omit_defaults=True, kw_only=True):
    trial_id: str
    heading: float = 0.0
    nodes: list[str] = []
    headings: list[float] = []
    probabilities: list[float] = []
    greedy_path: list[str] = []
    failed: str = ""


def read_action_probabilities(path: str | Path) -> ActionProbabilities:
    """The action probabilities of one of our files."""
    path = Path(path)
    header, records = read_records(path, "action-probabilities", _Record)
    repeats = _find_repeats((f"line {n}", record.trial_id) for n, record in enumerate(records, start=2))
    faults = FaultList(str(path), repeats)
    for number, record in enumerate(records, start=2):
        where = f'line {number} (trial "{record.trial_id}")'
        faults += (Fault(where, *problem) for problem in _check_record(record))
    faults.raise_any()
    return ActionProbabilities(header.agent or path.stem, tuple(map(_decode_record, records)), header.provenance)


def _check_record(record: _Record) -> Iterator[tuple[str, str, str]]:
    """Problem, remedy and field of every fault."""
    if record.failed:
        return
    count = len(record.nodes)
    if not all_finite([record.heading, *record.headings]):
        yield "is not finite.", "Headings are radians, counter-clockwise from +x.", "headings"
    if len(record.headings) != count:
        yield f"has {len(record.headings)} entries for {count} nodes.", "Give the heading of each node.", "headings"
    if len(set(record.nodes)) != count:
        yield "names a node twice.", "Give each navigable candidate once.", "nodes"
    if len(record.probabilities) != count + 1:
        problem = f"has {len(record.probabilities)} entries for {count} nodes; {count + 1} are expected."
        yield problem, "The first is that of stopping, then one for each node.", "probabilities"
    else:
        yield from ((problem, _SUM_REMEDY, "probabilities") for problem in _check_sum(record.probabilities))


def _check_sum(probabilities: Sequence[float]) -> Iterator[str]:
    if not all_finite(probabilities) or min(probabilities) < 0:
        yield "contains a value that is not a probability."
    elif abs(math.fsum(probabilities) - 1) > SUM_TOLERANCE:
        yield f"sums to {math.fsum(probabilities):.6g}, not to 1."


def _find_repeats(trial_ids: Iterable[tuple[str, str]]) -> Iterator[Fault]:
    first: dict[str, str] = {}
    for where, name in trial_ids:
        if name in first:
            yield Fault(where, f'trial "{name}" also has a record in {first[name]}.', "Give one record per trial.")
        first.setdefault(name, where)


def decode_record(line: bytes) -> ActionDistribution:
    """The action distribution of a line, exactly as `encode_record` was given it; raises `msgspec.DecodeError`."""
    record = msgspec.json.decode(line, type=_Record)
    for problem, _, field in _check_record(record):
        raise msgspec.ValidationError(f"{field} {problem}")
    return replace(_decode_record(record), probabilities=np.array(record.probabilities, dtype=np.float64))


def _decode_record(record: _Record) -> ActionDistribution:
    return ActionDistribution(
        record.trial_id,
        record.heading,
        tuple(record.nodes),
        np.array(record.headings, dtype=np.float64),
        _normalize(record.probabilities),
        tuple(record.greedy_path),
        record.failed,
    )


def _normalize(probabilities: Sequence[float]) -> Any:
    values = np.array(probabilities, dtype=np.float64)
    return values / values.sum() if len(values) else values


def write_action_probabilities(path: str | Path, responses: ActionProbabilities) -> None:
    """Write action probabilities to a file, one line per trial."""
    header = Header(itinera="action-probabilities", agent=responses.agent, provenance=responses.provenance)
    lines = b"".join(encode_record(distribution) + b"\n" for distribution in responses.distributions)
    write_file(Path(path), header, lines)


def encode_record(distribution: ActionDistribution) -> bytes:
    """The line of an action distribution in a file, without its newline."""
    return msgspec.json.encode(
        _Record(
            trial_id=distribution.trial_id,
            heading=distribution.heading,
            nodes=list(distribution.nodes),
            headings=distribution.headings.tolist(),
            probabilities=distribution.probabilities.tolist(),
            greedy_path=list(distribution.greedy_path),
            failed=distribution.failed,
        )
    )


def check_trial_ids(source: str, distributions: Sequence[ActionDistribution], trials: Mapping[str, Trial]) -> None:
    """Raise BadFile if a record belongs to no trial of the study."""
    remedy = "Give the trials that the agent was run on."
    unknown = [distribution.trial_id for distribution in distributions if distribution.trial_id not in trials]
    if unknown:
        faults = (Fault(f'trial "{name}"', "is not in the study.", remedy) for name in unknown)
        FaultList(source, faults).raise_any()


class _Candidate(msgspec.Struct):
    """A navigable candidate as R2R's agents log it; headings are clockwise from +y."""

    viewpointId: str
    heading: float  # relative to the agent's heading
    normalized_heading: float | None = None  # absolute


class _Step(msgspec.Struct, array_like=True):
    viewpoint: str
    candidates: list[_Candidate]


class _Place(msgspec.Struct, array_like=True):
    viewpoint: str


class _BehaveRecord(msgspec.Struct, kw_only=True):
    """One episode of vln-behave. Lists are over the steps after the guided path; only the first is used."""

    instr_id: str | int
    trajectory: list[_Place]
    final_logits: list[list[float]]  # probabilities in truth: of the candidates, of stopping, then zeros
    candidates: list[_Step]
    heading: float | list[float]
    viewIndex: int | list[int] | None = None  # current view of the 36, to which candidates' headings are relative
    stop_prob: float | list[float] | None = None


def trial_numbers(trials: Sequence[Trial]) -> dict[str, int]:
    """The index of a trial in the study, by every name an agent may use for it.

    A trial's own id; "N", RxR's instruction_id in an exported study; "N_0" as R2R's agents and "N_N" as RxR's agents
    name the same trial.
    """
    names = {trial.id: number for number, trial in enumerate(trials)}
    for number in range(len(trials)):
        for name in (str(number), f"{number}_0", f"{number}_{number}"):
            names.setdefault(name, number)
    return names


def read_behave(path: str | Path, trials: Sequence[Trial]) -> tuple[ActionDistribution, ...]:
    """The action distributions in a file of vln-behave's records, each of one of these trials."""
    path = Path(path)
    records = decode_list(read_bytes(path), _BehaveRecord, str(path))
    numbers = trial_numbers(trials)
    distributions, faults = [], FaultList(str(path))
    for index, record in enumerate(records):
        number = numbers.get(str(record.instr_id))
        where = f'record {index} ("{record.instr_id}")'
        if number is None:
            remedy = "Give the trials that the agent was run on."
            faults.append(Fault(where, "is no trial of the study.", remedy, "instr_id"))
            continue
        problems = list(_check_behave_record(record, trials[number]))
        faults += (Fault(where, *problem) for problem in problems)
        if not problems:
            distributions.append(_decode_behave_record(record, trials[number]))
    if not faults:
        faults += _find_repeats([(f"record {n}", one.trial_id) for n, one in enumerate(distributions)])
    faults.raise_any()
    return tuple(distributions)


def _check_behave_record(record: _BehaveRecord, trial: Trial) -> Iterator[tuple[str, str, str]]:
    visited = _drop_repeated_nodes(record)
    path = list(trial.episode.reference)
    if visited[: len(path)] != path:
        yield "does not begin with the path of its trial.", "Guide the agent along the path first.", "trajectory"
    if not record.final_logits or not record.candidates:
        yield "contains no step after the guided path.", "Log the first step after it.", "final_logits"
        return
    if record.candidates[0].viewpoint != trial.probe_node:
        problem = (
            f"are those of {record.candidates[0].viewpoint}, but the path of the trial ends at {trial.probe_node}."
        )
        yield problem, "Log the first step after the guided path.", "candidates"
    probabilities, count = record.final_logits[0], len(record.candidates[0].candidates)
    if len(probabilities) < count + 1:
        problem = f"has {len(probabilities)} entries for {count} candidates and stopping."
        yield problem, "Candidates come first, in their order, then stopping.", "final_logits"
        return
    yield from ((problem, _SUM_REMEDY, "final_logits") for problem in _check_sum(probabilities[: count + 1]))
    stop = _first(record.stop_prob)
    if stop is not None and not math.isclose(stop, probabilities[count], abs_tol=SUM_TOLERANCE):
        problem = f"is {stop:.4g}, but final_logits has {probabilities[count]:.4g} after its {count} candidates."
        yield problem, "Candidates come first, in their order, then stopping.", "stop_prob"
    if _first(record.heading) is None:
        yield "is empty.", "Log the agent's heading at the first step after the guided path.", "heading"


def _decode_behave_record(record: _BehaveRecord, trial: Trial) -> ActionDistribution:
    candidates = record.candidates[0].candidates
    heading, view = _first(record.heading) or 0.0, _first(record.viewIndex)
    heading = heading if view is None else int(view) % TURNS * STEP
    clockwise = [heading + c.heading if c.normalized_heading is None else c.normalized_heading for c in candidates]
    probabilities = record.final_logits[0][: len(candidates) + 1]
    return ActionDistribution(
        trial.id,
        heading_from_r2r(heading),
        tuple(candidate.viewpointId for candidate in candidates),
        heading_from_r2r(np.array(clockwise, dtype=np.float64)),
        _normalize([probabilities[-1], *probabilities[:-1]]),
        tuple(_drop_repeated_nodes(record)[len(trial.episode.reference) - 1 :]),
    )


def _drop_repeated_nodes(record: _BehaveRecord) -> list[str]:
    """The nodes visited, without the turns in place that some agents log."""
    return [node for node, _ in groupby(step.viewpoint for step in record.trajectory)]


def _first(value: float | list[float] | list[int] | None) -> float | None:
    return (value[0] if value else None) if isinstance(value, list) else value
