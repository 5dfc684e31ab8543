"""What users of pandas, Gymnasium, Hugging Face and Habitat type first: it works, or the error says what to type.

Every attempt is a line as one would write it in a notebook, after `import itinera as it` and with the names of
`notebook` below. An attempt that works has a condition on its result `_`; one that fails has a part of the message,
which names the right call.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import itinera as it
import tiny


class MyAgent:
    """Moves to the last candidate twice, then stops."""

    def reset(self, rng: np.random.Generator) -> None:
        pass

    def start_episode(self, instruction: Any) -> None:
        self.steps = 0

    def act(self, observation: Any) -> int:
        self.steps += 1
        return len(observation.candidates.nodes) if self.steps <= 2 else 0

    def observe(self, observation: Any) -> None:
        pass


class OldAgent:
    """Only `act`, as Habitat's agents have it."""

    def act(self, observations: Any) -> int:
        return 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.on_graphs(tmp_path_factory.mktemp("notebook")).folder


@pytest.fixture
def notebook(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names a notebook has after its first cells."""
    monkeypatch.chdir(folder)
    tasks, worlds = it.read_tasks("R2R_tiny.json"), it.read_worlds("connectivity")
    preds = it.read_predictions("preds.json")
    return {
        "it": it,
        "np": np,
        "tasks": tasks,
        "worlds": worlds,
        "preds": preds,
        "out": tmp_path,
        "scores": it.score(preds, tasks, worlds),
        "MyAgent": MyAgent,
        "OldAgent": OldAgent,
        "a": np.array([[0, 0], [2, 0], [4, 0]]),
        "b": np.array([[0, 0], [2, 0], [4, 3]]),
    }


WORKS = [
    # tasks, as a data set
    ("len(tasks)", "_ == 5"),
    ("tasks[0]", "_.id == '1_0'"),
    ("tasks[-1].instruction.text", "_.startswith('go to')"),
    ("tasks['3_1'].world_id", "_ == 'hut'"),
    ("tasks[:2]", "len(_) == 2"),
    ("[e.id for e in tasks]", "len(_) == 5"),
    ("'1_0' in tasks", "_ is True"),
    ("tasks.to_pandas()", "len(_) == 5 and 'world_id' in _.columns"),
    ("tasks.to_pandas().groupby('world_id').size()", "dict(_) == {'house': 3, 'hut': 2}"),
    ("tasks.to_dicts()[0]", "_['episode_id'] == '1_0'"),
    ("repr(tasks)", "'5 episodes' in _ and len(_) < 200"),
    ("tasks._repr_html_()", "'<table' in _"),
    # worlds, as a mapping of graphs
    ("len(worlds), list(worlds)", "_ == (2, ['house', 'hut'])"),
    ("worlds['hut'].space.nodes", "len(_) == 5"),
    ("worlds['hut'].space.to_networkx()", "_.number_of_edges() == 4"),
    ("worlds['hut'].space.route('p', 's')", "list(_) == ['p', 'q', 'r', 's']"),
    ("worlds['hut'].space.between(['p'], ['s'])", "_.shape == (1, 1) and _[0, 0] == 6"),
    ("repr(worlds)", "'2' in _ and len(_) < 200"),
    # predictions
    ("len(preds)", "_ == 5"),
    ("preds['3_1'].places", "len(_) == 5"),
    ("[t.episode_id for t in preds]", "sorted(_) == ['1_0', '1_1', '2_0', '3_0', '3_1']"),
    ("preds.to_pandas()", "len(_) == 5"),
    # scores
    ("it.score('preds.json', 'R2R_tiny.json', 'connectivity')", "len(_) == 5"),
    ("it.score(preds, tasks, worlds, suite='hamt')", "'CLS' in _"),
    ("it.score(preds, 'R2R_tiny.json', worlds, suite='paper', protocol='r2r')", "len(_) == 5"),
    ("scores['SPL'].mean()", "math.isclose(_, (1 + 4 / 6 + 1 + 4 / 8) / 5)"),
    ("scores.mean('SR')", "math.isclose(_, 4 / 5)"),
    ("'SPL' in scores, 'F1' in scores", "_ == (True, False)"),
    ("list(scores)", "'SPL' in _"),
    ("dict(scores)['SPL']", "_.shape == (5,)"),
    ("scores.interval('SPL')", "_.low <= _.mean <= _.high"),
    ("scores.to_pandas()[['SR', 'SPL']].describe()", "_.loc['count', 'SR'] == 5"),
    ("scores.to_pandas().groupby('world_id')['SR'].mean()", "len(_) == 2"),
    ("print(scores) or str(scores)", "'SPL' in _ and '95' in _"),
    ("scores._repr_html_()", "'<table' in _ and 'SPL' in _"),
    ("it.compare({'mine': scores, 'theirs': scores})", "'mine' in str(_)"),
    # runs
    ("it.run('random', tasks, worlds, seed=7, workers=0)", "len(_) == 5"),
    ("it.run(MyAgent, tasks, worlds, workers=0)", "len(_) == 5"),
    ("it.run(MyAgent(), 'R2R_tiny.json', 'connectivity', workers=0)", "len(_) == 5"),
    ("it.run(MyAgent(), tasks, worlds)", "len(_) == 5"),
    ("it.score(it.run('expert', tasks, worlds, workers=0), tasks, worlds).mean('SR')", "_ == 1"),
    ("it.run('random', tasks, worlds, workers=0, out=out / 'run.jsonl')", "(out / 'run.jsonl').exists()"),
    # metrics on plain arrays
    ("it.metrics.ndtw(a, b, threshold=3.0)", "0 < _ < 1"),
    ("it.metrics.ndtw(a, a, threshold=3.0)", "_ == 1"),
    ("it.metrics.ndtw(a.tolist(), b.tolist(), threshold=3.0)", "0 < _ < 1"),
    ("it.metrics.spl(a, b, radius=3.0)", "0 <= _ <= 1"),
    ("it.metrics.ndtw(['p', 'q'], ['p', 'q', 'r'], threshold=3.0, space=worlds['hut'].space)", "0 < _ < 1"),
    # the package
    ("it.__version__", "_.count('.') == 2"),
    ("dir(it)", "{'score', 'run', 'metrics', 'read_tasks'} <= set(_)"),
]


@pytest.mark.parametrize(("line", "expected"), WORKS, ids=[line for line, _ in WORKS])
def test_the_attempt_works(line, expected, notebook):
    result = eval(line, notebook)
    assert eval(expected, {**notebook, "math": math, "_": result}), f"{line} gave {result!r}"


FAILS = [
    # other libraries' names
    ("it.load_dataset('r2r')", "itinera.read_tasks"),
    ("it.from_pretrained('hamt')", "itinera.load_agent"),
    ("it.evaluate(preds, tasks)", "itinera.score"),
    ("it.Evaluation(['val_unseen'])", "itinera.score"),
    ("it.Benchmark('config.yaml')", "itinera.run"),
    ("it.Env(tasks)", 'gymnasium.make("itinera/GraphVLN-v0")'),
    ("it.make('GraphVLN-v0')", 'gymnasium.make("itinera/GraphVLN-v0")'),
    ("it.SPL(preds)", "itinera.metrics.spl"),
    ("it.shortest_path('a', 'b')", ".space.route("),
    ("it.read_task('R2R_tiny.json')", "itinera.read_tasks"),
    ("it.metric.ndtw(a, b)", "itinera.metrics"),
    # wrong names and types
    ("it.score(preds, tasks, worlds, suite='papr')", "paper"),
    ("it.score(preds, tasks, worlds, protocol='r2rr')", "r2r"),
    ("it.run('randm', tasks, worlds, workers=0)", "random"),
    ("it.run(OldAgent(), tasks, worlds, workers=0)", "start_episode"),
    ("it.run(42, tasks, worlds, workers=0)", "agent"),
    ("it.score(3, tasks, worlds)", "predictions"),
    ("it.score(preds, worlds, tasks)", "tasks"),
    ("it.score(preds, tasks)", "worlds"),
    ("it.read_tasks('R2R_val_unseen.json')", "R2R_val_unseen.json"),
    ("it.read_worlds('conectivity')", "conectivity"),
    ("it.read_tasks('preds.json')", "(predictions) where tasks are expected"),
    ("it.read_predictions('R2R_tiny.json')", "(tasks) where predictions are expected"),
    ("scores['spl']", "SPL"),
    ("scores['F1']", "SPL"),
    ("scores.interval('spl')", "SPL"),
    ("tasks['9_9']", "9_9"),
    ("it.metrics.ndtw(a, b)", "threshold"),
    ("it.metrics.ndtw(['p', 'q'], ['p', 'q', 'r'], threshold=3.0)", "space"),
    ("it.compare(scores)", "compare("),
]


@pytest.mark.parametrize(("line", "hint"), FAILS, ids=[line for line, _ in FAILS])
def test_the_attempt_fails_with_what_to_type(line, hint, notebook):
    with pytest.raises((AttributeError, KeyError, TypeError, it.errors.ItineraError)) as raised:
        eval(line, notebook)
    assert hint in str(raised.value)


def test_agents_defined_in_a_notebook_run_in_workers(notebook):
    alone = it.run(MyAgent(), notebook["tasks"], notebook["worlds"], workers=0)
    several = it.run(MyAgent(), notebook["tasks"], notebook["worlds"], workers=2)
    assert several.to_dicts() == alone.to_dicts()


@pytest.mark.parametrize("imports", ["import gymnasium, itinera", "import itinera, gymnasium, itinera.gym"])
def test_gymnasium_makes_the_environments(imports, folder):
    pytest.importorskip("gymnasium")
    made = 'gymnasium.make("itinera/GraphVLN-v0", tasks="R2R_tiny.json", worlds="connectivity")'
    code = f"{imports}\nenv = {made}\nenv.reset(seed=0)\nassert env.step(0)[2]"
    sources = {**os.environ, "PYTHONPATH": str(Path(it.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=sources, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_there_are_at_least_forty_attempts():
    assert len(WORKS) + len(FAILS) >= 40
