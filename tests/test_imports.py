"""The order of the folders: who may import whom, and which packages stay in their corner.

The table stands in the docstring of `itinera`: scoring never needs what makes records, and heavy packages stay where
scoring does not see them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

import itinera

SOURCE = Path(__file__).parents[1] / "src" / "itinera"

OPEN_TO_ALL = {"errors", "seeding"}


def import_table() -> dict[str, set[str]]:
    """The table in the package's docstring: package -> the packages it may import."""
    rows = [re.split(r" {2,}", line.strip()) for line in table_text().splitlines()[2:] if line.strip()]
    groups = {name: words.split() for name, *_, words in rows if name.isupper()}

    def expand(words: list[str]) -> set[str]:
        return {found for word in words for found in (expand(groups[word]) if word in groups else {word})}

    return {name: expand(words.replace("-", "").split()) for name, *_, words in rows if name.islower()}


def table_text() -> str:
    docstring = itinera.__doc__ or ""
    return docstring[docstring.index("    package ") :]


MAY_IMPORT = import_table() | {"errors": set(), "seeding": set()}

WEB = ("starlette", "uvicorn", "fastapi", "flask", "django", "aiohttp", "jinja2", "sqlalchemy", "alembic", "psycopg")
# package -> the files that may import it, as patterns below src/itinera
CORNERS = {
    "numba": ("*/_kernels.py", "*/_*_kernels.py"),
    **dict.fromkeys(("torch", "safetensors", "tensorboard"), ("policies/*", "training/*")),
    "matplotlib": ("reports/*",),
    "typer": ("cli/*",),
    "rich": ("cli/*", "reports/*"),
    **dict.fromkeys(WEB, ("server/*",)),
    "scipy.stats": (),  # loads for a second; scipy.special has what we need
    "pickle": ("runs/engines/shipping.py",),  # between processes of the same user, on a private way
    "ray": ("runs/engines/ray_cluster.py",),
    "submitit": ("runs/engines/slurm.py",),
    "random": (),  # generators are arguments
}


def imports(file: Path) -> Iterator[str]:
    """Every module a file imports, at its top or inside its functions."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relative to itself; write the whole name."
            yield node.module or ""
            yield from (f"{node.module}.{name.name}" for name in node.names)


def folder_of(module: str) -> str:
    return module.split(".")[1] if module.startswith("itinera.") else ""


def wrongs(root: Path) -> list[str]:
    """What every file below root imports that it may not, with what to do about it."""
    told = []
    for file in sorted(root.rglob("*.py")):
        name = file.relative_to(root).as_posix()
        folder = name.split("/")[0].removesuffix(".py")
        for module in sorted(set(imports(file))):
            told += [
                f"src/itinera/{name} {wrong}" for wrong in (_reaches(folder, module), _strays(name, module)) if wrong
            ]
    return told


def _reaches(folder: str, module: str) -> str:
    target = folder_of(module)
    if folder == "__init__":
        # Only type checkers follow its import of the front door; a test of its own shows that importing stays light.
        return f"imports {module}; the package itself imports nothing until asked." if target not in ("", "api") else ""
    if folder not in MAY_IMPORT:
        return "is in no package of the table; add the package to the docstring of itinera with what it may import."
    if not target or target == folder or target in MAY_IMPORT[folder] | OPEN_TO_ALL:
        return ""
    return f"reaches {target} by {module}; move the shared type down, or pass the result in."


def _strays(name: str, module: str) -> str:
    for package, corner in CORNERS.items():
        inside = module == package or module.startswith(package + ".")
        if inside and not any(fnmatch(name, pattern) for pattern in corner):
            where = " or ".join(corner) if corner else "nowhere"
            return f"imports {module}, which is welcome {where}."
    return ""


def test_folders_import_downward_only_and_heavy_packages_stay_in_their_corner():
    assert "\n".join(wrongs(SOURCE)) == ""


@pytest.mark.parametrize(
    ("name", "line", "told"),
    [
        (
            "metrics/fidelity.py",
            "from itinera.agents.baselines import StationaryAgent",
            "reaches agents by itinera.agents.baselines",
        ),
        ("metrics/fidelity.py", "def f():\n    import itinera.formats.r2r", "reaches formats by itinera.formats.r2r"),
        ("stats/means.py", "from itinera.worlds import NavGraph", "reaches worlds by itinera.worlds"),
        ("runs/rollout.py", "from itinera import metrics", "reaches metrics by itinera.metrics"),
        ("cli/score.py", "import torch", "imports torch, which is welcome policies/* or training/*."),
        ("agents/baselines.py", "import safetensors", "imports safetensors, which is welcome policies/*"),
        ("runs/rollout.py", "from itinera.training import vector_env", "reaches training by itinera.training"),
        (
            "metrics/fidelity.py",
            "from numba import njit",
            "imports numba, which is welcome */_kernels.py or */_*_kernels.py.",
        ),
        ("stats/power.py", "from scipy import stats", "imports scipy.stats, which is welcome nowhere."),
        ("novel/idea.py", "import itinera.worlds", "is in no package of the table"),
        ("__init__.py", "from itinera.metrics import score", "imports itinera.metrics; the package itself"),
    ],
)
def test_a_wrong_import_is_told_by_file_with_its_remedy(tmp_path, name, line, told):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(line)
    assert any(wrong.startswith(f"src/itinera/{name} {told}") for wrong in wrongs(tmp_path))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("metrics/_kernels.py", "from numba import njit"),
        ("metrics/fidelity.py", "from itinera.worlds import NavGraph\nfrom itinera.errors import BadFile"),
        ("policies/follower.py", "import torch.nn"),
        ("training/rewards.py", "import torch\nfrom itinera.metrics.fidelity import cls"),
        ("cli/score.py", "from itinera.reports import tables\nimport typer"),
    ],
)
def test_a_right_import_passes(tmp_path, name, line):
    file = tmp_path / name
    file.parent.mkdir(parents=True)
    file.write_text(line)
    assert wrongs(tmp_path) == []


def test_every_kernel_is_used_by_the_package():
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    names = {path: _names_in(tree) for path, tree in trees.items()}
    for path, tree in trees.items():
        if not path.stem.endswith("_kernels"):
            continue
        kernels = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        others = [used for place, used in names.items() if place != path]
        others += [_names_in(node) for node in tree.body if not isinstance(node, ast.FunctionDef)]
        reached = set().union(*others) & set(kernels)
        waiting = list(reached)
        while waiting:
            called = _names_in(kernels[waiting.pop()]) & set(kernels) - reached
            reached |= called
            waiting += called
        assert set(kernels) == reached, f"{path.name}: only tests call {sorted(set(kernels) - reached)}"


def _names_in(tree: ast.AST) -> set[str]:
    """Names that are used or imported, by themselves or as attributes."""
    nodes = list(ast.walk(tree))
    imported = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return imported | attributes | {node.id for node in nodes if isinstance(node, ast.Name)}
