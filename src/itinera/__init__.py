"""Itinera evaluates vision-and-language navigation agents: every published metric, with confidence intervals.

    import itinera as it

    tasks = it.read_tasks("R2R_val_unseen.json")
    worlds = it.read_worlds("connectivity/")
    predictions = it.run(MyAgent(), tasks, worlds, seed=7, workers=2)  # or it.read_predictions("preds.json")
    scores = it.score(predictions, tasks, worlds, suite="paper")
    print(scores)
    scores.to_pandas(), scores["SPL"], scores.interval("SPL")
    it.compare({"mine": scores, "baseline": other})
    it.metrics.ndtw(path, reference, threshold=3.0)

One hand acts (it makes records of what happened), the other evaluates (it reads records). They meet in `records` and
never import each other, so scoring needs neither a simulator nor PyTorch. What each package may import, besides itself,
`errors` and `seeding`; a test reads this table:

    package     contains                                        may import
    ----------  ----------------------------------------------  ------------------------------------------------------
    worlds      places, distances, navigable surfaces           -
    stats       intervals, tests, mixed models, power           -
    rendering   CPU rasterizer, cameras, panoramas              worlds
    hearth      procedural houses and their language            worlds rendering
    tasks       episodes, instructions, tours, protocols        worlds
    records     trajectories, predictions, scores, provenance   worlds tasks stats
    formats     readers and writers of file formats             DATA stats
    metrics     metric definitions, suites, scoring             DATA stats
    analysis    statistics of data sets and tours               DATA stats formats metrics
    skills      behavioral analysis: trials and findings        DATA stats metrics formats
    reports     tables, figures, report pages, replays          EVALUATING
    planners    motion planning and tour ordering               DATA
    simulators  graph, ground and unicycle simulators           DATA planners
    mapping     egocentric semantic maps                        DATA
    agents      the agent contract, baselines, experts          DATA planners simulators mapping
    attacks     forged entries, and trials of scorers with them DATA formats agents
    builders    R4R, tours, ablations, Hearth tasks             DATA planners simulators
    policies    neural policies (torch)                         DATA planners simulators mapping agents
    runs        rollouts, worker pool, resume, replay           formats ACTING
    training    imitation and reinforcement learning (torch)    EVALUATING ACTING
    gym         Gymnasium environments                          EVALUATING ACTING
    server      the challenge server (web libraries)            EVALUATING
    api         the functions of `import itinera`               EVALUATING ACTING training gym attacks server
    cli         the command line, one file per verb             EVALUATING ACTING training gym attacks server api
    __main__    the entry point of the command line             cli

    DATA        worlds rendering hearth tasks records
    EVALUATING  DATA formats stats metrics analysis skills reports
    ACTING      DATA planners simulators mapping agents builders policies runs
"""

from __future__ import annotations

import sys
from importlib import import_module

__version__ = "0.1.0"

# Not imported from typing, which takes longer than all of this file: the command line handles Ctrl-C only afterwards.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from itinera.api import *  # noqa: F403

_MODULES = (
    "agents",
    "analysis",
    "attacks",
    "builders",
    "errors",
    "formats",
    "gym",
    "hearth",
    "mapping",
    "metrics",
    "planners",
    "policies",
    "records",
    "rendering",
    "reports",
    "runs",
    "seeding",
    "server",
    "simulators",
    "skills",
    "stats",
    "tasks",
    "training",
    "worlds",
)


# Names that users of other libraries try first, and what to type here.
_FOREIGN_NAMES = {
    "AutoModel": "itinera.load_agent(name_or_file)",
    "Benchmark": "itinera.run(agent, tasks, worlds) and itinera.score(predictions, tasks, worlds)",
    "CLS": 'scores["CLS"] or itinera.metrics.cls(path, reference, threshold=3.0)',
    "Dataset": "itinera.read_tasks(path)",
    "Env": 'gymnasium.make("itinera/GraphVLN-v0")',
    "Evaluation": "itinera.score(predictions, tasks, worlds)",
    "Evaluator": "itinera.score(predictions, tasks, worlds)",
    "NavigationError": 'scores["NE"] or itinera.metrics.navigation_error(path, reference)',
    "SPL": 'scores["SPL"] or itinera.metrics.spl(path, reference, radius=3.0)',
    "SR": 'scores["SR"] or itinera.metrics.success(path, reference, radius=3.0)',
    "Simulator": "itinera.run(agent, tasks, worlds), or itinera.simulators for the classes",
    "Success": 'scores["SR"] or itinera.metrics.success(path, reference, radius=3.0)',
    "bootstrap": 'scores.interval("SPL") or itinera.stats.cluster_bootstrap(...)',
    "confidence_interval": 'scores.interval("SPL") or itinera.stats.interval(values, clusters=scene_ids)',
    "evaluate": "itinera.score(predictions, tasks, worlds)",
    "fit": "itinera.train(policy, tasks, worlds)",
    "from_pretrained": "itinera.load_agent(name_or_file)",
    "load": "itinera.read_tasks, read_worlds, read_predictions, read_scores or read_map",
    "load_dataset": "itinera.read_tasks(path)",
    "load_nav_graphs": "itinera.read_worlds(folder)",
    "make": 'gymnasium.make("itinera/GraphVLN-v0")',
    "nDTW": 'scores["nDTW"] or itinera.metrics.ndtw(path, reference, threshold=3.0)',
    "read_csv": "itinera.read_predictions(path)",
    "read_json": "itinera.read_tasks(path) or itinera.read_predictions(path)",
    "shortest_path": "worlds[world_id].space.route(start, goal)",
}


def __getattr__(name: str) -> Any:
    """Import on first use (PEP 562), so that `import itinera` stays light."""
    if name in _MODULES:
        return import_module(f"itinera.{name}")
    if name.startswith("__"):  # tools probe for these
        raise AttributeError(name)
    api = import_module("itinera.api")
    if name in api.__all__:
        return getattr(api, name)
    if name in _FOREIGN_NAMES:
        raise AttributeError(f"itinera has no {name}. Use {_FOREIGN_NAMES[name]}.")
    from difflib import get_close_matches

    near = get_close_matches(name, [*api.__all__, *_MODULES], n=1)
    hint = f"Did you mean itinera.{near[0]}?" if near else "See dir(itinera) for what there is."
    raise AttributeError(f"itinera has no {name}. {hint}")


def __dir__() -> list[str]:
    return sorted(["__version__", *import_module("itinera.api").__all__, *_MODULES])


if "gymnasium" in sys.modules:  # gymnasium.make("itinera/...") works after `import gymnasium, itinera`
    import_module("itinera.gym")
