from __future__ import annotations

import pytest

from itinera.errors import BadArgument
from itinera.skills.registry import FAMILIES, SKILLS, make_skills, select_skills


def test_there_are_the_skills_of_the_paper_by_name():
    directions = ["forward", "right", "back-right", "backward", "back-left", "left"]
    assert list(SKILLS) == [
        "stop",
        *(f"direction-{name}" for name in directions),
        "object",
        *(f"room-{steps}" for steps in range(1, 9)),
        *(f"room-within-{steps}" for steps in range(1, 9)),
    ]


def test_only_searches_go_on_after_they_were_asked():
    assert [name for name, skill in SKILLS.items() if skill.needs_rollout] == list(SKILLS)[9:]
    assert all((skill.unit == "m") == name.startswith("room") for name, skill in SKILLS.items())
    assert all(skill.higher_is_better != skill.needs_rollout for skill in SKILLS.values())


def test_the_name_of_a_family_stands_for_its_skills_and_none_comes_twice():
    assert [skill.name for skill in select_skills(["direction-left", "direction", "stop"])][:3] == [
        "direction-left",
        "direction-forward",
        "direction-right",
    ]
    assert len(select_skills(["direction-left", "direction", "stop"])) == 7
    assert len(select_skills(["all"])) == len(SKILLS)
    assert {name for names in FAMILIES.values() for name in names} <= set(SKILLS)


def test_an_unknown_skill_is_refused_with_the_nearest():
    with pytest.raises(BadArgument, match=r"'room-9' is not a skill\. Did you mean room-\d\? Use one of direction"):
        select_skills(["room-9"])


def test_released_skills_say_more_and_filter_differently():
    with pytest.raises(BadArgument, match="needs `orders`"):
        make_skills("released")
    released = make_skills("released", orders={})
    assert list(released) == list(SKILLS)
    assert len(released["stop"].sentences) == 8
    assert len(released["direction-left"].sentences) == 35
    assert released["room-1"].sentences == ("Walk towards the {}. This is your destination.",)
    assert SKILLS["room-1"].sentences == ("Walk towards the {}.",)


def test_an_unknown_variant_is_refused():
    with pytest.raises(BadArgument, match=r"variant must be one of paper, released, hearth, not 'ours'"):
        make_skills("ours")
