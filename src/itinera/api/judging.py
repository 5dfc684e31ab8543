"""Judging entries to a challenge: check, replay and score at once, by the rules of the host alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from itinera.api.scoring import (
    File,
    check_times,
    input_paths,
    load_split,
    load_worlds_for,
    read_predictions,
    score,
)
from itinera.errors import BadFile, Fault

if TYPE_CHECKING:
    from itinera.formats.challenge import Challenge
    from itinera.records import Predictions, Rollout, ScoreTable
    from itinera.runs.replay import Difference
    from itinera.tasks import Protocol, Split
    from itinera.worlds import World


@dataclass(frozen=True, eq=False)
class Judgement:
    """The scores of an entry, and what they rest on. `print` shows the table and the badge."""

    challenge: str
    entry: str
    badge: Literal["replayed", "scored"]  # "scored": positions that the host allowed without a replay
    episodes: int
    missing: int  # episodes without a trajectory, which count as failures
    stopped: int  # episodes that the agent ended by stopping
    failed: int  # episodes in which the agent failed, by its own record
    differences: tuple[Difference, ...]  # where the entry claims another trajectory than its actions give
    scores: ScoreTable

    @property
    def summary(self) -> str:
        """The badge in one line."""
        answered = self.episodes - self.missing
        how = "replayed" if self.badge == "replayed" else "scored without a replay"
        line = f"{self.badge}: {answered} of {self.episodes} episodes {how} under protocol {self.scores.protocol.label}"
        line += f" ({self.scores.protocol.digest}); {self.missing} missing, counted as failures"
        if self.badge == "replayed":
            line += f"; {len(self.differences)} differ from what the entry claims, and are scored as replayed"
        return f"{line}."

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        from dataclasses import asdict

        from itinera.records.summary import summarize, summary_to_dict

        return {
            "challenge": self.challenge,
            "entry": self.entry,
            "badge": self.badge,
            "episodes": self.episodes,
            "missing": self.missing,
            "stopped": self.stopped,
            "failed": self.failed,
            "differences": [asdict(difference) for difference in self.differences],
            "scores": summary_to_dict(summarize(self.scores)),
        }

    def __str__(self) -> str:
        return f"{self.scores}\n{self.summary}"


def read_challenge(path: File, *, phase: str | None = None) -> Challenge:
    """The rules of a challenge, from its file or from the folder that has a `challenge.toml`.

    phase: of a challenge that has phases, such as that of a server.

    >>> import itinera
    >>> itinera.read_challenge("challenge/").protocol  # doctest: +SKIP
    'r2r'
    """
    from itinera.formats.hosted_challenge import read_rules

    return read_rules(Path(path), phase)


def judge(
    entry: Predictions | File,
    challenge: Challenge | File,
    *,
    phase: str | None = None,
    out: File | None = None,
    progress: Callable[[int], None] | None = None,
    command_words: Sequence[str] = (),
) -> Judgement:
    """The judgement of an entry: checked against the host's episodes, replayed from its actions, and scored.

    Only the actions of an entry count. They are taken again in the host's worlds, under the host's protocol and tours,
    and the trajectories that result are scored; places, times, phases and provenance of the entry are claims, and
    differences are reported. An entry without actions is refused unless the challenge allows positions. Raises
    BadFile for an entry that carries another protocol, answers other episodes or answers one twice.

    challenge: as read, its file, or the folder of its `challenge.toml`.
    phase: of a challenge that has phases.
    out: a file for the score bundle, which `compare` and `report` read.
    progress: called with 1 after each replayed tour or episode.

    >>> import itinera
    >>> print(itinera.judge("entry.jsonl", "challenge/"))  # doctest: +SKIP
    """
    from itinera.formats.challenge import Challenge
    from itinera.formats.io import check_outputs
    from itinera.records import Ending, Predictions
    from itinera.runs.config import load_worlds
    from itinera.tasks.protocol import select_carried

    check_outputs([out], [entry, challenge])
    rules = challenge if isinstance(challenge, Challenge) else read_challenge(challenge, phase=phase)
    split = load_episodes(rules)
    protocol = load_rules(rules, split)
    claimed = entry if isinstance(entry, Predictions) else read_predictions(entry, split)
    if claimed.protocol is not None:
        select_carried(claimed.protocol, (protocol,), claimed.source)
    if rules.times is not None:
        check_times(rules.times, {"tasks": rules.tasks, "worlds": rules.worlds})
    with_actions = _check_entry(claimed, split, rules)
    differences: tuple[Difference, ...] = ()
    judged = claimed
    if with_actions:
        worlds = load_worlds(rules.worlds, protocol)
        judged, differences = _replay(claimed, split, worlds, protocol, progress)
    else:
        worlds = load_worlds_for(rules.worlds, split, protocol)
    table = score(
        judged,
        split,
        worlds,
        suite=rules.suite,
        protocol=protocol,
        missing=rules.missing,
        times=rules.times,
        objects=_find_boxes(rules, protocol),
    )
    if out is not None:
        table = _write_scores(table, entry, rules, Path(out), command_words)
    return Judgement(
        challenge=rules.name,
        entry=claimed.source,
        badge="replayed" if with_actions else "scored",
        episodes=len(table),
        missing=int(table.missing.sum()),
        stopped=sum(trajectory.ending is Ending.STOPPED for trajectory in judged),
        failed=sum(trajectory.ending is Ending.FAILED for trajectory in judged),
        differences=differences,
        scores=table,
    )


def load_episodes(rules: Challenge) -> Split:
    """The episodes that an entry must answer: those of the tours, where there are tours."""
    split = load_split(rules.tasks, tours=rules.tours, reference=rules.reference)
    split.require_goals("A challenge is judged by its host: give the tasks that have their goals.")
    if split.tours:
        on_tours = {name for tour in split.tours for name in tour.episode_ids}
        split = replace(split, episodes=tuple(episode for episode in split if episode.id in on_tours))
    return split


def load_rules(rules: Challenge, split: Split) -> Protocol:
    from itinera.runs.config import require_matching, select_protocol
    from itinera.simulators.factory import apply_drive

    wmax = None if rules.wmax_deg is None else math.radians(rules.wmax_deg)
    protocol = apply_drive(select_protocol(rules.protocol, split), rules.drive, vmax=rules.vmax, wmax=wmax)
    require_matching(protocol, split)
    return protocol


def _check_entry(claimed: Predictions, split: Split, rules: Challenge) -> bool:
    """Whether the entry has actions; raises BadFile for every episode that is unknown, doubled, empty or missing."""
    from itinera.runs.replay import find_entry_faults

    faults = list(find_entry_faults(claimed, split))
    if rules.missing == "fail":
        remedy = "The challenge requires a trajectory for every episode."
        faults += [
            Fault(f'episode "{episode.id}"', "has no trajectory.", remedy)
            for episode in split
            if episode.id not in claimed
        ]
    without = [trajectory.episode_id for trajectory in claimed if trajectory.actions is None]
    if without and rules.positions == "refuse":
        remedy = "The challenge replays actions: send the predictions of `itinera run`."
        faults += [Fault(f'episode "{name}"', "has no actions.", remedy) for name in without]
    if faults:
        raise BadFile(claimed.source, faults)
    return not without


def _replay(
    claimed: Predictions,
    split: Split,
    worlds: Mapping[str, World],
    protocol: Protocol,
    progress: Callable[[int], None] | None,
) -> tuple[Predictions, tuple[Difference, ...]]:
    """The trajectories that the actions of an entry give on the host's tours, and where they differ."""
    from itinera.records import Predictions
    from itinera.runs.replay import replay_tours
    from itinera.simulators.factory import make_simulator

    rollouts: list[Rollout] = []
    differences: list[Difference] = []
    for rollout, found in replay_tours(claimed, split, make_simulator(protocol), worlds, protocol=protocol):
        rollouts.append(_add_answers(rollout, claimed))
        differences += found
        if progress is not None:
            progress(1)
    return Predictions(claimed.source, tuple(rollouts)), tuple(differences)


def _add_answers(rollout: Rollout, claimed: Predictions) -> Rollout:
    """The rollout with the objects that the entry names: answers, which no replay can give."""
    trajectories = [
        replace(t, object_id=claimed[t.episode_id].object_id, object_direction=claimed[t.episode_id].object_direction)
        if t.episode_id in claimed
        else t
        for t in rollout.trajectories
    ]
    return replace(rollout, trajectories=tuple(trajectories))


def _find_boxes(rules: Challenge, protocol: Protocol) -> Path | None:
    """The boxes of the challenge, or those of its Hearth season where the suite needs some."""
    from itinera.formats.annotations import WorldFiles
    from itinera.metrics.suites import SUITES, default_suite

    make = SUITES.get(rules.suite or default_suite(protocol))
    needed = make is not None and make(protocol).needs_objects
    return WorldFiles(rules.worlds, rules.objects).boxes if needed else rules.objects


def _write_scores(
    table: ScoreTable, entry: Predictions | File, rules: Challenge, out: Path, command_words: Sequence[str]
) -> ScoreTable:
    from itinera.formats.bundles import write_scores
    from itinera.records.provenance import make_provenance

    used = {"predictions": entry, "tasks": rules.tasks, "worlds": rules.worlds, "tours": rules.tours,
            "reference": rules.reference, "times": rules.times, "objects": rules.objects}  # fmt: skip
    table = replace(table, provenance=make_provenance(input_paths(used), command_words))
    write_scores(out, table)
    return table
