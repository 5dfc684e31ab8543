"""How fast does an agent learn? Its steps a CPU second in imitation on one core, and where the time goes.

`make bench` runs this: RCM's navigator of a million numbers, 128 walkers at once, in three houses of Hearth; in
those of R2R too where ITINERA_DATA points to them. Aims: 3,000 steps a second, better 5,000, and at most 15 % of the
time spent outside torch. Machines differ and are shared, so the speed of matrix products stands beside.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # torch's profiler tells of itself otherwise

import torch
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "recipes")]  # whose places are learned in

import places  # noqa: E402
from itinera.builders.hearth import build_home, tasks_of  # noqa: E402
from itinera.policies.checkpoint import card_of, new_model  # noqa: E402
from itinera.policies.rcm import SMALL  # noqa: E402
from itinera.policies.tokenizer import Vocabulary  # noqa: E402
from itinera.simulators.view_features import annotated_views, frequent_names  # noqa: E402
from itinera.training.dataset import Lessons, Shuffle, lessons_of  # noqa: E402
from itinera.training.experts import to_goal  # noqa: E402
from itinera.training.losses import cloning  # noqa: E402
from itinera.training.malloc import keep_memory  # noqa: E402
from itinera.training.rollout import Mixed, roll_out  # noqa: E402
from itinera.training.vector_env import Atlas, atlas_of  # noqa: E402
from timing import cpu  # noqa: E402

BATCH, MOVES = 128, 10
HOUSES, PATHS = (0, 2, 3), 60
WARM, STEPS, ROUNDS, PROFILED = 5, 10, 6, 5  # batches; of rounds through the same ones the fastest counts
PARTS = ("text", "looking and moving", "policy, forward", "backward", "optimiser", "teacher, choices, the rest")


class Clock:
    """CPU seconds by part; a part within another counts for itself alone."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(PARTS, 0.0)
        self._open: list[float] = []  # seconds that parts within took

    def timed(self, part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def done(*given: Any, **more: Any) -> Any:
            self._open.append(0.0)
            begun = time.process_time()
            try:
                return work(*given, **more)
            finally:
                took = time.process_time() - begun
                self.spent[part] += took - self._open.pop()
                if self._open:
                    self._open[-1] += took

        return done


class TimedPolicy:
    """A policy whose reading and weighing are timed."""

    def __init__(self, policy: Any, clock: Clock) -> None:
        self.read, self.step = clock.timed("text", policy.read), clock.timed("policy, forward", policy.step)


class TimedAtlas:
    """An atlas whose looking and moving are timed."""

    def __init__(self, atlas: Atlas, clock: Clock) -> None:
        self._atlas = atlas
        self.look, self.move = (clock.timed("looking and moving", work) for work in (atlas.look, atlas.move))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._atlas, name)


def hearth() -> tuple[Atlas, Lessons, Any]:
    """A small season's training: three houses."""
    homes = [build_home(1, index) for index in HOUSES]
    worlds = {home.house.id: home.world for home in homes}
    episodes = [episode for home in homes for episode in tasks_of(home, {"train": PATHS})["train"].on_graph]
    views = annotated_views(worlds, frequent_names(worlds, places.OBJECTS), reach=places.REACH)
    atlas = atlas_of(worlds, views)
    vocabulary = Vocabulary.of(episode.instruction.text for episode in episodes)
    lessons = lessons_of(episodes, atlas, vocabulary)
    return atlas, lessons, card_of("rcm", SMALL, views.columns, vocabulary)


def r2r(data: Path) -> tuple[Atlas, Lessons, Any]:
    ground = places.real(data)
    return ground.atlas, ground.lessons("train"), ground.card("rcm", SMALL)


class Course:
    """Training by imitation, a step at a time."""

    def __init__(self, atlas: Atlas, lessons: Lessons, card: Any) -> None:
        torch.manual_seed(0)
        self.policy = new_model(card).policy.train()
        self.atlas, self.batches = atlas, Shuffle(lessons, BATCH, seed=0)
        self.optimiser = torch.optim.AdamW(self.policy.parameters(), 1e-3, fused=True)
        self.rng = torch.Generator().manual_seed(0)

    @property
    def size(self) -> int:
        return sum(parameter.numel() for parameter in self.policy.parameters())

    def steps(self, first: int, count: int, clock: Clock) -> int:
        """So many steps of training; how many the agents made."""
        policy: Any = TimedPolicy(self.policy, clock)
        atlas: Any = TimedAtlas(self.atlas, clock)
        learn = clock.timed("optimiser", self._learn)
        acted = 0
        for step in range(first, first + count):
            batch = self.batches[step]
            led = torch.rand(batch.walkers, generator=self.rng) < 0.5
            walked = roll_out(policy, atlas, batch, choose=Mixed(led, self.rng), teacher=to_goal, limit=MOVES)
            loss = cloning(walked)
            self.optimiser.zero_grad(set_to_none=True)
            clock.timed("backward", loss.backward)()
            learn()
            acted += walked.acted
        return acted

    def _learn(self) -> None:
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 5.0)
        self.optimiser.step()


def outside_torch(course: Course) -> float:
    """The share of the time that is not spent in torch's own operations, as its profiler tells."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], acc_events=True) as profile:
        begun = time.perf_counter()
        course.steps(0, PROFILED, Clock())
        whole = time.perf_counter() - begun
    inside = sum(event.self_cpu_time_total for event in profile.key_averages()) / 1e6
    return 1 - inside / whole


def product_speed(size: int = 512, rounds: int = 20) -> float:
    """Billions of operations a CPU second that matrix products make here and now."""
    a, b = torch.rand(size, size), torch.rand(size, size)
    torch.mm(a, b)
    return 2 * size**3 * rounds / cpu(lambda: [torch.mm(a, b) for _ in range(rounds)], 3) / 1e9


def measured(name: str, atlas: Atlas, lessons: Lessons, card: Any, console: Console) -> None:
    course = Course(atlas, lessons, card)
    course.steps(0, WARM, Clock())
    acted, whole, clock = 0, float("inf"), Clock()
    for _ in range(ROUNDS):
        tried = Clock()
        begun = time.process_time()
        made = tried.timed(PARTS[-1], course.steps)(WARM, STEPS, tried)
        took = time.process_time() - begun
        if made / took > acted / whole:
            acted, whole, clock = made, took, tried
    table = Table("part", "share", title=f"{name}: {course.size / 1e6:.2f} M numbers, {len(lessons):,} lessons")
    for part, spent in clock.spent.items():
        table.add_row(part, f"{spent / whole:.0%}")
    console.print(table)
    console.print(f"{acted / whole:,.0f} agent steps / CPU second (≥ 3,000, aim 5,000); {STEPS / whole:.1f} batches.")
    console.print(f"Matrix products meanwhile: {product_speed():.0f} GFLOP / s.")
    console.print(f"Outside torch: {outside_torch(course):.0%} of the time (≤ 15 %).")


def main() -> None:
    torch.set_num_threads(1)
    keep_memory()
    console = Console(width=110)
    measured("Hearth", *hearth(), console)
    data = os.environ.get("ITINERA_DATA")
    if data:
        measured("R2R", *r2r(Path(data)), console)


if __name__ == "__main__":
    main()
