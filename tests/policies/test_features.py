from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from drawn import episode, world
from itinera.errors import BadArgument
from itinera.policies.encoders import Meanings, WayEncoder
from itinera.policies.features import environment, looked, within
from itinera.policies.tokenizer import Vocabulary
from training.pupils import COLUMNS, WORDS, school

PLACE = school({"house": world("a-b-c\n  |\n  d")}, [episode("1", "abc"), episode("2", "db")], around=True)


def seen_at(*nodes: str):
    atlas = PLACE.atlas
    at = torch.tensor([atlas.number["house", node] for node in nodes])
    return atlas.look(atlas.put(at, torch.full((len(nodes),), 14)))


def encoder() -> WayEncoder:
    torch.manual_seed(0)
    return WayEncoder(COLUMNS, Vocabulary(WORDS), word=4, size=6)


def meanings(made: WayEncoder) -> Meanings:
    return made.meanings(torch.ones(len(Vocabulary(WORDS)), 4))


def test_attention_goes_to_the_place_and_its_ways_or_to_all_views():
    made, seen = encoder(), seen_at("a", "b")
    near = looked(made, meanings(made), seen, around=False)
    assert near.there.tolist() == [[True, True, False, False], [True] * 4]
    torch.testing.assert_close(near.views[:, 0], near.here)
    torch.testing.assert_close(near.views[1, 1:], near.candidates[1:])
    assert near.who.tolist() == [0, 1, 1, 1]
    far = looked(made, meanings(made), seen, around=True)
    assert far.views.shape == (2, 36, 6)
    assert bool(far.there.all())
    torch.testing.assert_close(far.candidates, near.candidates)


def test_who_must_look_around_says_so_where_it_cannot():
    made, seen = encoder(), replace(seen_at("a"), around=None)
    with pytest.raises(BadArgument, match="looks at all 36 views, and was shown the ways alone"):
        looked(made, meanings(made), seen, around=True)


@pytest.mark.parametrize("around", [False, True])
def test_feature_dropout_is_of_one_walker_and_never_of_angles(around):
    made, seen = encoder(), seen_at("a", "b")
    kept = torch.ones(2, len(COLUMNS))
    kept[0] = 0
    dropped = looked(made, meanings(made), seen, around=around, kept=kept)
    whole = looked(made, meanings(made), seen, around=around)
    torch.testing.assert_close(dropped.views[1], whole.views[1])
    blind = replace(
        seen, candidates=seen.candidates * 0, here=seen.here * 0, taken=seen.taken * 0, around=seen.around * 0
    )
    torch.testing.assert_close(dropped.views[0], looked(made, meanings(made), blind, around=around).views[0])


def test_an_environment_lacks_a_share_and_the_mean_stays():
    kept = environment(20_000, 0.4, torch.Generator().manual_seed(0))
    assert sorted(set(kept.tolist())) == pytest.approx([0, 1 / 0.6])
    assert float(kept.mean()) == pytest.approx(1, abs=0.05)


def test_features_that_are_lacking_are_as_if_they_were_not_seen():
    made, seen = encoder(), seen_at("a", "b")
    kept = torch.tensor([0.0, 2, 0, 2, 2, 0, 2])
    lacking = looked(made, within(meanings(made), kept), seen, around=False)
    masked = replace(seen, candidates=seen.candidates * kept, here=seen.here * kept, taken=seen.taken * kept)
    torch.testing.assert_close(lacking.views, looked(made, meanings(made), masked, around=False).views)
    assert within(meanings(made), None).looks.shape == (len(COLUMNS), 10)
