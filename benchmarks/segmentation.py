"""Speed of segmentation on one core: frames rendered, labeled and learned per CPU second.

`make bench` runs this: 128 x 128 frames of a Hearth house, the network of `recipes/segmentation.py`, one thread.
Target: at most 2 ms to label a frame. Machines differ and are shared, so the speed of matrix products is printed too.
"""

from __future__ import annotations

import torch
from rich.console import Console
from rich.table import Table

from itinera.hearth.ground import ground_world
from itinera.policies.checkpoint import ModelCard, build_model
from itinera.policies.segmentation.labeling import Segmenter
from itinera.seeding import generator
from itinera.training.malloc import tune_malloc
from itinera.training.segmentation import FrameSampler, LossConfig, batch_loss
from itinera.worlds.labels import MAP_CLASSES
from learning import measure_gflops
from timing import cpu

BATCH, ROUNDS = 32, 10


def main() -> None:
    torch.set_num_threads(1)
    tune_malloc()
    torch.manual_seed(0)
    console = Console(width=110)
    world = ground_world(1, 0, radius=0.1)
    sampler = FrameSampler({world.id: world}, MAP_CLASSES)
    model = build_model(ModelCard("rgbd-unet", {}, MAP_CLASSES, ()))
    weights = LossConfig().weights(sampler.frequencies)
    batch = sampler.sample_batch(generator(0, "benchmark"), BATCH)
    optimizer = torch.optim.AdamW(model.policy.parameters(), 1e-3, fused=True)

    def learn() -> None:
        optimizer.zero_grad(set_to_none=True)
        batch_loss(model.policy.train(), batch, weights, LossConfig()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    learn()
    parameters = sum(parameter.numel() for parameter in model.policy.parameters())
    seconds = {
        "render color, depth and classes": cpu(lambda: sampler.sample_world(world.id, generator(0), BATCH), ROUNDS),
        "choose and mirror a training batch": cpu(lambda: sampler.sample_batch(generator(0), BATCH), ROUNDS),
        "learn": cpu(learn, ROUNDS),
    }
    segmenter = Segmenter(model)
    segmenter.predict(batch.frames.rgb, batch.frames.depth)
    seconds["label"] = cpu(lambda: segmenter.predict(batch.frames.rgb, batch.frames.depth), ROUNDS)
    targets = {"label": "≤ 2 ms"}
    table = Table(
        "per frame", "ms", "frames / CPU s", "target", title=f"RGB-D network, {parameters / 1e6:.2f} M parameters"
    )
    for what, taken in seconds.items():
        table.add_row(what, f"{1e3 * taken / BATCH:.2f}", f"{BATCH / taken:,.0f}", targets.get(what, ""))
    console.print(table)
    console.print(f"Matrix products: {measure_gflops():.0f} GFLOP / s.")


if __name__ == "__main__":
    main()
