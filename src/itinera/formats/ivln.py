"""Iterative VLN: tours through the episodes of a split, rollouts of whole tours, and the reference paths of scoring.

The discrete and the continuous release share the shape of their tour files; rollouts and targets are IVLN-CE's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import decode_dict, report_unknown_step_fields
from itinera.formats.frames import points_from_habitat
from itinera.formats.io import FaultList, read_bytes
from itinera.formats.r2r import parse_id
from itinera.formats.vlnce import Point, habitat_points
from itinera.formats.writing import atomic_write
from itinera.records import Phase, Predictions, Rollout, Trajectory
from itinera.tasks import Split, Tour
from itinera.worlds import Array

References: TypeAlias = Mapping[str, Mapping[str, Array]]  # tour id -> episode id -> (n, 3) metres

PHASES = {"agent": Phase.ACTING, "oracle_goal": Phase.GUIDED_TO_GOAL, "oracle_start": Phase.GUIDED_TO_START}
_NAMES = {phase: name for name, phase in PHASES.items()}


def read_tours(path: str | Path, split: str | None = None) -> tuple[Tour, ...]:
    """The tours of one split, named by their running number over all scans of the split in file order, from "0".

    `split` is a split's name in the file ("val_unseen") or a name that contains it ("R2R_val_unseen"). A file of one
    split needs none.
    """
    tours = read_all_tours(path)
    return tours[choose_split(tours, split, str(path))]


def read_all_tours(path: str | Path) -> dict[str, tuple[Tour, ...]]:
    """The tours of every split of a file, by the name of the split."""
    path = Path(path)
    splits = decode_dict(read_bytes(path), dict[str, list[list[int | str]]], str(path))
    found = {name: _numbered(scans) for name, scans in splits.items()}
    FaultList(str(path), (fault for tours in found.values() for fault in _tour_faults(tours))).raise_any()
    return found


def _numbered(scans: Mapping[str, list[list[int | str]]]) -> tuple[Tour, ...]:
    tours = ((scan, ids) for scan, toured in scans.items() for ids in toured)
    return tuple(Tour(str(number), scan, tuple(map(str, ids))) for number, (scan, ids) in enumerate(tours))


def choose_split(names: Iterable[str], wanted: str | None, source: str) -> str:
    """The split of a file that a name asks for: of that name, contained in that name, or the only one."""
    found = list(names)
    if len(found) == 1:
        return found[0]
    held = [name for name in found if name and wanted is not None and name in wanted]
    if held:
        return max(held, key=len)  # an equal name is the longest that it can contain
    more = f" and {len(found) - 20} more" if len(found) > 20 else ""
    listed = f"holds the splits {', '.join(found[:20])}{more}" if found else "holds no split"
    problem = f"{listed}." if wanted is None else f"{listed}, but not {wanted}."
    raise BadFile(source, [Fault("", problem, "Name the split of the tours.")])


def _tour_faults(tours: Sequence[Tour]) -> Iterator[Fault]:
    first: dict[str, str] = {}
    for tour in tours:
        where = f'tour "{tour.id}" of scan {tour.world_id}'
        if not tour.episode_ids:
            yield Fault(where, "is empty.", "A tour visits at least one episode.")
        for name in tour.episode_ids:
            if name in first:
                problem = f'episode "{name}" is visited by tour "{first[name]}" already.'
                yield Fault(where, problem, "An episode is visited once.")
            first.setdefault(name, tour.id)


def write_tours(path: str | Path, tours: Mapping[str, Sequence[Tour]]) -> None:
    """Write tours by the name of their split. Their ids are not part of the file: readers number them, scan by scan."""
    content: dict[str, dict[str, list[list[int | str]]]] = {}
    for split, toured in tours.items():
        scans = content.setdefault(split, {})
        for tour in toured:
            scans.setdefault(tour.world_id, []).append([parse_id(name) for name in tour.episode_ids])
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.encode(content))


class _Step(msgspec.Struct, gc=False):
    position: Point
    phase: Literal["agent", "oracle_goal", "oracle_start"]
    episode_id: int | str


def read_predictions(path: str | Path) -> Predictions:
    """The trajectories of an IVLN-CE agent file, {tour_id: [{"position", "phase", "episode_id"}, …]}, one per tour.

    Steps belong to the episode the file names. Guidance to a start comes after the switch to the next episode, so a
    trajectory may begin with guidance to its own start and end with guidance to its own goal. The format does not
    say how an episode ended; it is read as stopped.
    """
    path = Path(path)
    data = read_bytes(path)
    tours = decode_dict(data, list[_Step], str(path))
    faults = FaultList(str(path))
    rollouts = tuple(Rollout(name, tuple(_trajectories(name, steps, faults))) for name, steps in tours.items())
    faults.raise_any()
    report_unknown_step_fields(data, _Step, sum(map(len, tours.values())), len(tours), str(path))
    return Predictions(str(path), rollouts)


def _trajectories(tour_id: str, steps: Sequence[_Step], faults: FaultList) -> Iterator[Trajectory]:
    if not steps:
        faults.append(Fault(f'tour "{tour_id}"', "is empty.", "A trajectory must include its start."))
    points = points_from_habitat([step.position for step in steps])
    seen: set[str] = set()
    at = 0
    for name, run in groupby(steps, key=lambda step: str(step.episode_id)):
        phases = tuple(PHASES[step.phase] for step in run)
        if name in seen:
            problem = f'comes back to episode "{name}" at step {at}.'
            faults.append(Fault(f'tour "{tour_id}"', problem, "The steps of an episode must be consecutive."))
        seen.add(name)
        places = points[at : at + len(phases)]
        at += len(phases)
        yield Trajectory(name, places, phases=None if set(phases) == {Phase.ACTING} else phases)


def write_predictions(path: str | Path, predictions: Predictions) -> None:
    """Write continuous trajectories as an IVLN-CE agent file, every phase included."""
    content = {
        rollout.tour_id: list(chain.from_iterable(map(_steps, rollout.trajectories)))
        for rollout in predictions.rollouts
    }
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.encode(content))


def _steps(trajectory: Trajectory) -> Iterator[_Step]:
    points = habitat_points(trajectory.places, f'The trajectory of episode "{trajectory.episode_id}"')
    phases = trajectory.phases or (Phase.ACTING,) * len(points)
    for point, phase in zip(points, phases, strict=True):
        yield _Step(point, _NAMES[phase], trajectory.episode_id)  # type: ignore[arg-type]


def read_references(path: str | Path, split: str | None = None) -> dict[str, dict[str, Array]]:
    """The target positions of one split in `gt_ndtw.json` by tour and episode, in tour order.

    `split` is as in `read_tours`. Only the acting phase counts, as in the released scorer.
    """
    references = read_all_references(path)
    return references[choose_split(references, split, str(path))]


def read_all_references(path: str | Path) -> dict[str, dict[str, dict[str, Array]]]:
    """The target positions of every split of `gt_ndtw.json`, by split, tour and episode."""
    path = Path(path)
    splits = decode_dict(read_bytes(path), dict[str, list[_Step]], str(path))
    faults = FaultList(str(path))
    found = {
        split: {name: _targets(name, steps, faults) for name, steps in tours.items()} for split, tours in splits.items()
    }
    faults.raise_any()
    return found


def _targets(tour_id: str, steps: Sequence[_Step], faults: FaultList) -> dict[str, Array]:
    acting = [step for step in steps if step.phase == "agent"]
    return {t.episode_id: t.places for t in _trajectories(tour_id, acting, faults)}  # type: ignore[misc]


def write_references(path: str | Path, references: Mapping[str, References]) -> None:
    """Write targets by split, tour and episode in the form of `gt_ndtw.json`."""
    content = {
        split: {
            tour_id: [
                _Step(point, "agent", name)
                for name, path in paths.items()
                for point in habitat_points(path, f"Target {name}")
            ]
            for tour_id, paths in tours.items()
        }
        for split, tours in references.items()
    }
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.encode(content))


def with_tour_references(split: Split, references: References, source: str = "targets") -> Split:
    """The split with the targets as references, as the released IVLN-CE scorer has them.

    Episodes that no tour visits keep their own.
    """
    paths = {name: path for tour in references.values() for name, path in tour.items()}
    unknown = [name for name in paths if name not in split.by_id]
    if unknown:
        remedy = "Targets and tasks must be of one split."
        faults = (Fault(f'episode "{name}"', f"is not in {split.name}.", remedy) for name in unknown)
        FaultList(source, faults).raise_any()
    return replace(split, episodes=tuple(replace(e, reference=paths.get(e.id, e.reference)) for e in split.episodes))
