"""A tiny file in every format the catalogue knows, as its users write it: one entry per name."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import Any

import tiny

START = {"position": [0.0, 0.5, -1.0], "heading": 0.0, "stop": False}
STEP = {"position": [0.0, 0.5, -1.0], "phase": "agent", "episode_id": "4"}
NDH: dict[str, Any] = {
    "inst_idx": 3,
    "scan": "house",
    "target": "lamp",
    "start_pano": {"pano": "a", "heading": 0.0, "elevation": 17.5},
    "end_panos": ["c"],
    "planner_path": ["a", "b"],
    "player_path": ["a", "b", "c"],
    "dialog_history": [{"nav_idx": 0, "role": "navigator", "message": "where to?"}],
}
GUIDE: dict[str, Any] = {
    "path_id": 11,
    "scan": "house",
    "heading": 0.0,
    "path": ["a", "b"],
    "instruction_id": 26,
    "language": "en-IN",
    "instruction": "Walk on.",
    "timed_instruction": [{"word": "Walk", "start_time": 0.4, "end_time": 1.0}],
}
FOLLOWER = {"demonstration_id": 31, "instruction_id": 26, "path": ["a", "b"], "metrics": {"ne": 0.0}}
REVERIE = {"scan": "house", "id": "7_66", "path_id": 7, "objId": 66, "path": ["a", "b"], "heading": 0.5,
           "instructions": ["Wipe the table"]}  # fmt: skip
SOON = {"path_id": "12-1", "scan": "house", "path": ["a", "b"], "instructions": [{"full": "A round table."}],
        "bboxes": [{"image_id": "b", "target": {corner: {"heading": 0.5, "elevation": 0.25} for corner in (
            "left_top", "right_top", "right_bottom", "left_bottom", "center")}}]}  # fmt: skip
POINT = {"episode_id": 4, "scene_id": "hearth/house/house.glb", "start_position": [0.0, 0.5, -1.0],
         "start_rotation": [0.0, 0.0, 0.0, 1.0], "goals": [{"position": [3.0, 0.5, -1.0], "radius": 0.2}],
         "info": {"geodesic_distance": 3.5}, "shortest_paths": None}  # fmt: skip
TRIAL = {"id": "1_0_2.stop.control", "skill": "stop", "arm": "control", "world_id": "house", "heading": 0.5,
         "path": ["a", "b"], "text": "Go.", "goals": ["b"], "path_id": "1", "source": "1_0",
         "target": {"stop": True}}  # fmt: skip
SCENARIO = {"scenario_id": "matterport_11", "source_envset": "test/human/a.json", "termination_reason": "stop_action",
            "steps": 1, "time_s": 0.5, "path_length": 0.25, "stop_step": 1, "trajectory": [
                {"step": 0, "time_s": 0.0, "position": [0.0, 1.0, 0.5], "orientation": [1.0, 0.0, 0.0, 0.0]},
                {"step": 1, "time_s": 0.5, "position": [0.25, 1.0, 0.5],
                 "orientation": [1.0, 0.0, 0.0, 0.0]}]}  # fmt: skip
CASE = {"instr_id": "4332_1", "trajectory": [["a"], ["b", "c"]], "a_t": {"0": "A"}, "scan": "house",
        "gt_traj": ["a", "b"], "evaluation": {"success": [1.0]}}  # fmt: skip
PROTOCOL = {"name": "r2r", "success_radius": 3.0}


def _lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


_TEXTS: dict[str, str] = {
    "native-predictions": _lines(
        {"itinera": "predictions", "protocol": PROTOCOL},
        {"tour_id": "1_0", "trajectories": [{"episode_id": "1_0", "places": ["a", "b"], "headings": [0.0, 1.0],
         "collided": [True], "followed": [False], "thinking": [0.5, 0.0], "ending": "stuck"}]},
    ),
    "vlln": _lines({"scene_id": "house", "episode_id": 4, "success": 1.0, "spl": 0.5, "os": 1.0, "ne": 0.5, "steps": 2,
                    "episode_instruction": "search for sofa.", "path": [[0.0, 0.5, -1.0], [0.0, 0.5, -1.25]],
                    "action": [1, 0], "object_category": "sofa"}),
    "omninavbench": json.dumps(SCENARIO),
    "native-tasks": _lines(
        {"itinera": "tasks", "name": "tiny", "judged_by": "r2r"},
        {"id": "1_0", "world_id": "house", "start": "a", "goals": ["b"], "reference": ["a", "b"], "text": "go",
         "alignment": {"words": ["go"], "first": [0], "last": [1], "begins": [0.5], "ends": [None]}},
        {"tour_id": "0", "world_id": "house", "episode_ids": ["1_0"]},
    ),
    "times": _lines(
        {"itinera": "times", "robot": {"dynamics": "unicycle", "vmax": 0.25, "wmax": 0.2, "radius": 0.2}},
        {"episode_id": "1_0", "lower": 10.5, "upper": 11.0},
        {"episode_id": "1_1", "lower": "inf", "upper": "inf"},
    ),
    "trials": _lines(
        {
            "itinera": "trials",
            "name": "tiny",
            "filter_counts": {"stop": {"candidates": 2, "kept": 1, "dropped": {"no": 1}}},
        },
        TRIAL | {"id": "1_0_2.stop", "arm": "intervention", "control_id": "1_0_2.stop.control", "text": "Go. Stop."},
        TRIAL,
    ),
    "action-probabilities": _lines(
        {"itinera": "action-probabilities", "agent": "reader"},
        {"trial_id": "1_0_2.stop", "heading": 0.5, "nodes": ["a", "c"], "headings": [3.1, 0.0],
         "probabilities": [0.5, 0.25, 0.25], "greedy_path": ["b", "a"]},
        {"trial_id": "1_0_2.stop.control", "failed": "ValueError: no"},
    ),
    "map-recordings": _lines(
        {"itinera": "map-recordings", "plan": "p"},
        {"episode_id": "1_0", "steps": [0, 2], "size": 2, "cell": 0.1, "legend": [["void", [0, 0, 0]]],
         "content": base64.b64encode(zlib.compress(bytes(24))).decode()},
    ),
    "r2r-submission": json.dumps(tiny.predictions()),
    "ndh": json.dumps([NDH]),
    "fgr2r": json.dumps([tiny.path(1, "house", "ab", new_instructions="[[['go', 'on']]]", chunk_view=[[[1, 2]]])]),
    "reverie": json.dumps([REVERIE]),
    "r2r": json.dumps(tiny.PATHS),
    "soon": _lines(SOON),
    "soon-submission": json.dumps([{"instr_id": "12-1_0", "trajectory": {"path": [["a"], ["b", "c"]],
                                    "obj_heading": [0.25], "obj_elevation": [0.5]}}]),
    "rxr-followers": _lines(FOLLOWER),
    "rxr": _lines(GUIDE),
    "rxr-ce-submission": _lines({"instruction_id": 3, "path": [[0.0, 0.5, -1.0], [1.0, 0.5, -1.0]]}),
    "rxr-submission": _lines({"instruction_id": 26, "path": ["a", "b"]}),
    "pointnav": json.dumps({"episodes": [POINT]}),
    "vlnce": json.dumps(tiny.GROUND),
    "vlnce-dense": json.dumps(tiny.DENSE),
    "ivln-ce-predictions": json.dumps({"0": [STEP, STEP | {"phase": "oracle_goal"}]}),
    "vlnce-submission": json.dumps({"7": [START, START | {"stop": True}]}),
    "ivln-ce-targets": json.dumps({"val_unseen": {"0": [STEP]}}),
    "graphs": json.dumps(
        {"house": {"frame": "z-up", "nodes": {"a": [0, 0, 0], "b": [3.0, 4.0, 0.0]}, "edges": [["a", "b", 5.0]]}}
    ),
    "ivln-tours": json.dumps({"val_unseen": {"house": [["1_0", "2_0"]], "hut": [["3_0"]]}}),
    "positions": "episode_id,x,y,z,time\n1,0,0,0,0\n1,2.5,0,0,1.5\n",
    "rooms": "scan,viewpoint,included,room_code,room_label,region_id\nhouse,a,1,k,kitchen,0\n",
    "robot-csv": "Timestamp,battery,x,y,yaw_deg\n100.0,9,0,0,0\n101.5,9,0.3,0.1,30\n",
    "tum": "# timestamp tx ty tz qx qy qz qw\n100.0 0 0 0 0 0 0 1\n101.5 0.3 0.1 0 0 0 0.258819045 0.965925826\n",
}  # fmt: skip


def _bundle() -> str:
    """A result bundle; its digest is of the whole file as it is without one."""
    header = {"itinera": "scores", "protocol": PROTOCOL, "suite": "paper", "columns": [{"name": "SR"}], "digest": ""}
    text = _lines(header, {"episode_id": "1_0", "world_id": "house", "path_id": "1", "SR": 1.0})
    digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return text.replace('"digest": ""', f'"digest": "{digest}"')


def _subset() -> str:
    """A subset of two of three episodes; its digests are those of its ids and of the split."""
    digest = hashlib.blake2b(json.dumps(["1_0", "2_0"]).encode(), digest_size=8).hexdigest()
    pairs = [["1_0", "house"], ["1_1", "house"], ["2_0", "house"]]
    split_digest = hashlib.blake2b(json.dumps(pairs).encode(), digest_size=8).hexdigest()
    sample = [{"episodes": 2, "ids": ["1_0"]}, {"episodes": 1, "ids": ["2_0"]}]
    return json.dumps({
        "itinera": "subset", "split": "tiny", "episodes": 3, "split_digest": split_digest, "digest": digest,
        "by": ["scene"], "seed": 0, "stated_error": {"at_most": 0.5, "expected": {"SR": 0.25}, "reference": "a.jsonl"},
        "ids": ["1_0", "2_0"], "scenes": {"house": 3},
        "strata": [{"name": "house", "paths": 2, "episodes": 3, "sample": sample}],
    })  # fmt: skip


EXAMPLES = {name: text.encode() for name, text in (_TEXTS | {"scores": _bundle(), "subset": _subset()}).items()}

PANORAMA = {"image_id": "a", "pose": [1.0, 0.0, 0.0, 0.0] * 4, "included": True, "unobstructed": [False]}
SEEN = {"a": {"3": {"name": "coffee#table", "visible_pos": [7], "bbox2d": [[1, 2, 3, 4]]}}}

# Formats that are folders or archives: the name of one file in them and its content.
ARCHIVED = {
    "connectivity": ("house_connectivity.json", json.dumps([PANORAMA]).encode()),
    "robot-logs": ("7.csv", b"time,x,y\n0,0,0\n1,0.25,0\n"),
    "bbox": ("house_a.json", json.dumps(SEEN).encode()),
    "case-files": ("case_InstrID_4332_1.json", json.dumps(CASE).encode()),
    "omninavbench-results": ("matterport_11.json", json.dumps(SCENARIO).encode()),
}
