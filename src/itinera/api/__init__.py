"""The functions of `import itinera`: everything the command line can do, in one call each.

Arguments are objects or paths: tasks, worlds, predictions and scores may be given as read, or as the file they are in.
Every function imports what it needs when called, so that the package loads quickly.
"""

from __future__ import annotations

from itinera.api.adopting import adopt
from itinera.api.attacking import attack
from itinera.api.building import build_ablated, build_hearth, build_r4r, build_tours
from itinera.api.comparing import compare, compare_solved, power
from itinera.api.exporting import export_hearth, export_hub, export_logs
from itinera.api.files import check, conformance, convert, doctor, verify_data
from itinera.api.first_faults import first_faults
from itinera.api.gathering import gather
from itinera.api.judging import judge, read_challenge
from itinera.api.planning import fastest, fastest_times, read_map
from itinera.api.pointnav import train_pointnav
from itinera.api.reporting import describe, find_failures, report, show
from itinera.api.running import check_agent, load_agent, replay, reproduce, rollout, run
from itinera.api.scoring import audit, read_predictions, read_scores, read_tasks, read_worlds, score
from itinera.api.serving import create_challenge, host, restore_challenge, serve, submit, work
from itinera.api.skills import analyze_study, design_study, export_study, import_study, read_study, run_study
from itinera.api.subsets import estimate_split, sample_episodes
from itinera.api.training import read_recipe, train, train_segmentation
from itinera.api.viewing import view

__all__ = [
    "adopt",
    "analyze_study",
    "attack",
    "audit",
    "build_ablated",
    "build_hearth",
    "build_r4r",
    "build_tours",
    "check",
    "check_agent",
    "compare",
    "compare_solved",
    "conformance",
    "convert",
    "create_challenge",
    "describe",
    "design_study",
    "doctor",
    "estimate_split",
    "export_hearth",
    "export_hub",
    "export_logs",
    "export_study",
    "fastest",
    "fastest_times",
    "find_failures",
    "first_faults",
    "gather",
    "host",
    "import_study",
    "judge",
    "load_agent",
    "power",
    "read_challenge",
    "read_map",
    "read_predictions",
    "read_recipe",
    "read_scores",
    "read_study",
    "read_tasks",
    "read_worlds",
    "replay",
    "report",
    "reproduce",
    "restore_challenge",
    "rollout",
    "run",
    "run_study",
    "sample_episodes",
    "score",
    "serve",
    "show",
    "submit",
    "train",
    "train_pointnav",
    "train_segmentation",
    "verify_data",
    "view",
    "work",
]
