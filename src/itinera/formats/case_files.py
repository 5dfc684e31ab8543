"""Folders of case files, as MapGPT and NavBench save them: case_InstrID_4332_1.json, one file per instruction.

A file is a record of an R2R submission with the scene, the reference path and the evaluation of the released script.
"""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from pathlib import Path

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats._export import acting_part, require_nodes
from itinera.formats.io import FaultList, members
from itinera.formats.r2r import decode_submission
from itinera.formats.writing import write_members
from itinera.records import Predictions, Trajectory

logger = logging.getLogger("itinera")
NAME = re.compile(r"case_InstrID_.+\.json")
AUXILIARY = re.compile(r"case_aux_InstrID_.+\.json")  # of the second agent, where two walk together


def read_predictions(path: str | Path) -> Predictions:
    """The trajectories of the case files of a folder or archive; the evaluations in them are not read.

    Moves are lists of the nodes passed; the format does not say how an episode ended, and it is read as stopped.
    """
    path = Path(path)
    found = members(path, ".json")
    cases = [name for name in sorted(found) if NAME.fullmatch(name)]
    faults = FaultList(str(path))
    if not cases:
        remedy = "Give the folder preds/ of the run, saved with --save_pred."
        faults.append(Fault("", "contains no case files (case_InstrID_….json).", remedy))
    trajectories = []
    for name in cases:
        try:
            trajectories.append(_read_case(found[name].read(), name))
        except BadFile as error:
            faults += [replace(fault, where=f"{name} {fault.where}".strip()) for fault in error.faults]
    faults.raise_any()
    if others := sum(AUXILIARY.fullmatch(name) is not None for name in found):
        logger.info(f"{path}: {others} case files of a second agent (case_aux_…) are not read.")
    return Predictions.from_trajectories(str(path), tuple(trajectories))


def _read_case(data: bytes, name: str) -> Trajectory:
    records = decode_submission(b"[" + data + b"]", name)
    if len(records) != 1:
        raise BadFile(name, [Fault("", f"holds {len(records)} records.", "A case file has one.")])
    record = records[0]
    places = tuple(step.viewpoint for step in record.trajectory)
    instruction = record.inst_idx if record.instr_id is None else record.instr_id
    problems = [] if places else [Fault("", "is empty.", "A trajectory must include its start.", "trajectory")]
    if instruction is None:
        problems.append(Fault("", "has neither instr_id nor inst_idx.", "Name the instruction it answers."))
    if problems:
        raise BadFile(name, problems)
    return Trajectory(str(instruction), places, object_id=record.object_id)


def write_predictions(path: str | Path, predictions: Predictions) -> None:
    """Write graph trajectories as case files in a folder or archive."""
    content = {}
    for trajectory in map(acting_part, predictions.trajectories):
        places = require_nodes(trajectory.places, f'The trajectory of episode "{trajectory.episode_id}"')
        record = {"instr_id": trajectory.episode_id, "trajectory": [[place] for place in places]}
        named = {} if trajectory.object_id is None else {"pred_objid": trajectory.object_id}
        content[f"case_InstrID_{trajectory.episode_id}.json"] = msgspec.json.encode(record | named)
    write_members(Path(path), content)
