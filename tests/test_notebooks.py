"""The notebooks of the documentation: every cell runs, in order and in one namespace, without a Jupyter kernel.

They all build the season of the fixture `season`: with the same arguments, `build_hearth` leaves it as it is.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def cells(notebook: Path, kind: str) -> list[str]:
    found = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


def run_cell(source: str, names: dict[str, Any], where: str) -> Any:
    """Execute a cell as Jupyter does: the value of its last expression is displayed, here returned."""
    tree = ast.parse(source, where)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, where, "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    value = eval(compile(ast.Expression(last.value), where, "eval"), names)
    assert value is None or getattr(value, "_repr_html_", value.__repr__)()
    return value


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_every_cell_of_a_notebook_runs(notebook, season, tmp_path, monkeypatch):
    shutil.copytree(season, tmp_path / "hearth")
    monkeypatch.chdir(tmp_path)
    _install, *code = cells(notebook, "code")
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(code, 2):
        run_cell(source, names, f"{notebook.name}, code cell {number}")


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_opens_in_colab_and_installs_the_package_first(notebook):
    first = cells(notebook, "markdown")[0]
    home = PROJECT["urls"]["Source"].removeprefix("https://github.com/")
    assert f"(https://colab.research.google.com/github/{home}/blob/main/docs/notebooks/{notebook.name})" in first
    found = re.fullmatch(r'%pip install -q "itinera(?:\[([\w,]+)\])?"', cells(notebook, "code")[0])
    assert found
    assert set(filter(None, (found[1] or "").split(","))) <= PROJECT["optional-dependencies"].keys()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_is_stored_without_outputs_and_listed(notebook):
    stored = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert not [cell for cell in stored if cell.get("outputs") or cell.get("execution_count")]
    assert notebook.name in (FOLDER / "index.md").read_text(encoding="utf-8")
