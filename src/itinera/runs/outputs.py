"""The files of a run: predictions, and the recorded maps beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from itinera.errors import BadArgument, validate_choice
from itinera.formats.map_recordings import encode_recordings, maps_file
from itinera.formats.native import Header, header_line
from itinera.formats.native_predictions import decode_rollout, encode_rollout
from itinera.records import Provenance, Rollout
from itinera.records.shards import PartPlan
from itinera.runs.resume import ResumableWriter, finish_part
from itinera.tasks import Protocol

RECORDABLE = ("maps",)  # besides trajectories


def parse_record(record: Sequence[str]) -> tuple[str, ...]:
    """What a run records besides trajectories, each one of RECORDABLE."""
    names = (record,) if isinstance(record, str) else tuple(record)
    return tuple(validate_choice("record", name, RECORDABLE) for name in names)


class RunWriter:
    """Writes the rollouts of a run, resumably. Use it in a `with` statement.

    A rollout counts as written if all that belongs to it is. The maps are finished before the predictions, so that
    finished predictions have theirs.
    """

    def __init__(
        self, out: Path, plan: str, *, overwrite: bool, record_maps: bool, part: PartPlan | None = None
    ) -> None:
        self._out, self._plan, self._part = out, plan, part
        self._stack = ExitStack()
        self._maps: ResumableWriter | None = None
        self._rollouts = self._stack.enter_context(ResumableWriter(out, plan, overwrite=overwrite))
        try:
            if record_maps:
                self._open_maps(maps_file(out), overwrite)
        except BaseException:
            self._stack.close()
            raise

    def _open_maps(self, path: Path, overwrite: bool) -> None:
        if not self.finished:
            self._maps = self._stack.enter_context(ResumableWriter(path, self._plan, overwrite=overwrite))
        elif not path.exists():
            raise BadArgument(
                f"{self._out} is complete, but its maps ({path}) are missing. Make both again with --overwrite "
                "(overwrite=True)."
            )

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.__exit__(*exception)  # type: ignore[arg-type]

    @property
    def finished(self) -> bool:
        """Whether the predictions exist already, of the same run."""
        return self._rollouts.finished

    def __contains__(self, index: int) -> bool:
        return index in self._rollouts and (self._maps is None or self._maps.finished or index in self._maps)

    def count(self, jobs: Iterable[int]) -> int:
        """The number of these jobs whose rollouts are written."""
        return sum(index in self for index in jobs)

    def __getitem__(self, index: int) -> Rollout:
        return decode_rollout(self._rollouts[index])

    def add(self, index: int, rollout: Rollout) -> None:
        """Write one more rollout."""
        if self._maps is not None:
            recordings = [one.maps for one in rollout.trajectories if one.maps is not None]
            if not self._maps.finished and index not in self._maps:
                self._maps.add(index, encode_recordings(recordings))
            rollout = replace(rollout, trajectories=tuple(replace(one, maps=None) for one in rollout.trajectories))
        self._rollouts.add(index, encode_rollout(rollout) + b"\n")

    def finish(
        self,
        provenance: Provenance,
        protocol: Protocol,
        settings: Mapping[str, Any] | None = None,
        *,
        first: int | None = None,
        until: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the files, and remove the unfinished work; `settings` are of a language model and the clock.

        A run that was stopped keeps the `first` rollouts only, and `until` is what its rule found.
        """
        if self._maps is not None and not self._maps.finished:
            header = Header(itinera="map-recordings", provenance=provenance, plan=self._plan)
            header.shard = finish_part(self._part, self._maps)
            self._maps.finish(head=header_line(header), first=first)
        header = Header(
            itinera="predictions",
            provenance=provenance,
            protocol=protocol,
            plan=self._plan,
            settings=dict(settings or {}),
            shard=finish_part(self._part, self._rollouts),
            until=dict(until or {}),
        )
        self._rollouts.finish(head=header_line(header), first=first)
