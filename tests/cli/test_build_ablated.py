"""`itinera build ablated` for every form of tasks."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from formats import examples
from itinera.formats import catalog

FORMS = [known.name for known in catalog.FORMATS if known.kind == "tasks" and known.name != "pointnav"]


@pytest.mark.parametrize("form", FORMS)
def test_tasks_of_every_form_lose_their_words_and_nothing_else(itinera, tmp_path, form):
    tasks, out = tmp_path / "tasks.json", tmp_path / "none.json"
    tasks.write_bytes(examples.EXAMPLES[form])
    done = itinera("build", "ablated", "--tasks", tasks, "--rule", "none", "--out", out, "--json")
    assert done.code == 0, done.err
    before, after = catalog.read_tasks(tasks), catalog.read_tasks(out)
    assert done.json == {
        "file": str(out),
        "rule": "none",
        "episodes": len(before.episodes),
        "changed": len(after.episodes),
    }
    assert [e.id for e in after.episodes] == [e.id for e in before.episodes]
    for one, other in zip(before.episodes, after.episodes, strict=True):
        np.testing.assert_array_equal(one.start.place, other.start.place)
        np.testing.assert_array_equal(one.goals, other.goals)
    words = {word for e in before.episodes for word in e.instruction.text.lower().split()}
    assert words
    assert not words & set(re.findall(r"[^\W_]+", str(told_in(out)).lower()))


def told_in(path):
    return [(e.instruction.text, e.alignment, e.notes) for e in catalog.read_tasks(path).episodes]


def test_the_words_that_changed_are_counted(itinera, files, tmp_path):
    out = tmp_path / "out.json"
    done = itinera("build", "ablated", "--tasks", files.tasks, "--rule", "last-1", "--out", out)
    assert done.out == f"{out}: 5 episodes, 5 instructions changed.\n"
    assert json.loads(out.read_text())[0]["instructions"] == ["c", "c"]
    assert itinera("check", out, "--worlds", files.worlds).code == 0
    assert (
        itinera("build", "ablated", "--tasks", files.tasks, "--rule", "full", "--out", out, "--json").json["changed"]
        == 0
    )


def test_another_rule_is_refused(itinera, files, tmp_path):
    done = itinera("build", "ablated", "--tasks", files.tasks, "--rule", "first-5", "--out", tmp_path / "out.json")
    assert (done.code, "not 'first-5'" in done.err) == (2, True)
