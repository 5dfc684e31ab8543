"""The documentation says what is so: its examples run, and its tables name what the code has.

Blocks are taken page by page and in order, in a folder that holds the small benchmark of `make demo`: one with a title
is written to a file of that name; `console` blocks hold commands after "$ " and what they print; `python` blocks run;
`pycon` blocks are doctests. In what is shown, … stands for anything.
"""

from __future__ import annotations

import doctest
import io
import math
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from itinera import stats
from itinera.cli.main import app, main
from itinera.formats import bundles, catalogue
from itinera.metrics import SUITES, conformance
from itinera.metrics.suites import paper
from itinera.reports.comparison import compare
from itinera.tasks import PROTOCOLS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
SMALL = runpy.run_path(str(ROOT / "recipes" / "small_benchmark.py"))


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, and the heading it stands under."""

    where: str
    heading: str
    language: str
    title: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    fence = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
    for found in fence.finditer(text):
        before = text[: found.start()]
        heading = re.findall(r"^#+ (.+)$", before, re.MULTILINE)[-1]
        where = f"{page.name}:{before.count(chr(10)) + 1}"
        yield Block(where, heading, found[1], found[2] or "", found[3])


def rows_after(page: Path, header: str) -> list[list[str]]:
    """The cells of the tables whose first cell is `header`, their headings first."""
    tables = re.findall(rf"^(\| {re.escape(header)} \|.*\n(?:\|.*\n)+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert tables, f"{page.name} has no table that begins with {header!r}"
    rows = [
        [cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for table in tables
        for line in table.splitlines()
    ]
    return [row for row in rows if not set("".join(row)) <= set("-: ")]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the small benchmark was made, as `make demo` makes it."""
    folder = tmp_path_factory.mktemp("shown")
    command = [sys.executable, str(ROOT / "recipes" / "small_benchmark.py")]
    sources = {**os.environ, "PYTHONPATH": str(ROOT / "src")}  # found from any folder, installed or not
    done = subprocess.run(command, cwd=folder, env=sources, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


# Examples


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_example_of_a_page_works(page, shown, tmp_path, monkeypatch):
    shutil.copytree(shown / "demo", tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    names: dict[str, Any] = {}
    for block in blocks(page):
        if block.title:
            write(block, tmp_path)
        else:
            TRIALS[block.language](block, names, monkeypatch)


def write(block: Block, folder: Path) -> Path:
    file = folder / block.title
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text, encoding="utf-8")
    return file


def try_console(block: Block, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for part in block.text.split("$ ")[1:]:
        command, _, expected = part.partition("\n")
        program, *arguments = shlex.split(command)
        assert program == "itinera", f"{block.where}: only itinera commands stand in console blocks"
        monkeypatch.setattr(sys, "argv", [program, *arguments])
        printed, code = run()
        refused = expected.startswith("itinera: ")
        assert (code != 0) == refused, f"{block.where}: {command}\nleft with {code}:\n{printed}"
        assert alike(expected, printed), f"{block.where}: {command}\nprinted:\n{printed}\nnot as shown:\n{expected}"


def run() -> tuple[str, int]:
    """What the command prints, results and remarks together, and its exit code."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out), pytest.raises(SystemExit) as left:
        main()
    return out.getvalue(), int(left.value.code or 0)


def alike(expected: str, printed: str) -> bool:
    """Whether the words are the same, however they are spaced."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in expected.split("…")]
    return re.fullmatch(r"\s*" + r"\s*.*\s*".join(parts) + r"\s*", printed, re.DOTALL) is not None


def try_python(block: Block, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    exec(compile(block.text, block.where, "exec"), names)


def try_pycon(block: Block, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, block.where, block.where, 0)
    told: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=told.append, clear_globs=False)
    names.update(test.globs)
    assert not told, "".join(told)


def not_run(block: Block, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """What sets up an environment, or takes too long."""


TRIALS: dict[str, Callable[[Block, dict[str, Any], pytest.MonkeyPatch], None]] = {
    "console": try_console,
    "python": try_python,
    "pycon": try_pycon,
    "sh": not_run,
}


def test_examples_that_print_something_else_are_noticed():
    assert alike("a …\nc", "a b\nc")
    assert not alike("a …\nc", "a b\nd")


# The small benchmark


def test_the_small_benchmark_is_the_same_again(shown, tmp_path):
    SMALL["write_benchmark"](tmp_path)
    made = {file.relative_to(tmp_path): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert {Path("tasks.json"), Path("follower.json"), Path("connectivity/house0_connectivity.json")} <= made.keys()
    assert made == {name: (shown / "demo" / name).read_bytes() for name in made}


def test_the_small_benchmark_shows_what_it_says(shown):
    names = ("wanderer", "follower")
    found = compare(names, [bundles.read_scores(shown / "demo" / "scores" / f"{name}.jsonl") for name in names])
    for metric in found.metrics:
        if metric.column.better != "neither":
            assert metric.letters == ("b", "a"), metric.column.name
            assert metric.differences[0].p_value == 2 / 2 ** SMALL["HOUSES"]


# Metrics and suites


def test_the_readme_defines_every_metric():
    suite = paper()
    names = [metric.name for metric in (*suite.metrics, *suite.tour_metrics)]
    defined = [name for row in rows_after(ROOT / "README.md", "metric")[1:] for name in row[0].split(", ")]
    assert sorted(defined) == sorted([*names, "SCT"])


def test_the_page_of_metrics_tells_their_units_and_which_way_is_better():
    suite = paper()
    expected = {m.name: (m.unit.replace("steps", ""), m.better) for m in suite.metrics}
    expected |= {"SCT": ("", "higher")}
    rows = [row for row in rows_after(DOCS / "metrics.md", "metric") if row[0] != "metric"]
    assert {row[0]: (row[1], row[2]) for row in rows if len(row) == 4} == expected
    assert {row[0]: row[1] for row in rows if len(row) == 3} == {m.name: "higher" for m in suite.tour_metrics}


def test_the_table_of_suites_has_a_column_for_each():
    heading, *rows = rows_after(DOCS / "suites.md", "question")
    assert heading == ["question", *SUITES]
    table = {row[0]: dict(zip(heading[1:], row[1:], strict=True)) for row in rows}
    for name, make in SUITES.items():
        suite = make(PROTOCOLS["r2r"])
        if name != "paper":
            assert table["episode metrics"][name] == ", ".join(m.name for m in suite.metrics)
        assert table["tour metrics"][name] == (", ".join(m.name for m in suite.tour_metrics) or "–")


CONVENTIONS = {
    "a distance of exactly the radius": ("SR", "inclusive", True, {True: "success", False: "failure"}),
    "must the agent say stop?": ("SR", "needs_stop", False, {True: "yes", False: "no"}),
    "PL adds": ("PL", "straight", False, {True: "straight lines", False: "the world's distance"}),
    "SPL's least denominator": ("SPL", "floor", 0.0, {0.0: "none", 0.01: "0.01 m"}),
    "repeats in DTW": ("nDTW", "repeats", "keep", {"keep": "kept", "drop": "dropped from the walk"}),
    "CLS where reference and walk have no length": ("CLS", "standing_still", 1.0, {1.0: "1", None: "undefined"}),
}


@pytest.mark.parametrize("question", CONVENTIONS)
def test_the_table_of_suites_answers_as_the_code_does(question):
    metric, option, default, words = CONVENTIONS[question]
    heading, *rows = rows_after(DOCS / "suites.md", "question")
    answers = dict(zip(heading[1:], next(row for row in rows if row[0] == question)[1:], strict=True))
    for name, make in SUITES.items():
        if (name, option) == ("paper", "needs_stop"):
            continue  # as the protocol says
        measure = next((m.measure for m in make(PROTOCOLS["r2r"]).metrics if m.name == metric), None)
        chosen = getattr(measure, "keywords", {}).get(option, default)
        undefined = isinstance(chosen, float) and math.isnan(chosen)
        assert answers[name] == ("–" if measure is None else words[None if undefined else chosen]), name


def test_every_suite_has_a_worked_case_where_it_differs_from_the_papers():
    text = (DOCS / "suites.md").read_text(encoding="utf-8")
    worked = dict(re.findall(r"^### (\S+)\n\nCase \*\*(.+?)\*\*", text, re.MULTILINE))
    assert list(worked) == [name for name in SUITES if name != "paper"]
    cases = {case.name: case for case in conformance.load()}
    for suite, name in worked.items():
        case = cases[name]
        told = {**case.expected[suite], "split": case.split.get(suite, {})}
        ours = {**case.expected["paper"], "split": case.split.get("paper", {})}
        shared = [(told[who][metric], ours[who][metric]) for who in told for metric in told[who] if metric in ours[who]]
        assert any(a != b for a, b in shared), f"{suite} agrees with paper on {name!r}"


def test_every_protocol_is_in_the_table():
    def told(value: Any, unit: str = "") -> str:
        if value is None:
            return "–"
        return f"{value:g}{unit}" if not isinstance(value, bool) else "yes" if value else "no"

    expected = [
        [
            p.name, told(p.success_radius, " m"), told(p.needs_stop), told(p.step_limit), told(p.step_size, " m"),
            told(None if p.turn_angle is None else math.degrees(p.turn_angle), "°"), told(p.sliding),
            told(p.robot_radius, " m"), told(p.robot_height, " m"),
        ]
        for p in PROTOCOLS.values()
    ]  # fmt: skip
    assert rows_after(DOCS / "protocols.md", "protocol")[1:] == expected
    guided = [
        [
            p.name, told(g.to_goal), told(g.goal_distance, " m"), told(g.exact_start), told(g.radius, " m"),
            told(math.degrees(g.heading_tolerance), "°"), told(g.step_limit),
        ]
        for p in PROTOCOLS.values()
        if (g := p.guidance) is not None
    ]  # fmt: skip
    assert rows_after(DOCS / "protocols.md", "guidance")[1:] == guided


# Formats


def test_every_format_has_a_section_and_a_row():
    text = (DOCS / "formats.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^### (.+)$", text, re.MULTILINE)) == sorted(catalogue.BY_NAME)
    listed = [re.match(r"\[`(.+?)`\]", row[0]) for row in rows_after(DOCS / "formats.md", "format")[1:]]
    assert sorted(found[1] for found in listed if found) == sorted(catalogue.BY_NAME)


FORMAT_EXAMPLES = [block for block in blocks(DOCS / "formats.md") if block.title]


@pytest.mark.parametrize("block", FORMAT_EXAMPLES, ids=lambda block: block.heading)
def test_every_example_of_a_format_is_recognised_and_read(block, tmp_path):
    file = write(block, tmp_path)
    place = file if file.parent == tmp_path else file.parent
    assert catalogue.detect(place).name == block.heading
    read = catalogue.BY_NAME[block.heading].read(place)
    if block.heading in ("connectivity", "bbox"):
        assert read["house0"]  # read when asked for
    else:
        assert read


def test_every_format_but_the_bundle_has_an_example():
    assert {block.heading for block in FORMAT_EXAMPLES} == catalogue.BY_NAME.keys() - {"scores"}


# The rest


def test_every_verb_has_a_section():
    verbs = list(typer.main.get_command(app).commands)
    text = (DOCS / "command-line.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^## (.+)$", text, re.MULTILINE)) == sorted(verbs)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"`itinera {verb}`" in readme for verb in verbs)


def test_the_statistics_named_exist():
    rows = rows_after(DOCS / "statistics.md", "function")[1:]
    named = re.findall(r"\w+", " ".join(row[0] for row in rows))
    assert set(named) <= set(stats.__all__)


def test_the_coverage_table_has_the_rows_that_are_simulated():
    recipe = runpy.run_path(str(ROOT / "recipes" / "interval_coverage.py"))
    rows = rows_after(DOCS / "statistics.md", "outcome")[1:]
    expected = [(outcome.name, str(scenes)) for outcome in recipe["OUTCOMES"] for scenes in recipe["SCENES"]]
    assert [(row[0], row[1]) for row in rows] == expected
    held = [float(row[2].rstrip(" %")) / 100 for row in rows]
    assert all(recipe["LOWEST"] <= share <= recipe["HIGHEST"] for share in held)


def test_the_targets_named_are_those_of_the_makefile():
    targets = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert targets is not None
    rows = rows_after(ROOT / "CONTRIBUTING.md", "target")[1:]
    assert sorted(row[0] for row in rows) == sorted(f"make {target}" for target in targets[1].split())


def test_every_page_is_in_the_navigation_and_every_link_of_the_readme_leads_somewhere():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert all(f": {page.relative_to(DOCS).as_posix()}\n" in navigation for page in DOCS.rglob("*.md"))
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert links
    assert all((ROOT / link).exists() for link in links)


def test_the_pictures_are_those_the_script_draws():
    drawn = runpy.run_path(str(DOCS / "pictures" / "draw.py"))["PICTURES"]
    kept = {file.name: file.read_text(encoding="utf-8") for file in (DOCS / "pictures").glob("*.svg")}
    assert drawn == kept, "run docs/pictures/draw.py"
