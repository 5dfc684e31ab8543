"""The order of the folders: who may import whom, and which packages stay in their corner.

The table is the whole rule: scoring never needs what makes records, and heavy packages never reach those who score.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "itinera"

NOUNS = {"worlds", "houses", "tasks", "records"}
JUDGING = NOUNS | {"metrics", "formats", "stats", "studies", "reports"}
ACTING = {"planners", "simulators", "maps", "agents", "builders", "runs"}
OPEN_TO_ALL = {"errors", "seeds"}

# folder -> the folders it may import, itself and those open to all aside
MAY_IMPORT = {
    "errors": set(),
    "seeds": set(),
    "worlds": set(),
    "stats": set(),
    "tasks": {"worlds"},
    "houses": {"worlds"},
    "records": {"worlds", "tasks", "houses"},
    "metrics": NOUNS | {"stats"},
    "formats": NOUNS | {"stats"},
    "studies": NOUNS | {"stats", "metrics", "formats"},
    "reports": NOUNS | {"stats", "metrics", "formats", "studies"},
    "planners": NOUNS,
    "simulators": NOUNS | {"planners"},
    "maps": NOUNS | {"planners"},
    "agents": NOUNS | {"planners", "simulators", "maps"},
    "builders": NOUNS | {"planners", "simulators", "maps"},
    "runs": NOUNS | {"planners", "simulators", "maps", "agents", "builders"},
    "learning": JUDGING | ACTING,
    "gym": JUDGING | ACTING,
    "leaderboard": JUDGING | {"simulators", "runs"},
    "cli": JUDGING | ACTING | {"learning", "gym", "leaderboard"},
}

WEB = ("starlette", "uvicorn", "fastapi", "flask", "django", "aiohttp", "jinja2")
# package -> the files that may import it, as patterns below src/itinera
CORNERS = {
    "numba": ("*/_kernels.py", "*/_*_kernels.py"),
    **dict.fromkeys(("torch", "safetensors", "tensorboard"), ("agents/neural/*", "learning/*")),
    "matplotlib": ("reports/*",),
    "typer": ("cli/*",),
    "rich": ("cli/*", "reports/*"),
    **dict.fromkeys(WEB, ("leaderboard/*",)),
    "scipy.stats": (),  # loads for a second; scipy.special has what we need
    "pickle": (),
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
        return f"imports {module}; the package's own page imports nothing." if target else ""
    if folder not in MAY_IMPORT:
        return "is in no folder of the table; add the folder to MAY_IMPORT with what it may import."
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
            "from itinera.agents.simple import Still",
            "reaches agents by itinera.agents.simple",
        ),
        ("metrics/fidelity.py", "def f():\n    import itinera.formats.r2r", "reaches formats by itinera.formats.r2r"),
        ("stats/means.py", "from itinera.worlds import NavGraph", "reaches worlds by itinera.worlds"),
        ("runs/walk.py", "from itinera import metrics", "reaches metrics by itinera.metrics"),
        ("cli/score.py", "import torch", "imports torch, which is welcome agents/neural/* or learning/*."),
        ("agents/simple.py", "import safetensors", "imports safetensors, which is welcome agents/neural/*"),
        ("runs/walk.py", "from itinera.learning import atlas", "reaches learning by itinera.learning"),
        (
            "metrics/fidelity.py",
            "from numba import njit",
            "imports numba, which is welcome */_kernels.py or */_*_kernels.py.",
        ),
        ("stats/power.py", "from scipy import stats", "imports scipy.stats, which is welcome nowhere."),
        ("novel/idea.py", "import itinera.worlds", "is in no folder of the table"),
        ("__init__.py", "from itinera.metrics import score", "imports itinera.metrics; the package's own page"),
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
        ("agents/neural/follower.py", "import torch.nn"),
        ("learning/rewards.py", "import torch\nfrom itinera.metrics.fidelity import cls"),
        ("cli/score.py", "from itinera.reports import tables\nimport typer"),
    ],
)
def test_a_right_import_passes(tmp_path, name, line):
    file = tmp_path / name
    file.parent.mkdir(parents=True)
    file.write_text(line)
    assert wrongs(tmp_path) == []
