from __future__ import annotations

import networkx
import pytest
import torch
from hypothesis import Phase, given, settings

from drawn import episode, networkx_graph, world
from itinera.errors import BadArgument
from itinera.policies import envdrop, speaker
from itinera.policies.checkpoint import card_of, new_model
from itinera.policies.tokenizer import Vocabulary
from itinera.tasks import Instruction
from itinera.training.back_translation import (
    along_batch,
    back_translation,
    described,
    route_of,
    telling,
    told,
    undescribed,
)
from itinera.training.dataset import Shuffle, lessons_of
from itinera.training.experts import to_goal
from itinera.training.rollout import roll_out
from itinera.training.trainer import Chance, Schedule, train
from training.pupils import COLUMNS, WORDS, Watched, graph_of, of_walker, pupil, school, schools

VOCABULARY = Vocabulary(WORDS)
STREET = school(
    {"street": world("a-b-c-d-e-f-g-h-i", "street"), "yard": world("a-b-c-d\n  | |\n  e-f", "yard")},
    [
        episode("1", "abcd", world_id="street", instruction=Instruction("go to the sofa .")),
        episode("2", "edc", world_id="street", instruction=Instruction("left then stop")),
        episode("3", "ebcd", world_id="yard", instruction=Instruction("go left to the kitchen . stop .")),
    ],
)


def a_speaker(words: tuple[str, ...] = WORDS):
    torch.manual_seed(0)
    sizes = speaker.Sizes(word=8, sight=12, path=10, state=14, dropout=0.0, around=False)
    return new_model(card_of("speaker", sizes, COLUMNS, Vocabulary(words)))


def a_listener():
    torch.manual_seed(0)
    sizes = envdrop.Sizes(word=8, text=8, sight=12, turn=4, state=10, around=False)
    return new_model(card_of("envdrop", sizes, COLUMNS, VOCABULARY))


@settings(max_examples=30, phases=(Phase.generate,))
@given(place=schools())
def test_along_a_path_a_speaker_sees_what_one_who_walks_it_does(place):
    batch = place.lessons.batch(range(len(place.episodes)))
    route = along_batch(place.atlas, batch)
    watched = Watched(pupil().policy)
    taught = []

    def follow(weighed, teaching, rows):
        step = len(taught)
        following = batch.path[rows, torch.minimum(torch.tensor(step + 1), batch.path_lengths[rows] - 1)]
        at = batch.path[rows, torch.minimum(torch.tensor(step), batch.path_lengths[rows] - 1)]
        action = torch.where(step + 1 < batch.path_lengths[rows], place.atlas.action_along(at, following), 0)
        taught.append((rows, action))
        return action

    with torch.no_grad():
        roll_out(watched, place.atlas, batch, choose=follow, teacher=to_goal, limit=int(batch.path_lengths.max()))
    first = batch.path_lengths.cumsum(0) - batch.path_lengths
    for step, ((rows, action), (seen, _)) in enumerate(zip(taught, watched.shown[1:], strict=True)):
        for at, k in enumerate(rows.tolist()):
            if step < batch.path_lengths[k]:
                place_number = int(first[k]) + step
                assert route.action[place_number] == action[at]
                mine, theirs = of_walker(route.seen, place_number), of_walker(seen, at)
                for name in ("candidates", "geometry", "here", "taken", "taken_geometry"):
                    assert torch.equal(getattr(mine, name), getattr(theirs, name)), name


def test_a_path_that_jumps_cannot_be_told():
    atlas = STREET.atlas
    path = torch.tensor([[atlas.number["street", node] for node in "ac"]])
    with pytest.raises(BadArgument, match="not next to it"):
        route_of(atlas, path, torch.tensor([2]), torch.tensor([12]))


def test_a_speaker_learns_to_tell_paths_apart():
    model = a_speaker()
    lesson = telling(model.policy, STREET.atlas, Shuffle(STREET.lessons, 3, seed=0))
    train(model, lesson, Schedule(150, rate=0.02, warm_up=5), seed=0, name="speaker")
    said = described(model.policy, STREET.atlas, STREET.lessons, VOCABULARY)
    assert [one.instruction.text for one in said] == [
        "go to the sofa.",
        "left then stop",
        "go left to the kitchen. stop.",
    ]
    assert [one.id for one in said] == ["1", "2", "3"]


def test_telling_changes_the_words_alone_and_leaves_the_speaker_as_it_was():
    made = a_speaker().policy.train()
    batch = STREET.lessons.batch(range(3))
    again = told(made, STREET.atlas, batch, most=5)
    assert made.training
    assert again.words.shape[1] <= 5
    assert torch.equal(again.path, batch.path)
    assert torch.equal(again.words, told(made.eval(), STREET.atlas, batch, most=5).words)


def test_what_is_undescribed_are_all_shortest_paths_of_that_size():
    found = undescribed(STREET.atlas, ["street", "yard"], 1000, seed=1, nodes=(4, 6), least=5.0)
    expected = set()
    for name, place in STREET.worlds.items():
        net = networkx_graph(graph_of(place))
        for a, paths in networkx.all_pairs_dijkstra_path(net):
            lengths = networkx.single_source_dijkstra_path_length(net, a)
            expected |= {(name, a, b) for b, path in paths.items() if 4 <= len(path) <= 6 and lengths[b] >= 5}
    assert {(one.world_id, one.reference[0], one.reference[-1]) for one in found} == expected
    assert len(found) == len(expected)
    for one in found:
        space = graph_of(STREET.worlds[one.world_id])
        steps = space.along(one.reference)
        assert steps.sum() == pytest.approx(space.between(one.reference[:1], one.goals)[0, 0])
        assert one.instruction.text == ""


def test_undescribed_paths_depend_on_the_seed_and_stay_in_their_worlds():
    draws = [
        [(one.reference, one.start.heading) for one in undescribed(STREET.atlas, ["street"], 5, seed=seed)]
        for seed in (1, 1, 2)
    ]
    assert draws[0] == draws[1] != draws[2]
    assert len(draws[0]) == 5
    with pytest.raises(BadArgument, match="World attic is not in the atlas"):
        undescribed(STREET.atlas, ["attic"], 5, seed=1)


def test_speaker_and_listener_are_in_one_environment(monkeypatch):
    from itinera.training import back_translation as speaking

    used = []
    environment = speaking.environment
    monkeypatch.setattr(speaking, "environment", lambda *given: used.append(environment(*given)) or used[-1])
    model, listener = a_speaker(), a_listener()
    monkeypatch.setattr(model.policy, "remember", _noting(model.policy.remember, heard := []))
    monkeypatch.setattr(listener.policy, "read", _noting(listener.policy.read, seen := []))
    extra = lessons_of(undescribed(STREET.atlas, ["street"], 8, seed=0), STREET.atlas, VOCABULARY)
    lesson = back_translation(listener.policy, model.policy, STREET.atlas, Shuffle(extra, 4, seed=0), limit=5)
    chance = Chance.of(0, "test")
    for step in range(2):
        lesson(step, chance).backward()
    assert heard[0] is seen[0] is used[0]
    assert heard[1] is seen[1] is used[1]
    assert not torch.equal(used[0], used[1])
    assert all(value.grad is None for value in model.policy.parameters())
    assert listener.policy.want.weight.grad is not None


def _noting(deed, kept):
    def noted(*given, **more):
        kept.append(more["kept"])
        return deed(*given, **more)

    return noted


def test_back_translation_needs_one_vocabulary():
    model, listener = a_speaker(WORDS[:-1]), a_listener()
    with pytest.raises(BadArgument, match="do not know the same words"):
        back_translation(listener.policy, model.policy, STREET.atlas, Shuffle(STREET.lessons, 2, seed=0), limit=5)
