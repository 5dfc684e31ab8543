"""A newcomer's first day with Itinera, in one script: read it from top to bottom, or run it.

Each step is a function. The script prints its title, its code and its result: scores with intervals, an agent of your
own in this process and in another, comparison, pandas, a replay, a report, R4R, tours, training, a skill study, fastest
times, and reinforcement learning with Stable-Baselines3. With ITINERA_DATA the tasks are R2R's val-unseen, the scored
predictions are released ones, and the map is a robot's; otherwise everything comes from Hearth, whose houses are built
first. A few minutes on two cores. If interrupted, rerun the command: finished houses and runs are used again.

    python recipes/first_day.py --out first_day
"""

from __future__ import annotations

import argparse
import inspect
import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.syntax import Syntax

import itinera as it
from itinera.worlds.grid import Grid

EXAMPLES = Path(__file__).parents[1] / "examples"


@dataclass
class Day:
    """Where the data is, how much work to do, and the results so far."""

    out: Path
    data: Path | None  # ITINERA_DATA
    houses: int  # of Hearth
    training_steps: int
    episodes: int | None  # of the slow runs; None: all
    results: dict[str, Any] = field(default_factory=dict)

    @property
    def hearth(self) -> Path:
        return self.out / "hearth"

    @property
    def tasks(self) -> Path:
        return self.data / "r2r/R2R_val_unseen.json.gz" if self.data else self.hearth / "r2r/R2R_val_unseen.json"

    @property
    def seen_tasks(self) -> Path:
        return self.data / "r2r/R2R_val_seen.json.gz" if self.data else self.hearth / "r2r/R2R_val_seen.json"

    @property
    def worlds(self) -> Path:
        return self.data / "connectivity.tar.xz" if self.data else self.hearth / "connectivity"


class Straight:
    """An agent of our own: it goes straight ahead, as often as the instruction has sentences."""

    def reset(self, rng: np.random.Generator) -> None:
        """A new scene: there is nothing to forget."""

    def start_episode(self, instruction: Any) -> None:
        self.moves_left = 2 + instruction.text.count(".") + instruction.text.count(",")

    def act(self, observation: Any) -> int:
        self.moves_left -= 1
        if self.moves_left < 0 or not len(observation.candidates.headings):
            return 0  # STOP
        turns = np.abs(np.angle(np.exp(1j * (observation.candidates.headings - observation.heading))))
        return 1 + int(turns.argmin())

    def observe(self, observation: Any) -> None:
        """An oracle phase of a tour or of a study: look, do not act."""


def build_houses(day: Day) -> Any:
    """Build houses: Hearth is a function of its seed"""
    if (day.hearth / "season.json").exists():
        return f"{day.hearth} exists already."
    return it.build_hearth(day.hearth, houses=day.houses, splits=("train", "val_seen", "val_unseen"))


def describe_tasks(day: Day) -> Any:
    """Read tasks and describe them"""
    tasks = it.read_tasks(day.tasks)
    print(tasks[0].instruction.text)
    return it.describe(tasks, worlds=day.worlds)


def score_predictions(day: Day) -> Any:
    """Score predictions: every metric, with 95 % intervals over scenes"""
    released = "predictions/r2r/prevalent_seq2seq_teacher_imagenet_val_unseen_iter_36000.json.gz"
    predictions = day.data / released if day.data else it.run("random", day.tasks, day.worlds)
    day.results["baseline"] = it.score(predictions, day.tasks, day.worlds, missing="zero")
    return day.results["baseline"]


def run_own_agent(day: Day) -> Any:
    """Run an agent of your own in this process"""
    it.check_agent(Straight())
    day.results["predictions"] = it.run(Straight(), day.tasks, day.worlds, seed=7)
    day.results["straight"] = it.score(day.results["predictions"], day.tasks, day.worlds)
    return day.results["straight"]


def run_agent_elsewhere(day: Day) -> Any:
    """Run an agent in another process: any language, JSON lines on standard input and output"""
    command = shlex.join([sys.executable, str(EXAMPLES / "client.py")])
    predictions = it.run(None, day.tasks, day.worlds, command=command, max_episodes=day.episodes, workers=2)
    return Counter(one.ending.value for rollout in predictions.rollouts for one in rollout.trajectories)


def compare_agents(day: Day) -> Any:
    """Compare: paired differences, scenes being the sample"""
    return it.compare({name: day.results[name] for name in ("baseline", "straight")})


def use_pandas(day: Day) -> Any:
    """Continue in pandas: a row per episode"""
    frame = day.results["straight"].to_pandas()
    return frame.groupby("world_id")[["SR", "SPL", "CLS"]].mean().round(3)


def write_report(day: Day) -> Any:
    """Write a report and a replay: HTML pages without a server"""
    first = it.read_tasks(day.tasks)[0].id
    it.show(day.results["predictions"], day.tasks, day.worlds, episodes=[first], out=day.out / "replay.html")
    results = {name: day.results[name] for name in ("baseline", "straight")}
    it.report(results, out=day.out / "report.html", markdown=day.out / "report.md", title="The first day")
    return f"Open {day.out / 'report.html'} and {day.out / 'replay.html'}."


def join_paths(day: Day) -> Any:
    """Make R4R from R2R, and score on it: longer paths that are not shortest paths"""
    joined = day.out / "R4R_val_seen.json"
    print(it.build_r4r(day.seen_tasks, day.worlds, joined, max_instructions=1, overwrite=True))
    return it.score(it.run(Straight(), joined, day.worlds), joined, day.worlds)


def make_tours(day: Day) -> Any:
    """Make tours and score on them: the agent may remember earlier episodes"""
    tours = day.out / "tours.json"
    built = it.build_tours(day.seen_tasks, day.worlds, tours, overwrite=True)
    print(f"{built.tours} tours of {built.episodes} episodes")
    predictions = it.run(Straight(), day.seen_tasks, day.worlds, tours=tours)
    return it.score(predictions, day.seen_tasks, day.worlds, tours=tours)


def train_policy(day: Day) -> Any:
    """Train a policy: RCM by imitation learning on Hearth's training houses"""
    if find_spec("torch") is None:
        return 'PyTorch is not installed: pip install "itinera[neural]"'
    model, train = day.out / "rcm.safetensors", day.hearth / "r2r/R2R_train.json"
    it.train("rcm", train, day.hearth, steps=day.training_steps, out=model, overwrite=True)
    test = day.hearth / "r2r/R2R_val_unseen.json"
    return it.score(it.run(str(model), test, day.hearth), test, day.hearth)


def study_skills(day: Day) -> Any:
    """Study skills: does the agent stop, and turn left, when it is told to?"""
    guide, traces = day.hearth / "rxr/rxr_val_unseen_guide.jsonl.gz", day.hearth / "rxr/pose_traces"
    alignment = next(traces.glob("*val_unseen*"))
    study = it.design_study(
        ["stop", "direction-left"], guide, day.hearth, alignment=alignment, max_episodes=day.episodes
    )
    responses = {name: it.run_study(name, study, day.hearth) for name in ("reader", "uniform")}
    return it.analyze_study(study, responses, worlds=day.hearth)


def find_fastest_drive(day: Day) -> Any:
    """Bound the fastest time of a robot between two poses of a map"""
    if day.data:
        return it.fastest(day.data / "maps/turtlebot3_world/map.yaml", start=(-2.0, -0.5, 0.0), goal=(2.0, 0.5))
    room = np.zeros((80, 100), dtype=bool)  # 10 x 8 m in cells of 10 cm
    room[:50, 50] = True  # a wall
    return it.fastest(Grid(room, 0.1), start=(2.0, 2.0, 0.0), goal=(8.0, 2.0))


def train_with_stable_baselines(day: Day) -> Any:
    """Train with Stable-Baselines3 in a Gymnasium environment: words as token ids, unavailable actions masked"""
    missing = [name for name in ("gymnasium", "stable_baselines3", "sb3_contrib") if find_spec(name) is None]
    if missing:
        return f"{' and '.join(missing)} not installed: pip install gymnasium stable-baselines3 sb3-contrib"
    import gymnasium
    from sb3_contrib import MaskablePPO

    from itinera.gym import TokenizeInstruction

    tasks = day.hearth / "r2r/R2R_train.json"
    env = TokenizeInstruction(gymnasium.make("itinera/GraphVLN-v0", tasks=tasks, worlds=day.hearth / "connectivity"))
    model = MaskablePPO("MultiInputPolicy", env, n_steps=64, batch_size=64, seed=0)
    model.learn(total_timesteps=4 * day.training_steps)
    return f"{model.num_timesteps} steps of PPO; examples/sb3_ppo.py trains longer and scores the result."


STEPS: tuple[Callable[[Day], Any], ...] = (
    build_houses,
    describe_tasks,
    score_predictions,
    run_own_agent,
    run_agent_elsewhere,
    compare_agents,
    use_pandas,
    write_report,
    join_paths,
    make_tours,
    train_policy,
    study_skills,
    find_fastest_drive,
    train_with_stable_baselines,
)


def main() -> None:
    """Run every step; print its title, its code, its result and its time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("first_day"), help="folder for everything written (first_day)")
    parser.add_argument("--hearth", action="store_true", help="use Hearth even if ITINERA_DATA is set")
    parser.add_argument("--houses", type=int, default=24, help="number of Hearth houses (24)")
    parser.add_argument("--steps", type=int, default=300, help="optimizer steps of training (300)")
    parser.add_argument("--episodes", type=int, default=200, help="episodes of the slower steps (200)")
    args = parser.parse_args()
    data = Path(os.environ["ITINERA_DATA"]) if "ITINERA_DATA" in os.environ and not args.hearth else None
    day = Day(args.out, data, args.houses, args.steps, args.episodes)
    day.out.mkdir(parents=True, exist_ok=True)
    console, morning = Console(width=120), time.perf_counter()
    for number, step in enumerate(STEPS, start=1):
        start = time.perf_counter()
        console.rule(f"{number}. {inspect.getdoc(step)}")
        console.print(Syntax(inspect.getsource(step).rstrip(), "python", background_color="default"))
        result = step(day)
        console.print(str(result), highlight=False, markup=False)
        console.print(f"{time.perf_counter() - start:.0f} s", style="dim")
    console.rule(f"The day took {time.perf_counter() - morning:.0f} s.")


if __name__ == "__main__":
    main()
