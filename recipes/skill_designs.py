"""The number of intervention trials, and what every filter dropped: R2R val-unseen, and a Hearth season.

The trials of "Behavioral Analysis of Vision-and-Language Navigation Agents" (Yang et al. 2023) are truncated RxR
episodes. Here R2R is truncated where Fine-Grained R2R's sub-instructions end, with REVERIE's objects and Matterport's
rooms; Hearth, where its speakers reached a node. A season (a folder of `itinera build hearth`) is counted too.

    ITINERA_DATA=… python recipes/skill_designs.py [SEASON]

Expected on R2R val-unseen: 4,943 of 4,944 truncation points; stop 4,943; directions 2,051 to 4,338; objects 507 with
the built-in table of categories; rooms 6,212 one step away, 11,839 to 16,820 exactly 2 to 8. The paper has 8,221
truncation points, 3,091 to 6,745 for directions, 839 for objects, 8,614 and 17,204 to 27,454 for rooms: similar as
shares of the truncation points.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from itinera.formats import fgr2r
from itinera.formats.annotations import WorldFiles, read_aligned_tasks
from itinera.formats.hearth_season import split_files
from itinera.formats.trials import FilterCounts
from itinera.records.tables import TextTable
from itinera.simulators.candidates import graph_candidates
from itinera.skills.objects import count_unknown_names
from itinera.skills.registry import Variant, make_skills, select_skills
from itinera.skills.trials import design, require_graph
from itinera.skills.truncation import TRUNCATION_RULES, Truncations, truncate
from itinera.tasks import Split
from itinera.worlds import World

PRINTED = {"truncation": "8221", "stop": "8221", "object": "839", "room-1": "8614"}
PRINTED |= dict.fromkeys((f"direction-{side}" for side in ("forward", "right", "left", "backward")), "3091–6745")
PRINTED |= dict.fromkeys((f"direction-back-{side}" for side in ("right", "left")), "3091–6745")
PRINTED |= {f"room-{steps}": "17204–27454" for steps in range(2, 9)}


def read_r2r(data: Path) -> tuple[Split, dict[str, World]]:
    """R2R val-unseen with sub-instructions, and its worlds with rooms and objects."""
    split = fgr2r.read_split(data / "fgr2r" / "FGR2R_val_unseen.json.gz")
    files = WorldFiles(
        data / "connectivity.tar.xz", data / "reverie" / "BBox.tar.xz", data / "rooms" / "viewpoint_rooms.csv.gz"
    )
    worlds = files.read(objects=True)
    return split, {name: worlds[name] for name in split.world_ids}


def read_hearth(season: Path) -> tuple[Split, dict[str, World]]:
    """Hearth's val-unseen with aligned words, and its worlds with rooms and objects."""
    files = split_files("val_unseen")
    split = read_aligned_tasks(season / files["rxr"], season / files["traces"])
    worlds = WorldFiles(season).read(objects=True)
    return split, {name: worlds[name] for name in split.world_ids}


def count_trials(
    truncations: Truncations, worlds: Mapping[str, World], variant: Variant, names: list[str]
) -> TextTable:
    """The candidates of each skill that were kept, and below them what every filter dropped."""
    orders = {
        name: {node: candidates.nodes for node, candidates in graph_candidates(require_graph(world)).items()}
        for name, world in worlds.items()
    }
    table = make_skills(variant, orders=orders)
    rows = count_rows("truncation", truncations.counts, "–")
    for skill in select_skills(names, table):
        started = time.process_time()
        study = design([skill], truncations.items, worlds, seed=1)
        rows += count_rows(skill.name, study.filter_counts[skill.name], f"{time.process_time() - started:.2f} s")
    headings = (variant, "candidates", "dropped", "kept", "truncation points", "CPU", "printed")
    return TextTable(headings, tuple(rows))


def count_rows(name: str, counts: FilterCounts, seconds: str) -> list[tuple[str, ...]]:
    """A row for a skill, and one for each reason."""
    dropped = sum(counts.dropped.values())
    assert counts.candidates == counts.kept + dropped
    kept = str(counts.kept), f"{counts.truncations_kept} of {counts.truncations}"
    reasons = [(f"  {reason}", "", str(count), "", "", "", "") for reason, count in counts.dropped.items()]
    return [(name, str(counts.candidates), str(dropped), *kept, seconds, PRINTED.get(name, "–")), *reasons]


def describe_unknown_names(worlds: Mapping[str, World]) -> str:
    """A sentence on the object names that the built-in table of categories lacks."""
    names = sum((count_unknown_names(world) for world in worlds.values()), Counter[str]())
    common = ", ".join(f"{name} ({count})" for name, count in names.most_common(8))
    return f"{len(names)} object names have no built-in category, listed {names.total()} times: {common or 'none'}."


def main(
    season: Annotated[Path | None, typer.Argument(help="Folder of `itinera build hearth`, to count it too.")] = None,
) -> None:
    """Print how many candidate trials every skill keeps, and why the others are dropped."""
    data = os.environ.get("ITINERA_DATA")
    if data:
        split, worlds = read_r2r(Path(data))
        truncations = truncate(split.episodes)
        print(f"R2R val-unseen, truncated by Fine-Grained R2R: {len(split.episodes)} instructions.")
        steps = sum(one.edges_ahead == 1 for one in truncations.items)
        print(f"{steps} texts ahead continue for one step, {len(truncations.items) - steps} for one chunk.")
        print(count_trials(truncations, worlds, "paper", ["all"]))
        print(count_trials(truncations, worlds, "released", ["stop", "direction", "object", "room-1"]))
        print(describe_unknown_names(worlds))
    else:
        print("The counts on R2R need the data pack: set ITINERA_DATA to its folder.")
    if season is not None:
        split, worlds = read_hearth(season)
        print(f"Hearth val-unseen, truncated at its speakers' arrivals: {len(split.episodes)} instructions.")
        for rule in TRUNCATION_RULES.values():
            counts = truncate(split.episodes, rule=rule).counts
            print(f"Rule {rule.name}: {counts.kept} of {counts.candidates}; dropped: {dict(counts.dropped)}.")
        print(count_trials(truncate(split.episodes), worlds, "hearth", ["all"]))
        print(describe_unknown_names(worlds))


if __name__ == "__main__":
    typer.run(main)
