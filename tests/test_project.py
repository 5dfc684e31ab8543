"""Files of the project that repeat a fact agree: version, repository, extras, Python versions, names in scripts."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import itinera

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TESTING = {"all", "test", "bench", "lint", "docs"}  # extras for developers

# Where the name of a package differs from the name of the module it installs.
MODULES = {"PyYAML": "yaml", "Pillow": "PIL", "rerun-sdk": "rerun", "tensorboard": "torch.utils.tensorboard"}


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_citation_has_the_version_and_the_repository_of_the_package():
    citation = yaml.safe_load(text("CITATION.cff"))
    assert citation["version"] == itinera.__version__
    assert citation["repository-code"] == PROJECT["urls"]["Source"]
    assert citation["license"] == PROJECT["license"]


@pytest.mark.parametrize("name", ["mkdocs.yml", "CITATION.cff", "SECURITY.md", ".github/ISSUE_TEMPLATE/config.yml"])
def test_links_to_the_repository_name_the_same_one(name):
    found = set(re.findall(r"https://github\.com/([\w-]+/itinera)\b", text(name)))
    assert found == {PROJECT["urls"]["Source"].removeprefix("https://github.com/")}


def test_the_workflow_tests_the_python_versions_of_the_classifiers():
    matrix = yaml.safe_load(text(".github/workflows/tests.yml"))["jobs"]["test"]["strategy"]["matrix"]
    classified = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert matrix["python"] == classified
    assert f">={classified[0]}" == PROJECT["requires-python"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows_make_targets_that_exist(workflow):
    targets = set(re.findall(r"^\.PHONY: (.+)$", text("Makefile"), re.MULTILINE)[0].split())
    assert set(re.findall(r"run: make (\w+)", workflow.read_text(encoding="utf-8"))) <= targets


def test_every_extra_has_code_that_imports_its_packages():
    sources = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "src").rglob("*.py"))
    for extra, packages in PROJECT["optional-dependencies"].items():
        if extra in TESTING:
            continue
        assert packages, f"extra {extra} installs nothing"
        for package in packages:
            name = re.match(r"[\w-]+", package)[0]
            module = re.escape(MODULES.get(name, name))
            statement = rf'^\s*(import|from) {module}\b|import_module\("{module}"\)'
            assert re.search(statement, sources, re.MULTILINE), f"extra {extra}: nothing in src imports {module}"


def test_all_is_every_extra_but_the_non_commercial_one_and_that_of_clusters():
    (everything,) = PROJECT["optional-dependencies"]["all"]
    named = set(re.fullmatch(r"itinera\[([\w,]+)\]", everything)[1].split(","))
    assert named == PROJECT["optional-dependencies"].keys() - TESTING - {"lkh", "cluster"}


def package_names(script: Path) -> Iterator[tuple[str, str]]:
    """Modules of the package with the names that a script takes from them, by import or as an attribute."""
    tree = ast.parse(script.read_text(encoding="utf-8"))
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "itinera":
            for alias in node.names:
                yield node.module, alias.name
                if is_module(f"{node.module}.{alias.name}"):
                    modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield modules[node.value.id], node.attr


@pytest.mark.parametrize("folder", ["benchmarks", "recipes", "examples"])
def test_scripts_take_names_from_the_package_that_exist(folder):
    taken = {name for script in sorted((ROOT / folder).glob("*.py")) for name in package_names(script)}
    assert taken
    missing = {f"{module}.{name}" for module, name in taken if not has_name(module, name)}
    assert missing == set()


def has_name(module: str, name: str) -> bool:
    return hasattr(importlib.import_module(module), name) or is_module(f"{module}.{name}")


def is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is a module, not a package
        return False
