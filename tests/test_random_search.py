"""The random search of `make search`: new examples from a printed seed, the same ones from the same seed."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROPERTY = """
from hypothesis import given, strategies as st

@given(st.integers(0, 10**9))
def test_a_number(number):
    with open(__file__ + ".drawn", "a") as file:
        file.write(f"{number}\\n")
"""


def drawn_numbers(folder: Path, *options: str, profile: str | None = None) -> tuple[list[str], str]:
    """The examples that a property test gets in a process of its own, and what pytest prints."""
    file = folder / "test_numbers.py"
    file.write_text(PROPERTY, encoding="utf-8")
    drawn = Path(f"{file}.drawn")
    drawn.unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if name != "ITINERA_HYPOTHESIS"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "tests"), environment.get("PYTHONPATH", "")])
    if profile is not None:
        environment["ITINERA_HYPOTHESIS"] = profile
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", *options, str(file)]
    found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    return drawn.read_text(encoding="utf-8").split(), found.stdout


def test_the_same_seed_gives_the_same_examples_and_another_seed_others(tmp_path):
    first, printed = drawn_numbers(tmp_path, "--hypothesis-seed=5", profile="random")
    assert "seed 5. To repeat them: make search SEED=5" in printed
    assert drawn_numbers(tmp_path, "--hypothesis-seed=5", profile="random")[0] == first
    assert drawn_numbers(tmp_path, "--hypothesis-seed=6", profile="random")[0] != first


def test_without_the_search_examples_are_the_same_in_every_run(tmp_path):
    first, printed = drawn_numbers(tmp_path)
    assert "the same examples in every run" in printed
    assert drawn_numbers(tmp_path)[0] == first


def test_make_slow_ends_with_a_search_whose_seed_is_printed():
    found = subprocess.run(["make", "-n", "slow", "SEED=5"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "ITINERA_HYPOTHESIS=random" in found.stdout
    assert '-m "hypothesis" --hypothesis-seed=5' in found.stdout
    seeds = {
        re.findall(r"--hypothesis-seed=(\d+)", subprocess.run(
            ["make", "-n", "search"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout)[0]
        for _ in range(2)
    }  # fmt: skip
    assert len(seeds) == 2
