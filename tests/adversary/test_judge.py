"""Forged entries to a challenge: each is refused, or scores what its actions deserve.

The tasks are those of `tiny`: five episodes, whose goals are two nodes (4 m) from the start; the success radius is 3 m.
The honest entry walks there. All others are forged from the entry of an agent that stops at once, which deserves SR 0,
SPL 0 and NE 4 m, whatever it claims.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import itinera
import tiny
from itinera.errors import BadFile
from itinera.tasks import PROTOCOLS

Lines = list[Any]  # header and rollouts of a predictions file
EPISODES = ("1_0", "1_1", "2_0", "3_0", "3_1")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tiny.Files:
    made = tiny.on_graphs(tmp_path_factory.mktemp("challenge"))
    for name, agent in (("honest", "expert"), ("still", "still")):
        itinera.run(agent, made.tasks, made.worlds, workers=0, out=made.folder / f"{name}.jsonl")
    made.write("challenge.toml", 'name = "May"\ntasks = "R2R_tiny.json"\nworlds = "connectivity"\nprotocol = "r2r"\n')
    return made


@pytest.fixture
def still(files: tiny.Files) -> Lines:
    return [json.loads(line) for line in (files.folder / "still.jsonl").read_text().splitlines()]


def write(folder: Path, lines: Lines) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return tiny.written(folder / "entry.jsonl", "".join(f"{text}\n" for text in texts))


def trajectory(lines: Lines, episode_id: str) -> dict[str, Any]:
    for rollout in lines[1:]:
        for one in rollout["trajectories"]:
            if one["episode_id"] == episode_id:
                return one
    raise KeyError(episode_id)


def claim(lines: Lines, episode_id: str, places: str, actions: list[int], **fields: Any) -> None:
    """Let a trajectory claim these places and actions."""
    one = trajectory(lines, episode_id)
    one |= {"places": list(places), "actions": actions, **fields}
    for column in ("headings", "elevations"):
        one.pop(column, None)


def means(judgement: Any) -> dict[str, float]:
    return {name: round(judgement.scores.mean(name), 6) for name in ("SR", "SPL", "NE")}


STAYED = {"SR": 0.0, "SPL": 0.0, "NE": 4.0}


def test_an_honest_entry_passes(files: tiny.Files) -> None:
    judgement = itinera.judge(files.folder / "honest.jsonl", files.folder)
    assert means(judgement) == {"SR": 1.0, "SPL": 1.0, "NE": 0.0}
    assert (judgement.badge, judgement.episodes, judgement.missing, judgement.differences) == ("replayed", 5, 0, ())
    assert judgement.summary == (
        "replayed: 5 of 5 episodes replayed under protocol r2r (fdb2e8f855b4b0ed); 0 missing, counted as failures; "
        "0 differ from what the entry claims, and are scored as replayed."
    )
    assert means(itinera.judge(files.folder / "still.jsonl", files.folder / "challenge.toml")) == STAYED


PROTOCOL_FIELDS = {
    "name": "r2r-ce",
    "version": 2,
    "success_radius": 1000.0,
    "needs_stop": True,
    "step_limit": 1000,
    "step_size": 100.0,
    "turn_angle": 3.0,
    "tilt_angle": 1.0,
    "sliding": True,
    "robot_radius": 0.01,
    "robot_height": 0.01,
    "guidance": {"to_goal": True},
    "drive": "unicycle-15",
}


@pytest.mark.parametrize("field", PROTOCOL_FIELDS)
def test_an_entry_cannot_bring_its_own_rules(files: tiny.Files, still: Lines, tmp_path: Path, field: str) -> None:
    still[0]["protocol"][field] = PROTOCOL_FIELDS[field]
    entry = write(tmp_path, still)
    with pytest.raises(BadFile, match=f"the predictions carry .*{field} .* instead of"):
        itinera.judge(entry, files.folder)
    # The same commands that a host would type without a challenge refuse it too, and say how to go on.
    for call in (itinera.score, itinera.replay):
        with pytest.raises(BadFile, match="--protocol"):
            call(entry, files.tasks, files.worlds)
    with pytest.raises(BadFile, match="--protocol"):
        itinera.check(entry, tasks=files.tasks, worlds=files.worlds)
    scores = itinera.score(entry, files.tasks, files.worlds, protocol="r2r")
    assert (scores.mean("SR"), scores.protocol) == (0.0, PROTOCOLS["r2r"])


OUT_OF_RANGE = {
    "success_radius": [0.0, -3.0, 1e300],
    "step_limit": [0, -1],
    "step_size": [0.0, -0.25],
    "turn_angle": [0.0],
    "tilt_angle": [-1.0],
    "robot_radius": [0.0],
    "robot_height": [-1.5],
    "version": [0],
    "name": ["r2r\u200b", "r2r ", "р2р"],
    "guidance": [{"step_limit": 0}, {"radius": 0.0}, {"goal_distance": -1.0}, {"heading_tolerance": 0.0}],
}


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field in OUT_OF_RANGE for value in OUT_OF_RANGE[field]]
)
def test_protocols_out_of_range_are_refused_where_they_are_read(
    still: Lines, tmp_path: Path, field: str, value: Any
) -> None:
    still[0]["protocol"][field] = value
    with pytest.raises(BadFile, match=rf"line 1, field protocol\.{field}"):
        itinera.read_predictions(write(tmp_path, still))


def double_in_a_rollout(lines: Lines) -> None:
    lines[1]["trajectories"] *= 2


def double_in_two_rollouts(lines: Lines) -> None:
    lines.append(lines[1])


def double_with_another_tour_id(lines: Lines) -> None:
    lines.append({**lines[1], "tour_id": "again"})


def empty_rollout(lines: Lines) -> None:
    lines[1]["trajectories"] = []


def no_rollouts(lines: Lines) -> None:
    del lines[1:]


def no_places(lines: Lines) -> None:
    claim(lines, "1_0", "", [])


def no_acting_places(lines: Lines) -> None:
    trajectory(lines, "1_0")["phases"] = ["guided to goal"]


def another_episode(lines: Lines) -> None:
    trajectory(lines, "1_0")["episode_id"] = "9_9"


def no_actions(lines: Lines) -> None:
    del trajectory(lines, "1_0")["actions"]


def too_few_actions(lines: Lines) -> None:
    trajectory(lines, "1_0")["places"] = ["a", "b", "c"]


def not_a_number(lines: Lines) -> None:
    lines[1] = json.dumps(lines[1]).replace('"headings": [', '"headings": [NaN, ')


def absurd_action(lines: Lines) -> None:
    claim(lines, "1_0", "ab", [2**70])


def positions_on_a_graph_without_actions(lines: Lines) -> None:
    one = trajectory(lines, "1_0")
    one["places"] = [[0.0, 0.0, 0.0]]
    del one["actions"]


def another_kind_of_file(lines: Lines) -> None:
    lines[0]["itinera"] = "scores"


def unknown_ending(lines: Lines) -> None:
    trajectory(lines, "1_0")["ending"] = "succeeded"


def unknown_phase(lines: Lines) -> None:
    trajectory(lines, "1_0")["phases"] = ["teleported"]


REFUSED: dict[Callable[[Lines], None], str] = {
    double_in_a_rollout: "has two trajectories",
    double_in_two_rollouts: "has two trajectories",
    double_with_another_tour_id: "has two trajectories",
    empty_rollout: "has no trajectories",
    no_rollouts: "contains no rollouts",
    no_places: "at least one",
    no_acting_places: "has no places",
    another_episode: 'episode "9_9": is not in ',
    no_actions: "has no actions",
    too_few_actions: "actions",
    not_a_number: "line 2",
    absurd_action: "line 2",
    positions_on_a_graph_without_actions: "has no actions",
    another_kind_of_file: "where predictions are expected",
    unknown_ending: "ending",
    unknown_phase: "phases",
}


@pytest.mark.parametrize("forge", REFUSED, ids=lambda forge: forge.__name__)
def test_malformed_entries_are_refused_with_a_reason(
    files: tiny.Files, still: Lines, tmp_path: Path, forge: Callable[[Lines], None]
) -> None:
    forge(still)
    entry = write(tmp_path, still)
    with pytest.raises(BadFile, match=REFUSED[forge]):
        itinera.judge(entry, files.folder)


def claim_the_goal_by_a_jump(lines: Lines) -> None:
    claim(lines, "1_0", "ac", [-1])


def claim_the_goal_by_steps_that_were_not_taken(lines: Lines) -> None:
    claim(lines, "1_0", "abc", [-1, -1])


def claim_the_goal_by_actions_that_do_not_exist(lines: Lines) -> None:
    claim(lines, "1_0", "abc", [7, 7])


def claim_a_start_at_the_goal(lines: Lines) -> None:
    claim(lines, "1_0", "c", [])


def claim_places_of_another_world(lines: Lines) -> None:
    claim(lines, "1_0", "r", [])


def claim_unknown_nodes(lines: Lines) -> None:
    claim(lines, "1_0", "z", [])


def claim_guidance_to_the_goal(lines: Lines) -> None:
    claim(lines, "1_0", "abc", [1, 1], phases=["acting", "guided to goal", "guided to goal"])


def claim_guidance_before_acting_at_the_goal(lines: Lines) -> None:
    claim(lines, "1_0", "abc", [1, 1], phases=["guided to start", "guided to start", "acting"])


def claim_guidance_within_acting(lines: Lines) -> None:
    claim(lines, "1_0", "abc", [1, 1], phases=["acting", "guided to start", "guided to start"])


def claim_failure(lines: Lines) -> None:
    trajectory(lines, "1_0")["ending"] = "failed"


def claim_out_of_steps(lines: Lines) -> None:
    trajectory(lines, "1_0")["ending"] = "out of steps"


def claim_a_lost_body(lines: Lines) -> None:
    trajectory(lines, "1_0").update(ending="failed", notes={"lost": True})


def claim_times(lines: Lines) -> None:
    trajectory(lines, "1_0")["times"] = [-1e9]


def claim_probabilities(lines: Lines) -> None:
    log = {"candidates": [["stop", "c"]], "probabilities": [[0.0, 1.0]]}
    trajectory(lines, "1_0")["action_log"] = log


def claim_headings(lines: Lines) -> None:
    trajectory(lines, "1_0")["headings"] = [99.0]


def claim_provenance(lines: Lines) -> None:
    lines[0]["provenance"] = {"version": "99", "seed": 7, "command": ["itinera", "run", "--agent", "expert"]}


def claim_scores_in_notes(lines: Lines) -> None:
    trajectory(lines, "1_0")["notes"] = {"SR": 1.0, "goal": "a", "goals": ["a"]}


def claim_a_tour(lines: Lines) -> None:
    both = [trajectory(lines, "1_0"), trajectory(lines, "2_0")]
    kept = [rollout for rollout in lines[1:] if rollout["trajectories"][0] not in both]
    lines[1:] = [{"tour_id": "tour", "trajectories": both}, *kept]


def carry_no_protocol(lines: Lines) -> None:
    del lines[0]["protocol"]


def name_unknown_fields(lines: Lines) -> None:
    lines[0]["success_radius"] = 1000.0
    trajectory(lines, "1_0")["success"] = True


CLAIMS = (
    claim_the_goal_by_a_jump,
    claim_the_goal_by_steps_that_were_not_taken,
    claim_the_goal_by_actions_that_do_not_exist,
    claim_a_start_at_the_goal,
    claim_places_of_another_world,
    claim_unknown_nodes,
    claim_guidance_to_the_goal,
    claim_guidance_before_acting_at_the_goal,
    claim_guidance_within_acting,
    claim_failure,
    claim_out_of_steps,
    claim_a_lost_body,
    claim_times,
    claim_probabilities,
    claim_headings,
    claim_provenance,
    claim_scores_in_notes,
    claim_a_tour,
    carry_no_protocol,
    name_unknown_fields,
)


@pytest.mark.parametrize("forge", CLAIMS, ids=lambda forge: forge.__name__)
def test_claims_earn_nothing(files: tiny.Files, still: Lines, tmp_path: Path, forge: Callable[[Lines], None]) -> None:
    forge(still)
    assert means(itinera.judge(write(tmp_path, still), files.folder)) == STAYED


def test_a_claimed_success_is_reported_as_a_difference(files: tiny.Files, still: Lines, tmp_path: Path) -> None:
    claim_the_goal_by_a_jump(still)
    judgement = itinera.judge(write(tmp_path, still), files.folder)
    (difference,) = judgement.differences
    assert (difference.episode_id, difference.field, difference.stored, difference.found) == (
        "1_0",
        "actions",
        "-1",
        "nothing",
    )
    assert "1 differ from what the entry claims" in judgement.summary


def actions_along(files: tiny.Files, scan: str, nodes: str) -> list[int]:
    """The actions that lead along nodes: the number of each among the neighbors of the one before."""
    from itinera.simulators.candidates import graph_candidates

    candidates = graph_candidates(itinera.read_worlds(files.worlds)[scan].space)
    return [1 + candidates[a].nodes.index(b) for a, b in itertools.pairwise(nodes)]


def test_actions_after_the_step_limit_do_not_count(
    files: tiny.Files, still: Lines, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # From c to b, then back and forth: after 15 steps at b, 6 m from the goal e. The next steps would lead there.
    nodes = "c" + "ba" * 7 + "b" + "cde"
    claim(still, "2_0", nodes, actions_along(files, "house", nodes))
    judgement = itinera.judge(write(tmp_path, still), files.folder)
    assert means(judgement) == {"SR": 0.0, "SPL": 0.0, "NE": (4 * 4 + 6) / 5}
    with caplog.at_level("INFO", logger="itinera"):
        itinera.score(tmp_path / "entry.jsonl", files.tasks, files.worlds)
    assert "1 trajectory has more moves (up to 18) than protocol r2r allows steps (15)" in caplog.text
    report = itinera.check(tmp_path / "entry.jsonl", tasks=files.tasks, worlds=files.worlds)
    assert report.counts["beyond the step limit"] == 1


def test_a_detour_is_scored_as_it_was_taken(files: tiny.Files, still: Lines, tmp_path: Path) -> None:
    """The entry calls a detour guidance. Its other actions lead from p to q and on to r, the goal."""
    actions = actions_along(files, "hut", "pqpqr")
    phases = ["acting", "guided to start", "guided to start", "acting", "acting"]
    claim(still, "3_1", "pqpqr", actions, phases=phases)
    entry = write(tmp_path, still)
    judgement = itinera.judge(entry, files.folder)
    assert means(judgement) == {"SR": 1 / 5, "SPL": 1 / 5, "NE": 16 / 5}
    assert [difference.episode_id for difference in judgement.differences] == ["3_1"]
    with pytest.raises(BadFile, match="guidance interrupts the acting phase"):
        itinera.score(entry, files.tasks, files.worlds)


def test_missing_episodes_count_as_failures_or_are_refused(files: tiny.Files, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (files.folder / "honest.jsonl").read_text().splitlines()]
    entry = write(tmp_path, lines[:2])
    judgement = itinera.judge(entry, files.folder)
    assert (judgement.missing, judgement.episodes, means(judgement)["SR"]) == (4, 5, 1 / 5)
    strict = itinera.read_challenge(files.folder)
    with pytest.raises(BadFile, match='episode "3_1": has no trajectory'):
        itinera.judge(entry, replace(strict, missing="fail"))


def test_entries_without_actions_are_refused_or_marked(files: tiny.Files, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="has no actions"):
        itinera.judge(files.predictions, files.folder)
    lenient = replace(itinera.read_challenge(files.folder), positions="allow")
    judgement = itinera.judge(files.predictions, lenient)
    assert judgement.badge == "scored"
    assert judgement.summary.startswith("scored: 5 of 5 episodes scored without a replay under protocol r2r")
    assert judgement.scores.mean("SR") == pytest.approx(tiny.MEANS["SR"])
    jump = tiny.written(tmp_path / "jump.json", tiny.predictions({**tiny.WALKS, "1_1": "ac"}))
    with pytest.raises(BadFile, match="which no edge joins"):
        itinera.judge(jump, lenient)


@pytest.fixture(scope="module")
def tours(files: tiny.Files) -> Path:
    folder = files.folder
    itinera.run("still", files.tasks, files.worlds, tours=files.tours, workers=0, out=folder / "tours-still.jsonl")
    rules = 'tasks = "R2R_tiny.json"\nworlds = "connectivity"\ntours = "tours.json"\n'
    return files.write("tours.toml", rules)


def test_tours_are_replayed_with_the_guidance_of_the_host(files: tiny.Files, tours: Path, tmp_path: Path) -> None:
    honest = itinera.judge(files.folder / "tours-still.jsonl", tours)
    assert (means(honest), honest.differences) == (STAYED, ())
    assert honest.scores.protocol == PROTOCOLS["ivln"]
    lines = [json.loads(line) for line in (files.folder / "tours-still.jsonl").read_text().splitlines()]
    # The first episode stays at a, and is guided to c. Claimed as acting, these are actions of the agent.
    guided = trajectory(lines, "1_0")
    assert guided["phases"] == ["acting", "guided to goal", "guided to goal"]
    claimed = copy.deepcopy(lines)
    del trajectory(claimed, "1_0")["phases"]
    assert means(itinera.judge(write(tmp_path, claimed), tours)) == {"SR": 1 / 5, "SPL": 1 / 5, "NE": 16 / 5}
    # Without the guided places, the host guides the agent all the same.
    claimed = copy.deepcopy(lines)
    claim(claimed, "1_0", "a", [])
    del trajectory(claimed, "1_0")["phases"]
    judgement = itinera.judge(write(tmp_path, claimed), tours)
    assert means(judgement) == STAYED
    assert [difference.episode_id for difference in judgement.differences] == ["1_0"]


def test_another_order_of_tours_is_not_the_entrys_to_choose(files: tiny.Files, tours: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (files.folder / "tours-still.jsonl").read_text().splitlines()]
    lines[1]["trajectories"].reverse()
    assert means(itinera.judge(write(tmp_path, lines), tours)) == STAYED
    with pytest.raises(BadFile, match="visits other episodes than the tour"):
        itinera.replay(tmp_path / "entry.jsonl", files.tasks, files.worlds, tours=files.tours)


@pytest.mark.slow
def test_a_season_of_houses_is_judged_the_same_way(tmp_path: Path) -> None:
    """The forgeries above on the episodes of a house, as in the tutorial for hosts; goals are 5 m away or more."""
    season, tasks = tmp_path / "season", tmp_path / "season" / "r2r" / "R2R_test.json"
    itinera.build_hearth(season, houses=3, splits=("test",), workers=0)
    for agent in ("expert", "still"):
        itinera.run(agent, tasks, season, workers=0, out=tmp_path / f"{agent}.jsonl")
    challenge = replace(
        itinera.read_challenge(
            tiny.written(tmp_path / "challenge.toml", 'tasks = "season/r2r/R2R_test.json"\nworlds = "season"\n')
        ),
        protocol="r2r",
    )
    honest = itinera.judge(tmp_path / "expert.jsonl", challenge)
    assert (honest.missing, honest.differences, honest.scores.mean("SR")) == (0, (), 1.0)
    first, second = itinera.read_tasks(tasks).episodes[:2]
    ids = {"1_0": first.id, "2_0": second.id}
    path = [str(node) for node in first.reference]
    nodes = {"a": path[0], "b": path[1], "c": path[-1]}
    source = [json.loads(line) for line in (tmp_path / "still.jsonl").read_text().splitlines()]

    def forge(change: Callable[[Lines], None]) -> Path:
        """The entry after a change that is written for the names of the tiny benchmark."""
        lines = copy.deepcopy(source)
        for name, episode_id in ids.items():
            trajectory(lines, episode_id)["episode_id"] = name
        change(lines)
        for rollout in lines[1:]:
            for one in rollout["trajectories"] if isinstance(rollout, dict) else ():
                one["episode_id"] = ids.get(one["episode_id"], one["episode_id"])
                one["places"] = [nodes.get(p, p) if isinstance(p, str) else p for p in one["places"]]
        return write(tmp_path, lines)

    for field, value in PROTOCOL_FIELDS.items():
        with pytest.raises(BadFile, match="the predictions carry"):
            itinera.judge(forge(lambda lines, f=field, v=value: lines[0]["protocol"].update({f: v})), challenge)
    for change, message in REFUSED.items():
        with pytest.raises(BadFile, match=message):
            itinera.judge(forge(change), challenge)
    for change in CLAIMS:
        assert itinera.judge(forge(change), challenge).scores.mean("SR") == 0.0
