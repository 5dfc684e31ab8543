from __future__ import annotations

import networkx
import pytest
import torch
from hypothesis import Phase, given, settings

from itinera.errors import BadArgument
from itinera.policies import envdrop, speaker
from itinera.policies.checkpoint import build_model, make_card
from itinera.policies.tokenizer import Tokenizer
from itinera.tasks import Instruction
from itinera.training import back_translation
from itinera.training.back_translation import (
    back_translation_objective,
    observe_paths,
    observe_references,
    relabel_batch,
    relabel_episodes,
    sample_unlabeled_paths,
    speaker_objective,
)
from itinera.training.dataset import BatchSampler, EpisodeDataset
from itinera.training.experts import shortest_path_expert
from itinera.training.rollout import collect_rollout
from itinera.training.trainer import Schedule, seed_torch, train_model
from text_worlds import episode, networkx_graph, world
from training.small_models import (
    COLUMNS,
    WORDS,
    RecordingPolicy,
    require_graph,
    select_agent,
    tiny_data,
    tiny_datasets,
    tiny_model,
)

TOKENIZER = Tokenizer(WORDS)
STREET = tiny_data(
    {"street": world("a-b-c-d-e-f-g-h-i", "street"), "yard": world("a-b-c-d\n  | |\n  e-f", "yard")},
    [
        episode("1", "abcd", world_id="street", instruction=Instruction("go to the sofa .")),
        episode("2", "edc", world_id="street", instruction=Instruction("left then stop")),
        episode("3", "ebcd", world_id="yard", instruction=Instruction("go left to the kitchen . stop .")),
    ],
)


def make_speaker(words: tuple[str, ...] = WORDS):
    torch.manual_seed(0)
    config = speaker.SpeakerConfig(
        word_dim=8, visual_dim=12, path_dim=10, hidden_dim=14, dropout=0.0, use_panorama=False
    )
    return build_model(make_card("speaker", config, COLUMNS, Tokenizer(words)))


def make_listener():
    torch.manual_seed(0)
    config = envdrop.EnvDropConfig(
        word_dim=8, text_dim=8, visual_dim=12, angle_dim=4, hidden_dim=10, use_panorama=False
    )
    return build_model(make_card("envdrop", config, COLUMNS, TOKENIZER))


@settings(max_examples=30, phases=(Phase.generate,))
@given(place=tiny_datasets())
def test_observations_along_a_path_are_those_of_a_rollout(place):
    batch = place.dataset.batch(range(len(place.episodes)))
    observed = observe_references(place.env, batch)
    policy = RecordingPolicy(tiny_model().policy)
    taken = []

    def follow(output, expert_action, rows):
        step = len(taken)
        following = batch.path[rows, torch.minimum(torch.tensor(step + 1), batch.path_lengths[rows] - 1)]
        at = batch.path[rows, torch.minimum(torch.tensor(step), batch.path_lengths[rows] - 1)]
        action = torch.where(step + 1 < batch.path_lengths[rows], place.env.neighbor_action(at, following), 0)
        taken.append((rows, action))
        return action

    with torch.no_grad():
        collect_rollout(
            policy,
            place.env,
            batch,
            select_action=follow,
            expert=shortest_path_expert,
            max_steps=int(batch.path_lengths.max()),
        )
    first = batch.path_lengths.cumsum(0) - batch.path_lengths
    for step, ((rows, action), (seen, _)) in enumerate(zip(taken, policy.records[1:], strict=True)):
        for at, k in enumerate(rows.tolist()):
            if step < batch.path_lengths[k]:
                place_number = int(first[k]) + step
                assert observed.action[place_number] == action[at]
                mine, theirs = select_agent(observed.observation, place_number), select_agent(seen, at)
                for name in ("candidates", "geometry", "place", "previous", "previous_geometry"):
                    assert torch.equal(getattr(mine, name), getattr(theirs, name)), name


def test_a_path_that_jumps_has_no_actions():
    env = STREET.env
    path = torch.tensor([[env.node_index["street", node] for node in "ac"]])
    with pytest.raises(BadArgument, match="are not adjacent"):
        observe_paths(env, path, torch.tensor([2]), torch.tensor([12]))


def test_a_speaker_learns_to_describe_paths():
    model = make_speaker()
    loss_fn = speaker_objective(model.policy, STREET.env, BatchSampler(STREET.dataset, 3, seed=0))
    train_model(model, loss_fn, Schedule(150, learning_rate=0.02, warmup_steps=5), seed=0, name="speaker")
    said = relabel_episodes(model.policy, STREET.env, STREET.dataset, TOKENIZER)
    assert [one.instruction.text for one in said] == [
        "go to the sofa.",
        "left then stop",
        "go left to the kitchen. stop.",
    ]
    assert [one.id for one in said] == ["1", "2", "3"]


def test_relabeling_changes_only_the_words_and_not_the_mode_of_the_speaker():
    made = make_speaker().policy.train()
    batch = STREET.dataset.batch(range(3))
    again = relabel_batch(made, STREET.env, batch, max_words=5)
    assert made.training
    assert again.words.shape[1] <= 5
    assert torch.equal(again.path, batch.path)
    assert torch.equal(again.words, relabel_batch(made.eval(), STREET.env, batch, max_words=5).words)


def test_unlabeled_paths_are_all_shortest_paths_of_that_size():
    found = sample_unlabeled_paths(STREET.env, ["street", "yard"], 1000, seed=1, nodes=(4, 6), min_length=5.0)
    expected = set()
    for name, place in STREET.worlds.items():
        net = networkx_graph(require_graph(place))
        for a, paths in networkx.all_pairs_dijkstra_path(net):
            lengths = networkx.single_source_dijkstra_path_length(net, a)
            expected |= {(name, a, b) for b, path in paths.items() if 4 <= len(path) <= 6 and lengths[b] >= 5}
    assert {(one.world_id, one.reference[0], one.reference[-1]) for one in found} == expected
    assert len(found) == len(expected)
    for one in found:
        space = require_graph(STREET.worlds[one.world_id])
        steps = space.along(one.reference)
        assert steps.sum() == pytest.approx(space.between(one.reference[:1], one.goals)[0, 0])
        assert one.instruction.text == ""


def test_unlabeled_paths_depend_on_the_seed_and_stay_in_their_worlds():
    draws = [
        [(one.reference, one.start.heading) for one in sample_unlabeled_paths(STREET.env, ["street"], 5, seed=seed)]
        for seed in (1, 1, 2)
    ]
    assert draws[0] == draws[1] != draws[2]
    assert len(draws[0]) == 5
    with pytest.raises(BadArgument, match="World attic is not in the environment"):
        sample_unlabeled_paths(STREET.env, ["attic"], 5, seed=1)


def test_speaker_and_listener_are_in_one_environment(monkeypatch):
    samples, spoken, listened = [], [], []
    draw = back_translation.sample_environment
    monkeypatch.setattr(
        back_translation, "sample_environment", lambda *args: samples.append(draw(*args)) or samples[-1]
    )
    model, listener = make_speaker(), make_listener()
    monkeypatch.setattr(model.policy, "encode_paths", _recording(model.policy.encode_paths, spoken))
    monkeypatch.setattr(listener.policy, "encode_instruction", _recording(listener.policy.encode_instruction, listened))
    unlabeled = sample_unlabeled_paths(STREET.env, ["street"], 8, seed=0)
    extra = EpisodeDataset.from_episodes(unlabeled, STREET.env, TOKENIZER)
    batches = BatchSampler(extra, 4, seed=0)
    loss_fn = back_translation_objective(listener.policy, model.policy, STREET.env, batches, max_steps=5)
    rng = seed_torch(0, "test")
    for step in range(2):
        loss_fn(step, rng).backward()
    assert spoken[0] is listened[0] is samples[0]
    assert spoken[1] is listened[1] is samples[1]
    assert not torch.equal(samples[0], samples[1])
    assert all(value.grad is None for value in model.policy.parameters())
    assert listener.policy.action_query.weight.grad is not None


def _recording(function, environments):
    def call(*args, environment, **options):
        environments.append(environment)
        return function(*args, environment=environment, **options)

    return call


def test_back_translation_needs_one_vocabulary():
    model, listener = make_speaker(WORDS[:-1]), make_listener()
    with pytest.raises(BadArgument, match="have different vocabularies"):
        back_translation_objective(
            listener.policy, model.policy, STREET.env, BatchSampler(STREET.dataset, 2, seed=0), max_steps=5
        )
