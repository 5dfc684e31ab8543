"""HAMT: packed tokens are those of each agent alone, and the history is what was observed."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from itinera.errors import BadArgument
from itinera.policies import hamt
from itinera.policies.agent import PolicyAgent
from itinera.policies.checkpoint import build_model, make_card
from itinera.policies.hamt import HAMT, HAMTConfig, find_other_views
from itinera.policies.tokenizer import Tokenizer
from itinera.policies.transformer import LayerConfig, Packing, TransformerLayer, multi_head_attention
from itinera.runs.rollout import rollout
from itinera.simulators.candidates import graph_candidates
from itinera.simulators.graph import GraphSimulator
from itinera.tasks import Instruction, Tour
from itinera.tasks.protocol import R2R
from itinera.training.experts import shortest_path_expert
from itinera.training.rollout import collect_rollout, greedy, teacher_forcing
from itinera.worlds import Pose
from text_worlds import episode, world
from training.small_models import COLUMNS, TEXTS, WORDS, NumberedViews, tiny_data

TINY = HAMTConfig(
    hidden_dim=16,
    num_heads=2,
    feedforward_dim=24,
    num_text_layers=1,
    num_cross_layers=2,
    num_panorama_layers=1,
    use_panorama=False,
    dropout=0.1,
    env_dropout=0.3,
    max_word_positions=20,
    max_step_positions=6,
)
KINDS = {
    "text attends": TINY,
    "text does not attend": replace(TINY, text_attends=False, norm_first=True),
    "panorama": replace(TINY, use_panorama=True),
}
DRAWING = """
    a--b-c--d
    |  |    |
    e--f----g
"""
PATHS = ("abcd", "gfb", "ea", "dgfeab")


def make_data(*, panorama=False):
    episodes = [
        episode(str(k), path, instruction=Instruction(TEXTS[k]), start=Pose(path[0], 0.9 * k))
        for k, path in enumerate(PATHS)
    ]
    return tiny_data({"house": world(DRAWING)}, episodes, panorama=panorama)


def make_policy(config, kind="hamt", seed=0):
    torch.manual_seed(seed)
    policy = build_model(make_card(kind, config, COLUMNS, Tokenizer(WORDS))).policy
    policy.eval()
    return policy


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("select_action", [greedy, teacher_forcing])
def test_outputs_do_not_depend_on_the_rest_of_the_batch(kind, select_action):
    config = KINDS[kind]
    here, policy = make_data(panorama=config.use_panorama), make_policy(config)
    if config.use_panorama:  # the environment stores panoramas in half precision
        here = replace(here, env=replace(here.env, panoramas=views(here.env)))
    batch = here.dataset.batch(range(4))
    with torch.no_grad():
        walked = collect_rollout(
            policy, here.env, batch, select_action=select_action, expert=shortest_path_expert, max_steps=7
        )
    assert len(walked.steps) > 1
    for k, task in enumerate(here.episodes):
        agent = PathAgent(policy, walked.path[k], here.env, stops=bool(walked.stopped[k]))
        tour = Tour(task.id, "house", (task.id,))
        protocol = replace(R2R, step_limit=7)
        rollout(agent, GraphSimulator(NumberedViews()), here.worlds["house"], tour, [task], protocol=protocol, seed=0)
        own = [step.output.logits[step.rows == k][0] for step in walked.steps if k in step.rows]
        assert len(agent.logits) == len(own)
        for one, other in zip(own, agent.logits, strict=True):
            torch.testing.assert_close(one[: len(other)], other, rtol=1e-3, atol=1e-3)
            assert (one[len(other) :] == -torch.inf).all()


class PathAgent(PolicyAgent):
    """Records logits and follows these nodes."""

    def __init__(self, policy, path, env, *, stops):
        super().__init__(policy, Tokenizer(WORDS), COLUMNS, view_columns=COLUMNS)
        self.path = [env.nodes[n] for n in path]
        self.stops, self.logits = stops, []

    def act(self, observation):
        self.logits.append(self._forward(observation).logits[0])
        ahead = self.path[len(self.logits) :]
        if not ahead or ahead[0] == observation.place:
            return 0
        return 1 + observation.candidates.nodes.index(ahead[0])


def views(env):
    return torch.stack([torch.from_numpy(NumberedViews().at("house", node)).float() for node in env.nodes])


def test_attention_is_masked_and_per_head():
    torch.manual_seed(0)
    queries, keys, values = torch.randn(3, 4, 8), torch.randn(3, 5, 8), torch.randn(3, 5, 8)
    counts = [2, 5, 1]
    mask = torch.arange(5) < torch.tensor(counts)[:, None]
    found = multi_head_attention(queries, torch.cat([keys, values], dim=2), mask, 2)
    for k, count in enumerate(counts):
        for head in (slice(0, 4), slice(4, 8)):
            scores = queries[k, :, head] @ keys[k, :count, head].T / 2  # the root of four dimensions per head
            torch.testing.assert_close(found[k, :, head], scores.softmax(dim=1) @ values[k, :count, head])


@pytest.mark.parametrize("first", [True, False])
def test_a_layer_computes_the_first_rows_as_if_it_computed_all(first):
    torch.manual_seed(0)
    layer = TransformerLayer(LayerConfig(8, 2, 12, first, 0.0))
    outputs = torch.tensor([[0, 1], [2, 3]])
    every = torch.cat([outputs, torch.tensor([[4, 5], [6, 7]])], dim=1)  # four rows and three
    rows = torch.randn(7, 8)
    packing = Packing.from_padded_index(every, 7)
    first_rows = layer(rows, packing, Packing.from_padded_index(outputs, 4))
    torch.testing.assert_close(first_rows, layer(rows, packing)[:4])


def test_packing_is_the_inverse_of_padding():
    mask = torch.tensor([[True, False, True], [False, True, False]])
    packing = Packing.from_mask(mask)
    rows = torch.arange(3.0)[:, None]
    assert packing.pack(packing.pad(rows)).equal(rows)
    assert packing.mask.equal(mask)
    assert packing.owner_index.tolist() == [0, 0, 1]
    assert Packing.from_padded_index(packing.padded_index, 3).flat_index.equal(packing.flat_index)


def test_other_views_contain_no_candidate():
    here = make_data(panorama=True)
    at = here.env.reset(here.dataset.batch([0, 1]).start, torch.tensor([3, 17]))
    left = find_other_views(here.env.observe(at))
    candidates = graph_candidates(here.worlds["house"].space)
    for row, node in zip(left, at.node.tolist(), strict=True):
        taken = set(candidates[here.env.nodes[node]].views.tolist())
        assert set((~row).nonzero().squeeze(1).tolist()) == taken


def test_a_missing_panorama_is_an_error():
    here = make_data()
    policy = make_policy(KINDS["panorama"])
    batch = here.dataset.batch([0])
    with pytest.raises(BadArgument, match="uses all 36 views"):
        collect_rollout(policy, here.env, batch, select_action=greedy, expert=shortest_path_expert, max_steps=2)


@pytest.mark.parametrize("trained", [True, False])
def test_gradients_reach_the_history_only_if_it_is_trained(trained):
    here, policy = make_data(), make_policy(replace(TINY, train_history=trained))
    options = {"select_action": teacher_forcing, "expert": shortest_path_expert, "max_steps": 5}
    walked = collect_rollout(policy, here.env, here.dataset.batch([0]), **options)
    walked.steps[-1].output.logits[0, 0].backward()
    assert (policy.history_geometry[0].weight.grad is not None) == trained
    assert policy.visual_encoder.projections[0].weight.grad is not None


def test_the_default_configuration_is_the_papers_and_the_small_one_is_small():
    c = HAMTConfig()
    layers = c.num_text_layers, c.num_panorama_layers, c.num_cross_layers
    assert (c.hidden_dim, c.num_heads, *layers) == (768, 12, 9, 2, 4)
    tokenizer = Tokenizer(tuple(f"word{k}" for k in range(1000)))
    small = HAMT(tuple(f"thing{k}" for k in range(300)), tokenizer, hamt.SMALL)
    assert 0.5e6 < sum(p.numel() for p in small.parameters()) < 2e6


def test_it_forgets_between_episodes():
    policy = make_policy(TINY)
    words, lengths = torch.tensor([[3, 4]]), torch.tensor([2])
    state = policy.encode_instruction(words, lengths)
    again = policy.update_instruction(state, words, lengths)
    assert again.text.equal(state.text)
    assert again.history.shape[1] == 0
