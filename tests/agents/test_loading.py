"""Agents of somebody else: their modules, declared files and options."""

from __future__ import annotations

import sys

import pytest

from itinera.agents.loading import declared_files, digest_agent, import_class, instantiate, parse_options
from itinera.errors import BadArgument

AGENT = """
from {package}.helpers import speed
import {package}.deep.down

class Agent:
    def __init__(self, beam=1, name=""): self.beam, self.name = beam, name
    def reset(self, rng): pass
    def start_episode(self, instruction): pass
    def act(self, observation): return 0
    def observe(self, observation): pass
"""


@pytest.fixture
def package(tmp_path, monkeypatch, request):
    """The name of a package that no other test imported, in the current folder."""
    name = f"package_{abs(hash(request.node.nodeid))}"
    folder = tmp_path / name
    (folder / "deep").mkdir(parents=True)
    for empty in ("__init__.py", "deep/__init__.py", "deep/down.py", "unused.py"):
        (folder / empty).write_text("")
    (folder / "helpers.py").write_text("from .constants import speed\n")
    (folder / "constants.py").write_text("speed = 3\n")
    (folder / "agent.py").write_text(AGENT.format(package=name))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield name
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[module]


def load(package, **options):
    before = tuple(sys.modules)
    agent = instantiate(import_class(f"{package}.agent:Agent"), options)
    return agent, digest_agent(agent, imported_before=before)


def test_every_module_of_the_user_is_digested_and_no_other(package):
    _, files = load(package)
    names = ["agent.py", "__init__.py", "constants.py", "deep/__init__.py", "deep/down.py", "helpers.py"]
    assert list(files) == [f"{package}/{name}" for name in names]


def test_the_digests_are_the_same_once_the_modules_are_loaded(package):
    _, first = load(package)
    agent, again = load(package)
    assert again == first == digest_agent(agent)


@pytest.mark.parametrize("changed", ["agent.py", "helpers.py", "constants.py", "deep/down.py"])
def test_a_changed_module_changes_the_digests(package, tmp_path, changed):
    agent, before = load(package)
    with (tmp_path / package / changed).open("a") as stream:
        stream.write("# changed\n")
    after = digest_agent(agent)
    assert [name for name in before if before[name] != after[name]] == [f"{package}/{changed}"]


def test_declared_files_are_digested(package, tmp_path):
    (tmp_path / "weights.pt").write_text("1")
    agent, before = load(package)
    agent.files = ["weights.pt"]
    assert list(digest_agent(agent)) == [*before, "weights.pt"]
    first = digest_agent(agent)["weights.pt"]
    (tmp_path / "weights.pt").write_text("2")
    assert digest_agent(agent)["weights.pt"] != first


@pytest.mark.parametrize(("files", "words"), [(["missing.pt"], "does not exist"), (3, "list of paths"), ([3], "paths")])
def test_declared_files_must_be_files(package, files, words):
    agent, _ = load(package)
    agent.files = files
    with pytest.raises(BadArgument, match=words):
        declared_files(agent)


def test_options_are_keyword_arguments(package):
    agent, _ = load(package, **parse_options(["beam=3", "name=weights.pt"]))
    assert (agent.beam, agent.name) == (3, "weights.pt")
    with pytest.raises(BadArgument, match=r"unexpected keyword argument 'width'.*called with width"):
        load(package, width=3)


def test_options_are_numbers_booleans_and_words():
    words = ["a=1", "b=1.5", "c=true", "d=null", "e=", "f=x=y", 'g="1"', "h=1e400"]
    found = {"a": 1, "b": 1.5, "c": True, "d": "null", "e": "", "f": "x=y", "g": '"1"', "h": "1e400"}
    assert parse_options(words) == found


@pytest.mark.parametrize("words", [["beam"], ["=3"], ["a b=3"], ["a=1", "a=2"]])
def test_options_without_a_name_are_refused(words):
    with pytest.raises(BadArgument, match="--agent-option"):
        parse_options(words)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("class Agent(\n", r"agent\.py, line 1, is not Python: .*never closed"),
        ("import nowhere_to_be_found\n", "No module named 'nowhere_to_be_found'"),
        ("1 / 0\n", r"ZeroDivisionError: division by zero \(.*agent\.py, line 1\)"),
        ("raise SystemExit(3)\n", r"SystemExit: 3 \(.*agent\.py, line 1\)"),
        ("import os; os.nothing\n", "AttributeError: module 'os' has no attribute 'nothing'"),
        ("", "has no Agent"),
    ],
)
def test_a_module_that_cannot_be_imported_is_told_in_one_sentence(package, tmp_path, source, words):
    (tmp_path / package / "agent.py").write_text(source)
    with pytest.raises(BadArgument, match=words) as caught:
        import_class(f"{package}.agent:Agent")
    assert "\n" not in str(caught.value)
