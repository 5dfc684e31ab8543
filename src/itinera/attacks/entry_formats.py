"""Entries as plain JSON that can be forged: R2R submissions, VLN-CE submissions and Itinera's own predictions.

An entry is a list of answers, and writing it down does not check anything: an id may occur twice, a trajectory may be
of any shape.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from itinera.formats import native_predictions, r2r, vlnce_predictions
from itinera.records import Predictions

NUMBER = "@number@"  # stands for a number that JSON does not have; see `EntryFormat.encode`


@dataclass(frozen=True)
class Answer:
    """What an entry says about one episode."""

    episode_id: Any
    content: Any  # as the format stores it, without the id


@dataclass(frozen=True)
class EntryFormat:
    """How a format stores answers."""

    name: str
    suffix: str  # of a file's name
    has_positions: bool  # in meters, in the axes of the format; else places are names of viewpoints
    write: Callable[[str | Path, Predictions], None]
    parse: Callable[[bytes], tuple[Any, tuple[Answer, ...]]]  # the header and the answers of a file
    lay_out: Callable[[Any, Sequence[Answer]], str]
    visit: Callable[[Any, Sequence[int]], Any]  # an answer that claims to visit these places of another one, in order
    with_place: Callable[[Any, Any], Any]  # an answer that ends at this place too
    without_field: Callable[[Any], Any]
    with_field: Callable[[Any, str, Any], Any]

    def load(self, predictions: Predictions) -> Entry:
        """The entry that has these predictions."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"entry{self.suffix}"
            self.write(path, predictions)
            header, answers = self.parse(path.read_bytes())
        return Entry(self, header, answers)


@dataclass(frozen=True)
class Entry:
    """An entry that can be changed at will."""

    format: EntryFormat
    header: Any
    answers: tuple[Answer, ...]

    def with_answers(self, answers: Sequence[Answer]) -> Entry:
        """The entry with other answers."""
        return replace(self, answers=tuple(answers))

    def encode(self, number: str = "null") -> bytes:
        """The bytes of its file, with `number` wherever an answer has `NUMBER`."""
        return self.format.lay_out(self.header, self.answers).replace(json.dumps(NUMBER), number).encode()


def _parse_r2r(data: bytes) -> tuple[Any, tuple[Answer, ...]]:
    records = json.loads(data)
    return None, tuple(Answer(record.pop("instr_id"), record) for record in records)


def _lay_out_r2r(header: Any, answers: Sequence[Answer]) -> str:
    records = ({"instr_id": answer.episode_id, **answer.content} for answer in answers)
    return f"[{', '.join(map(json.dumps, records))}]"


def _visit_r2r(content: Any, indices: Sequence[int]) -> Any:
    return {**content, "trajectory": [content["trajectory"][i] for i in indices]}


def _with_viewpoint(content: Any, place: Any) -> Any:
    return {**content, "trajectory": [*content["trajectory"], [place, 0.0, 0.0]]}


def _parse_vlnce(data: bytes) -> tuple[Any, tuple[Answer, ...]]:
    return None, tuple(Answer(name, states) for name, states in json.loads(data).items())


def _lay_out_vlnce(header: Any, answers: Sequence[Answer]) -> str:
    records = (f"{json.dumps(str(answer.episode_id))}: {json.dumps(answer.content)}" for answer in answers)
    return f"{{{', '.join(records)}}}"


def _visit_vlnce(content: Any, indices: Sequence[int]) -> Any:
    last = len(indices) - 1
    return [{**content[index], "stop": number == last} for number, index in enumerate(indices)]


def _with_position(content: Any, place: Any) -> Any:
    return [*({**state, "stop": False} for state in content), {"position": place, "heading": 0.0, "stop": True}]


def _parse_native(data: bytes) -> tuple[Any, tuple[Answer, ...]]:
    header, *rollouts = map(json.loads, data.splitlines())
    trajectories = [one for rollout in rollouts for one in rollout["trajectories"]]
    return header, tuple(Answer(one.pop("episode_id"), one) for one in trajectories)


def _lay_out_native(header: Any, answers: Sequence[Answer]) -> str:
    trajectories = ({"episode_id": answer.episode_id, **answer.content} for answer in answers)
    records = ({"tour_id": str(one["episode_id"]), "trajectories": [one]} for one in trajectories)
    return "".join(f"{json.dumps(record)}\n" for record in (header, *records))


def _visit_native(content: Any, indices: Sequence[int]) -> Any:
    kept = {key: value for key, value in content.items() if key in ("places", "ending")}
    places = [content["places"][i] for i in indices]
    # No such action leads anywhere: a replay must not believe the places.
    return {**kept, "places": places, "actions": [-1] * max(0, len(places) - 1)}


def _with_native_place(content: Any, place: Any) -> Any:
    longer = _visit_native(content, range(len(content["places"])))
    return {**longer, "places": [*longer["places"], place], "actions": [*longer["actions"], -1]}


def _without(name: str) -> Callable[[Any], Any]:
    return lambda content: {key: value for key, value in content.items() if key != name}


def _with_field(content: Any, name: str, value: Any) -> Any:
    return {**content, name: value}


ENTRY_FORMATS: MappingProxyType[str, EntryFormat] = MappingProxyType({
    made.name: made
    for made in (
        EntryFormat("r2r", ".json", False, r2r.write_predictions, _parse_r2r, _lay_out_r2r, _visit_r2r,
                    _with_viewpoint, _without("trajectory"), _with_field),
        EntryFormat("vlnce", ".json", True, vlnce_predictions.write_predictions, _parse_vlnce, _lay_out_vlnce,
                    _visit_vlnce, _with_position, lambda states: [_without("position")(state) for state in states],
                    lambda states, name, value: [_with_field(state, name, value) for state in states]),
        EntryFormat("native", ".jsonl", False, native_predictions.write_predictions, _parse_native, _lay_out_native,
                    _visit_native, _with_native_place, _without("places"), _with_field),
    )
})  # fmt: skip
"""The formats that can be forged, by name."""
