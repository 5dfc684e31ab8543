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
    agents      the agent contract, baselines, experts          DATA planners simulators
    builders    R4R, tours, ablations, Hearth tasks             DATA planners simulators
    policies    neural policies (torch)                         DATA planners simulators agents
    runs        rollouts, worker pool, resume, replay           DATA formats planners simulators agents builders
    training    imitation and reinforcement learning (torch)    EVALUATING ACTING
    gym         Gymnasium environments                          EVALUATING ACTING
    api         the functions of `import itinera`               EVALUATING ACTING training gym
    cli         the command line, one file per verb             EVALUATING ACTING training gym api

    DATA        worlds rendering hearth tasks records
    EVALUATING  DATA formats stats metrics analysis skills reports
    ACTING      DATA planners simulators agents builders policies runs
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from itinera.api import *  # noqa: F403

_MODULES = (
    "agents",
    "analysis",
    "builders",
    "errors",
    "formats",
    "gym",
    "hearth",
    "metrics",
    "planners",
    "policies",
    "records",
    "rendering",
    "reports",
    "runs",
    "seeding",
    "simulators",
    "skills",
    "stats",
    "tasks",
    "training",
    "worlds",
)


def __getattr__(name: str) -> Any:
    """Import on first use (PEP 562), so that `import itinera` stays light."""
    if name in _MODULES:
        return import_module(f"itinera.{name}")
    api = import_module("itinera.api")
    if name in api.__all__:
        return getattr(api, name)
    from difflib import get_close_matches

    near = get_close_matches(name, [*api.__all__, *_MODULES], n=1)
    hint = f" Did you mean itinera.{near[0]}?" if near else ""
    raise AttributeError(f"module 'itinera' has no attribute {name!r}.{hint}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module("itinera.api").__all__, *_MODULES})
