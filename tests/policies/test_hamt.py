"""HAMT: packed tokens are those of each walker alone, and what is kept in mind is what was seen."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from drawn import episode, world
from itinera.errors import BadArgument
from itinera.policies import hamt
from itinera.policies.agent import Walker
from itinera.policies.checkpoint import card_of, new_model
from itinera.policies.hamt import HAMT, Sizes, views_left
from itinera.policies.tokenizer import Vocabulary
from itinera.policies.transformer import Block, Shape, attend, packing_of, packing_of_mask
from itinera.runs.rollout import walk
from itinera.simulators.candidates import graph_candidates
from itinera.simulators.graph import GraphSimulator
from itinera.tasks import Instruction, Tour
from itinera.tasks.protocol import R2R
from itinera.training.experts import to_goal
from itinera.training.rollout import as_taught, greedy, roll_out
from itinera.worlds import Pose
from training.pupils import COLUMNS, TEXTS, WORDS, Numbered, school

TINY = Sizes(
    size=16,
    heads=2,
    inner=24,
    text_layers=1,
    cross_layers=2,
    panorama_layers=1,
    around=False,
    dropout=0.1,
    env_dropout=0.3,
    longest=20,
    most_steps=6,
)
KINDS = {
    "words look": TINY,
    "words do not look": replace(TINY, words_look=False, norm_first=True),
    "around": replace(TINY, around=True),
}
DRAWING = """
    a--b-c--d
    |  |    |
    e--f----g
"""
PATHS = ("abcd", "gfb", "ea", "dgfeab")


def place(*, around=False):
    episodes = [
        episode(str(k), path, instruction=Instruction(TEXTS[k]), start=Pose(path[0], 0.9 * k))
        for k, path in enumerate(PATHS)
    ]
    return school({"house": world(DRAWING)}, episodes, around=around)


def made(sizes, kind="hamt", seed=0):
    torch.manual_seed(seed)
    policy = new_model(card_of(kind, sizes, COLUMNS, Vocabulary(WORDS))).policy
    policy.eval()
    return policy


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("choose", [greedy, as_taught])
def test_each_of_many_weighs_what_it_weighs_alone(kind, choose):
    sizes = KINDS[kind]
    here, policy = place(around=sizes.around), made(sizes)
    if sizes.around:  # the atlas keeps views in half precision
        here = replace(here, atlas=replace(here.atlas, around=views(here.atlas)))
    with torch.no_grad():
        walked = roll_out(policy, here.atlas, here.lessons.batch(range(4)), choose=choose, teacher=to_goal, limit=7)
    assert len(walked.steps) > 1
    for k, task in enumerate(here.episodes):
        agent = Obedient(policy, walked.path[k], here.atlas, stops=bool(walked.stopped[k]))
        tour = Tour(task.id, "house", (task.id,))
        protocol = replace(R2R, step_limit=7)
        walk(agent, GraphSimulator(Numbered()), here.worlds["house"], tour, [task], protocol=protocol, seed=0)
        own = [step.weighed.logits[step.rows == k][0] for step in walked.steps if k in step.rows]
        assert len(agent.logits) == len(own)
        for one, other in zip(own, agent.logits, strict=True):
            torch.testing.assert_close(one[: len(other)], other, rtol=1e-3, atol=1e-3)
            assert (one[len(other) :] == -torch.inf).all()


class Obedient(Walker):
    """Keeps what it weighed, and goes along these nodes."""

    def __init__(self, policy, path, atlas, *, stops):
        super().__init__(policy, Vocabulary(WORDS), COLUMNS, shown=COLUMNS)
        self.path = [atlas.nodes[n] for n in path]
        self.stops, self.logits = stops, []

    def act(self, observation):
        self.logits.append(self._weighed(observation).logits[0])
        ahead = self.path[len(self.logits) :]
        if not ahead or ahead[0] == observation.place:
            return 0
        return 1 + observation.candidates.nodes.index(ahead[0])


def views(atlas):
    return torch.stack([torch.from_numpy(Numbered().at("house", node)).float() for node in atlas.nodes])


def test_attention_looks_at_what_is_there_head_by_head():
    torch.manual_seed(0)
    asked, keys, values = torch.randn(3, 4, 8), torch.randn(3, 5, 8), torch.randn(3, 5, 8)
    counts = [2, 5, 1]
    found = attend(asked, torch.cat([keys, values], dim=2), torch.arange(5) < torch.tensor(counts)[:, None], 2)
    for walker, count in enumerate(counts):
        for head in (slice(0, 4), slice(4, 8)):
            scores = asked[walker, :, head] @ keys[walker, :count, head].T / 2  # the root of four numbers a head
            torch.testing.assert_close(found[walker, :, head], scores.softmax(dim=1) @ values[walker, :count, head])


@pytest.mark.parametrize("first", [True, False])
def test_a_block_asked_about_the_first_rows_answers_as_if_asked_about_all(first):
    torch.manual_seed(0)
    block = Block(Shape(8, 2, 12, first, 0.0))
    asked = torch.tensor([[0, 1], [2, 3]])
    every = torch.cat([asked, torch.tensor([[4, 5], [6, 7]])], dim=1)  # of the second walker three rows, of the first 4
    rows = torch.randn(7, 8)
    whole = block(rows, packing_of(every, 7))
    torch.testing.assert_close(block(rows, packing_of(every, 7), packing_of(asked, 4)), whole[:4])


def test_packing_spreads_and_gathers():
    mask = torch.tensor([[True, False, True], [False, True, False]])
    packing = packing_of_mask(mask)
    rows = torch.arange(3.0)[:, None]
    assert packing.gather(packing.spread(rows)).equal(rows)
    assert packing.mask.equal(mask)
    assert packing.walkers.tolist() == [0, 0, 1]
    assert packing_of(packing.slots, 3).cells.equal(packing.cells)


def test_the_views_left_are_those_no_way_lies_in():
    here = place(around=True)
    at = here.atlas.put(here.lessons.batch([0, 1]).start, torch.tensor([3, 17]))
    left = views_left(here.atlas.look(at))
    candidates = graph_candidates(here.worlds["house"].space)
    for row, node in zip(left, at.node.tolist(), strict=True):
        taken = set(candidates[here.atlas.nodes[node]].views.tolist())
        assert set((~row).nonzero().squeeze(1).tolist()) == taken


def test_who_looks_around_needs_all_views():
    here = place()
    policy = made(KINDS["around"])
    batch = here.lessons.batch([0])
    with pytest.raises(BadArgument, match="looks at all views"):
        roll_out(policy, here.atlas, batch, choose=greedy, teacher=to_goal, limit=2)


@pytest.mark.parametrize("trained", [True, False])
def test_history_is_learned_only_where_it_shall_be(trained):
    here, policy = place(), made(replace(TINY, trains_history=trained))
    walked = roll_out(policy, here.atlas, here.lessons.batch([0]), choose=as_taught, teacher=to_goal, limit=5)
    walked.steps[-1].weighed.logits[0, 0].backward()
    assert (policy.onward[0].weight.grad is not None) == trained
    assert policy.sights.things[0].weight.grad is not None


def test_sizes_are_the_papers_and_the_small_ones_small():
    assert (Sizes().size, Sizes().heads, Sizes().text_layers, Sizes().panorama_layers, Sizes().cross_layers) == (
        768, 12, 9, 2, 4,
    )  # fmt: skip
    vocabulary = Vocabulary(tuple(f"word{k}" for k in range(1000)))
    small = HAMT(tuple(f"thing{k}" for k in range(300)), vocabulary, hamt.SMALL)
    assert 0.5e6 < sum(p.numel() for p in small.parameters()) < 2e6


def test_it_forgets_between_episodes():
    assert not hasattr(made(TINY), "read_on")
