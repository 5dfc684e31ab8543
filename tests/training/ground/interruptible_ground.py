"""Training on the ground that a test can kill, in a process of its own: `interruptible_ground.py SEASON FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

from itinera.training.ground.train_agent import train_on_ground
from training.ground.small_ground import SmallGround
from training.ground.test_dagger import OPTIONS

if __name__ == "__main__":
    ground = SmallGround(Path(sys.argv[1]))
    model = ground.model("map-cma")
    train_on_ground(model, ground.split, ground.worlds, OPTIONS, seed=5, out=Path(sys.argv[2]), verbose=True)
