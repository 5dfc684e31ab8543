"""An agent of graphs made ready for waypoints: fine-tuned on graphs whose candidates and rooms are uncertain too.

    python recipes/waypoint_agents.py SEASON              # rcm-fidelity, about two minutes of CPU time
    python recipes/waypoints.py SEASON --rungs panorama --agents .learning/waypoints/rcm-fidelity-jitter.safetensors

The training environment changes every observation, and nothing is rendered (`training/jitter.py`). The loss is policy
gradient with the fidelity-oriented reward, plus imitation. With `--houses N`, decisions on the ground of N training
houses are imitated too (`training/waypoints.py`), from depth panoramas with inferred views and dead reckoning. They
take about 4 s of CPU time a house to collect. If interrupted, rerun the command to resume.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import msgspec
import torch

import itinera
from itinera.formats.hearth_season import season_houses
from itinera.formats.writing import atomic_write
from itinera.hearth.ground import ground_world
from itinera.policies.checkpoint import Model, encode_model, read_model
from itinera.policies.pretrained import model_file
from itinera.policies.room_classifier import load_room_classifier
from itinera.policies.tokenizer import Tokenizer
from itinera.seeding import generator
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.inferred_views import InferredPoseViews
from itinera.simulators.view_features import feature_kind
from itinera.simulators.waypoint_drivers import straight_driver
from itinera.simulators.waypoint_simulator import WaypointSimulator
from itinera.simulators.waypoints import DepthWaypoints
from itinera.tasks import Episode
from itinera.tasks.protocol import R2R_CE
from itinera.training.data import load_hearth
from itinera.training.dataset import BatchSampler
from itinera.training.evaluation import evaluate
from itinera.training.experts import shortest_path_expert
from itinera.training.jitter import CandidateJitter
from itinera.training.losses import ActorCriticLoss, imitation_loss
from itinera.training.malloc import tune_malloc
from itinera.training.progress import log_to_stderr
from itinera.training.rewards import make_fidelity_oriented_reward
from itinera.training.rollout import collect_rollout, mixed_forcing, sample
from itinera.training.trainer import Schedule, Trainer
from itinera.training.waypoints import WaypointRollout, collect_waypoint_rollout, waypoint_imitation_loss

SEED = 0
BATCH_SIZE = 64
MAX_STEPS = 15
TEACHER_FORCING_RATIO = 0.5  # share of agents that follow the expert in the imitation part
IMITATION_WEIGHT, IMITATION_EVERY = 0.3, 2  # beside the policy gradient, in every second step
STEPS = 500
EPISODES = 14  # paths of a house, on the ground
NOISE = 0.3  # share of their actions that are random
GROUND_BATCH = 32  # rollouts
GROUND_WEIGHT = 0.5  # of imitation on the ground


def collect_rollouts(season: Path, model: Model, houses: int) -> list[tuple[WaypointRollout, list[Episode]]]:
    """Rollouts in training houses, each with the episodes of its path: they differ in their words."""
    places = season_houses(season)
    assert places is not None
    tasks = itinera.read_tasks(season / "vlnce" / "train" / "train.json.gz")
    names = [column for column in model.card.columns if not feature_kind(column)]
    views = InferredPoseViews(load_room_classifier(), names, reach=model.card.reach)
    agent = model.agent(views.columns)
    simulator = WaypointSimulator(
        GroundSimulator.for_protocol(R2R_CE), DepthWaypoints(), straight_driver(R2R_CE), views=views
    )
    found = []
    for world_id in sorted(tasks.world_ids)[:houses]:
        rng = generator(SEED, "ground", world_id)
        paths: dict[str, list[Episode]] = {}
        for episode in tasks:
            if episode.world_id == world_id:
                paths.setdefault(str(episode.path_id), []).append(episode)
        world = ground_world(*places[world_id], id=world_id, radius=R2R_CE.robot_radius or 0.1)
        for k in rng.permutation(len(paths))[:EPISODES]:
            own = list(paths.values())[k]
            rollout = collect_waypoint_rollout(simulator, world, own[0], agent, rng, noise=NOISE)
            found.append((rollout, own))
    return found


def ground_loss(
    model: Model, rollouts: list[tuple[WaypointRollout, list[Episode]]], rng: torch.Generator
) -> torch.Tensor:
    """Imitation of a batch of the rollouts, each with the words of one of its episodes."""
    chosen = torch.randint(len(rollouts), (GROUND_BATCH,), generator=rng).tolist()
    said = [rollouts[k][1][int(torch.randint(len(rollouts[k][1]), (1,), generator=rng))] for k in chosen]
    encoded = [model.tokenizer.encode(one.instruction.text, max_length=model.card.max_words) for one in said]
    words = torch.nn.utils.rnn.pad_sequence([torch.from_numpy(one) for one in encoded], batch_first=True)
    lengths = torch.tensor([len(one) for one in encoded])
    return waypoint_imitation_loss(model.policy, [rollouts[k][0] for k in chosen], words, lengths)


def train(season: Path, agent: str, steps: int, houses: int, out: Path) -> str:
    """Fine-tune the agent and write its model file; a line with its scores on the graph, with and without noise."""
    torch.set_num_threads(1)
    tune_malloc()
    log_to_stderr()
    file = model_file(agent)
    assert file is not None
    model = read_model(file).model
    names = [column for column in model.card.columns if not feature_kind(column)]
    data = load_hearth(season, names=names, tokenizer=Tokenizer(model.card.words))
    if data.columns != model.card.columns:
        raise SystemExit(f"{agent} was trained with other views than those of {season}.")
    env = replace(data.env, jitter=CandidateJitter(data.columns))
    policy, batches = model.policy, BatchSampler(data.dataset("train"), BATCH_SIZE, seed=SEED)
    reward, actor_critic_loss = make_fidelity_oriented_reward(env, needs_stop=True), ActorCriticLoss()
    schedule = Schedule(steps, 3e-4, final_ratio=0.05, checkpoint_every=50)
    name = f"{Path(agent).stem}-jitter{f'-ground{houses}' if houses else ''}"
    rollouts = collect_rollouts(season, model, houses)
    out.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(model, schedule, seed=SEED, name=name, checkpoint=out / f"{name}-checkpoint.safetensors")
    options = {"expert": shortest_path_expert, "max_steps": MAX_STEPS}
    for step in trainer:
        rollout = collect_rollout(policy, env, batches[step], select_action=sample(trainer.rng), **options)
        loss = actor_critic_loss(rollout, reward(rollout))
        if step % IMITATION_EVERY == 0:
            batch = batches[step]
            forced = torch.rand(batch.size, generator=trainer.rng) < TEACHER_FORCING_RATIO
            select_action = mixed_forcing(forced, sample(trainer.rng))
            imitated = collect_rollout(policy, env, batch, select_action=select_action, **options)
            loss = loss + IMITATION_WEIGHT * imitation_loss(imitated)
        if rollouts:
            loss = loss + GROUND_WEIGHT * ground_loss(model, rollouts, trainer.rng)
        trainer.update(loss)
    scores = {}
    for label, world in (("as it is", data.env), ("with noise", env)):
        torch.manual_seed(SEED)
        found = evaluate(policy, world, data.dataset("val_unseen"), max_steps=MAX_STEPS)
        scores[f"graph, {label}"] = {metric: found.format(metric) for metric in ("SR", "SPL", "nDTW")}
    metadata = {
        **model.card.metadata,
        "description": f"{agent}, fine-tuned on graphs with jittered candidates and mistaken rooms",
        "fine-tuning": {
            "steps": steps,
            "seed": SEED,
            "rollouts on the ground": len(rollouts),
            "training data": "train split of a Hearth season",
        },
        "val-unseen, %": scores,
    }
    with atomic_write(out / f"{name}.safetensors") as stream:
        card = msgspec.structs.replace(model.card, metadata=metadata)
        stream.write(encode_model(replace(model, card=card), half=True))
    return f"{name}: {scores}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("season", type=Path, help="Hearth season; built if missing")
    parser.add_argument("--agent", default="rcm-fidelity", help="the agent to start from (rcm-fidelity)")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"optimizer steps ({STEPS})")
    parser.add_argument("--houses", type=int, default=0, help="houses with imitation on the ground, too (0)")
    parser.add_argument("--out", type=Path, default=Path(".learning/waypoints"), help="folder for the model file")
    args = parser.parse_args()
    if not (args.season / "season.json").exists():
        itinera.build_hearth(args.season)
    print(train(args.season, args.agent, args.steps, args.houses, args.out))


if __name__ == "__main__":
    main()
