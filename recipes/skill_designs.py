"""How many intervention episodes there are, and what every filter dropped: R2R val-unseen, and a season of Hearth.

The episodes of "Behavioral Analysis of Vision-and-Language Navigation Agents" (Yang et al. 2023) were cut from RxR.
Here R2R is cut where Fine-Grained R2R's sub-instructions end, with REVERIE's objects and Matterport's rooms; Hearth,
where its speakers came to a node. Pass the folder of a season (`itinera build hearth`) to have it counted too.

    ITINERA_DATA=… python recipes/skill_designs.py [season]

Expected on R2R val-unseen: of 4,944 places to cut 4,943; stop 4,943; directions 2,051 to 4,338; objects 507 with our
own table of categories; rooms 6,212 one step away, 11,839 to 16,820 exactly 2 to 8. The paper has 8,221 cuts, 3,091 to
6,745 for directions, 839 for objects, 8,614 and 17,204 to 27,454 for rooms: as shares of the cuts, much the same.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from itinera.formats import fgr2r, matterport, reverie, rooms, rxr
from itinera.formats.hearth_season import BOXES, files_of
from itinera.reports.tables import Grid, drawn
from itinera.simulators.candidates import graph_candidates
from itinera.skills.filter_counts import Tally
from itinera.skills.objects import unknown_names
from itinera.skills.registry import Variant, named, skill_table
from itinera.skills.trials import design, graph_of
from itinera.skills.truncation import CUTTING_RULES, Cuttings, cut
from itinera.tasks import Split
from itinera.worlds import World

PRINTED = {"cuts": "8221", "stop": "8221", "object": "839", "room-1": "8614"}
PRINTED |= dict.fromkeys((f"direction-{side}" for side in ("forward", "right", "left", "backward")), "3091–6745")
PRINTED |= dict.fromkeys((f"direction-back-{side}" for side in ("right", "left")), "3091–6745")
PRINTED |= {f"room-{steps}": "17204–27454" for steps in range(2, 9)}


def real(data: Path) -> tuple[Split, dict[str, World]]:
    """R2R val-unseen with sub-instructions, and its worlds with rooms and objects."""
    split = fgr2r.read_split(data / "fgr2r" / "FGR2R_val_unseen.json.gz")
    graphs = matterport.read_worlds(data / "connectivity.tar.xz")
    objects = reverie.read_objects(data / "reverie" / "BBox.tar.xz")
    known = rooms.read_table(data / "rooms" / "viewpoint_rooms.csv.gz")
    return split, {name: replace(graphs[name], objects=objects[name], rooms=known[name]) for name in split.world_ids}


def hearth(season: Path) -> tuple[Split, dict[str, World]]:
    """Hearth's val-unseen with its speakers' stays, and its worlds with rooms and objects."""
    files = files_of("val_unseen")
    split = rxr.with_alignment(rxr.read_split(season / files["rxr"]), season / files["traces"])
    graphs = matterport.read_worlds(season / "connectivity")
    objects = reverie.read_objects(season / BOXES)
    known = rooms.read_table(season / "rooms.csv")
    return split, {name: replace(graphs[name], objects=objects[name], rooms=known[name]) for name in split.world_ids}


def counted(cuttings: Cuttings, worlds: Mapping[str, World], variant: Variant, names: list[str]) -> Grid:
    """What was kept of the candidates of each skill, and below what every filter dropped."""
    orders = {
        name: {node: ways.nodes for node, ways in graph_candidates(graph_of(world)).items()}
        for name, world in worlds.items()
    }
    table = skill_table(variant, orders=orders)
    rows = told("cuts", cuttings.tally, "–")
    for skill in named(names, table):
        began = time.process_time()
        study = design([skill], cuttings.cuts, worlds, seed=1)
        rows += told(skill.name, study.tallies[skill.name], f"{time.process_time() - began:.2f} s")
    return Grid((variant, "candidates", "dropped", "kept", "at so many cuts", "CPU", "printed"), tuple(rows))


def told(name: str, tally: Tally, seconds: str) -> list[tuple[str, ...]]:
    """A row for a skill, and one for each reason."""
    assert tally.candidates == tally.kept + sum(tally.dropped.values())
    dropped = str(sum(tally.dropped.values()))
    kept = str(tally.kept), f"{tally.cuts_kept} of {tally.cuts}"
    printed = PRINTED.get(name, "–")
    reasons = [(f"  {reason}", "", str(count), "", "", "", "") for reason, count in tally.dropped.items()]
    return [(name, str(tally.candidates), dropped, *kept, seconds, printed), *reasons]


def unknown(worlds: Mapping[str, World]) -> str:
    """The names of things that our table of categories does not know."""
    names = sum((unknown_names(world) for world in worlds.values()), Counter[str]())
    common = ", ".join(f"{name} ({count})" for name, count in names.most_common(8))
    return f"{len(names)} names of things are in no category of ours, seen {names.total()} times: {common or 'none'}."


def main() -> None:
    console = Console(width=None if sys.stdout.isatty() else 160)
    place = os.environ.get("ITINERA_DATA")
    if place:
        split, worlds = real(Path(place))
        cuttings = cut(split.episodes)
        console.print(f"R2R val-unseen, cut by Fine-Grained R2R: {len(split.episodes)} instructions.")
        steps = sum(one.edges == 1 for one in cuttings.cuts)
        console.print(f"{steps} of the words that lead on are one step ahead, {len(cuttings.cuts) - steps} one chunk.")
        console.print(drawn(counted(cuttings, worlds, "paper", ["all"])))
        console.print(drawn(counted(cuttings, worlds, "released", ["stop", "direction", "object", "room-1"])))
        console.print(unknown(worlds))
    else:
        print("The counts on R2R need the data pack: set ITINERA_DATA to its folder.")
    if len(sys.argv) > 1:
        split, worlds = hearth(Path(sys.argv[1]))
        console.print(f"Hearth val-unseen, cut by its speakers' stays: {len(split.episodes)} instructions.")
        for rule in CUTTING_RULES.values():
            tally = cut(split.episodes, rule=rule).tally
            console.print(f"Cut as {rule.name}: {tally.kept} of {tally.candidates}; dropped: {dict(tally.dropped)}.")
        console.print(drawn(counted(cut(split.episodes), worlds, "hearth", ["all"])))
        console.print(unknown(worlds))


if __name__ == "__main__":
    main()
