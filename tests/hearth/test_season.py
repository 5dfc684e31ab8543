"""Seasons: R2R's shape at every size, and secrets that stay secret."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from itinera.errors import BadArgument
from itinera.hearth.season import (
    HOUSE_CYCLE,
    HOUSES_PER_ROLE,
    PATHS_PER_SPLIT,
    house_indices,
    house_role,
    paths_per_split,
    public_season,
    secret_season,
)


def test_a_whole_season_has_the_shape_of_r2r():
    assert Counter(map(house_role, range(HOUSE_CYCLE))) == HOUSES_PER_ROLE
    paths = Counter[str]()
    houses = Counter[str]()
    for index in range(HOUSE_CYCLE):
        paths.update(paths_per_split(index))
        houses.update(paths_per_split(index).keys())
    assert paths == PATHS_PER_SPLIT
    assert houses == {"train": 61, "val_seen": 56, "val_unseen": 11, "test": 18}


@pytest.mark.parametrize("size", range(3, 90))
def test_a_small_season_keeps_the_proportions(size):
    count = Counter(map(house_role, range(size)))
    for role, whole in HOUSES_PER_ROLE.items():
        assert count[role] >= 1
        assert abs(count[role] - size * whole / HOUSE_CYCLE) < 2


def test_houses_give_about_as_many_paths_as_r2rs_do():
    for index in range(HOUSE_CYCLE):
        told = paths_per_split(index)
        assert told[house_role(index)] in (71, 72, 76, 77, 78)
        assert told.get("val_seen", 6) in (6, 7)


def test_roles_repeat_after_a_whole_season():
    assert all(paths_per_split(index) == paths_per_split(index + HOUSE_CYCLE) for index in range(HOUSE_CYCLE))


def test_only_the_houses_of_a_split_are_asked_for():
    assert {house_role(i) for i in house_indices(90, ("val_unseen",))} == {"val_unseen"}
    assert len(house_indices(90, ("val_seen",))) == 56
    assert house_indices(3) == (0, 1, 2)


SECRET = hashlib.sha256(b"a secret of these tests").digest()


def test_a_secret_season_shows_a_commitment_and_nothing_that_leads_to_its_houses():
    season = secret_season(SECRET)
    assert season.commitment == hashlib.sha256(SECRET).hexdigest()
    assert season.house_id(7) == f"hearth-{season.commitment[:8]}-007"
    assert str(season.seed) not in season.house_id(7)
    assert f"{season.seed:x}" not in season.commitment
    assert secret_season(SECRET[::-1]).seed != season.seed


def test_the_seed_of_the_houses_does_not_lead_to_the_sealed_tasks():
    season = secret_season(SECRET)
    assert len(season.sealing_key) == 32
    assert season.seed.to_bytes(16, "little") not in season.sealing_key
    assert season.sealing_key.hex() not in repr(season)
    assert public_season(1).sealing_key == b""


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: public_season(-1), "seed must be ≥ 0 .got -1"),
        (lambda: secret_season(b"short"), "must be 32 random bytes"),
        (lambda: secret_season(b"correct horse battery staples, 33"), "must be 32 random bytes"),
        (lambda: secret_season(bytes(32)), "must be 32 random bytes"),
        (lambda: house_indices(0), "at least 3 houses, .* .got 0"),
        (lambda: house_indices(2), "at least 3 houses"),
    ],
)
def test_what_cannot_be_a_season_is_refused(call, said):
    with pytest.raises(BadArgument, match=said):
        call()
