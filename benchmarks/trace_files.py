"""Source files that a flow passes through: how many must a reader open to follow one call from end to end?

A file counts if a Python function defined in it runs during the call, imports included; the bodies of modules and
classes do not count, nor do compiled kernels. Each flow runs in a fresh process on a tiny generated data set.

    python benchmarks/trace_files.py            # a table of all flows
    python benchmarks/trace_files.py score -v   # the files of one flow, in order of first use
"""

from __future__ import annotations

import argparse
import inspect
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

SOURCE = Path(__file__).parents[1] / "src" / "itinera"
LIMITS = {"score": 18, "run": 24, "train-update": 12, "fastest": 12}  # files


def write_data(folder: Path) -> None:
    """Connectivity of a corridor of five nodes, tasks and a submission in R2R's formats, and a ROS map."""
    nodes = [f"n{i}" for i in range(5)]
    panoramas = [
        {
            "image_id": node,
            "pose": [1, 0, 0, 2.0 * i, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
            "included": True,
            "unobstructed": [abs(i - j) == 1 for j in range(5)],
            "visible": [i != j for j in range(5)],
            "height": 1.5,
        }
        for i, node in enumerate(nodes)
    ]
    (folder / "connectivity").mkdir()
    for scan in ("one", "two"):
        (folder / "connectivity" / f"{scan}_connectivity.json").write_text(json.dumps(panoramas))
    tasks = [
        {"scan": scan, "path_id": i, "path": nodes, "heading": 0.0, "instructions": ["Go on.", "Go to the end."]}
        | {"distance": 8.0}
        for i, scan in enumerate(("one", "two"))
    ]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    steps = [[node, 0.0, 0.0] for node in nodes]
    submission = [{"instr_id": f"{i}_{k}", "trajectory": steps[: 4 + k]} for i in range(2) for k in range(2)]
    (folder / "preds.json").write_text(json.dumps(submission))
    rows = ["255 " * 40] * 40
    (folder / "map.pgm").write_text("P2\n40 40\n255\n" + "\n".join(rows) + "\n")
    (folder / "map.yaml").write_text(
        "image: map.pgm\nresolution: 0.1\norigin: [0.0, 0.0, 0.0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.2\n"
    )


def score(folder: Path) -> Callable[[], Any]:
    import itinera

    return lambda: itinera.score(folder / "preds.json", folder / "tasks.json", folder / "connectivity")


def run(folder: Path) -> Callable[[], Any]:
    import itinera

    return lambda: itinera.run("random", folder / "tasks.json", folder / "connectivity", workers=0)


def fastest(folder: Path) -> Callable[[], Any]:
    import itinera

    return lambda: itinera.fastest(folder / "map.yaml", (0.5, 0.5, 0.0), (3.0, 3.0))


def train_update(folder: Path) -> Callable[[], Any]:
    """One update of RCM by imitation learning: batch, rollout, loss, optimizer step."""
    import itinera
    from itinera.policies.checkpoint import build_model, make_card
    from itinera.policies.rcm import SMALL
    from itinera.policies.tokenizer import Tokenizer
    from itinera.training.dataset import BatchSampler, EpisodeDataset
    from itinera.training.losses import imitation_objective
    from itinera.training.trainer import Schedule, Trainer
    from itinera.training.vector_env import build_env

    tasks, worlds = itinera.read_tasks(folder / "tasks.json"), itinera.read_worlds(folder / "connectivity")
    env, tokenizer = build_env(worlds, None), Tokenizer.fit(episode.instruction.text for episode in tasks)
    model = build_model(make_card("rcm", SMALL, (), tokenizer))
    batches = BatchSampler(EpisodeDataset.from_episodes(tasks.episodes, env, tokenizer), 4, seed=0)
    loss_fn = imitation_objective(model.policy, env, batches, max_steps=10)
    trainer = Trainer(model, Schedule(steps=1), seed=0, name="rcm")
    return lambda: [trainer.update(loss_fn(step, trainer.rng)) for step in trainer]


FLOWS: dict[str, Callable[[Path], Callable[[], Any]]] = {
    "score": score,
    "run": run,
    "train-update": train_update,
    "fastest": fastest,
}


def traced_files(call: Callable[[], Any]) -> list[str]:
    """The files of src/itinera in which a function ran during the call, in order of first use."""
    files: dict[str, None] = {}

    def profile(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)  # neither a module nor a class body
        if event == "call" and is_function and code.co_filename.startswith(str(SOURCE)):
            files.setdefault(str(Path(code.co_filename).relative_to(SOURCE)))

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return list(files)


def trace(flow: str) -> list[str]:
    """The files of a flow, traced in this process."""
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder))
        return traced_files(FLOWS[flow](Path(folder)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Print the source files that a flow passes through.")
    parser.add_argument("flows", nargs="*", choices=[*FLOWS, []], help="Default: all.")
    parser.add_argument("-v", "--verbose", action="store_true", help="List the files.")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)  # in this process, printed as JSON
    arguments = parser.parse_args()
    if arguments.here:
        print(json.dumps(trace(arguments.flows[0])))
        return
    print(f"{'flow':<14}{'files':>6}{'limit':>7}")
    for flow in arguments.flows or FLOWS:
        command = [sys.executable, __file__, flow, "--here"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{flow:<14}{'–':>6}{LIMITS[flow]:>7}  {(done.stderr.strip().splitlines() or [''])[-1]}")
            continue
        files = json.loads(done.stdout.splitlines()[-1])
        print(f"{flow:<14}{len(files):>6}{LIMITS[flow]:>7}")
        for file in files if arguments.verbose else ():
            print(f"    {file}")


if __name__ == "__main__":
    main()
