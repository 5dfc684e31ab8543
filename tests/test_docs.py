"""The documentation says what is so: its examples run, and its tables name what the code has.

Blocks are taken page by page and in order, in a folder that holds the small benchmark of `make demo`: one with a title
is written to a file of that name; `console` blocks hold commands after "$ " and what they print; `python` blocks run;
`pycon` blocks are doctests. In what is shown, … stands for anything. Only what NOT_RUN lists stands in `sh` blocks.
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
import tomllib
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from itinera import stats
from itinera.cli.main import app, main
from itinera.formats import bundles, catalog
from itinera.metrics import SUITES, conformance
from itinera.metrics.suites import paper
from itinera.reports.comparison import compare
from itinera.tasks import PROTOCOLS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")))
SMALL = runpy.run_path(str(ROOT / "recipes" / "small_benchmark.py"))
DEMO = runpy.run_path(str(ROOT / "recipes" / "demo.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TARGETS = set(re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[0].split())
ITINERA: Any = typer.main.get_command(app)

# Commands that are shown and not run here, and why. They must name what there is: a target, a package, an extra.
NOT_RUN = {
    "make": "sets up an environment of its own; .ci/run makes the targets, tests/test_demo.py runs the demo",
    "pip": "installs from an index of packages, and tests touch no network; .ci/run installs in this way",
}


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


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A season of one house, the one that pages build."""
    folder = tmp_path_factory.mktemp("season") / "hearth"
    itinera("build", "hearth", "--out", str(folder), "--houses", "3", "--splits", "val_unseen")
    return folder


def itinera(*typed: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["itinera", *typed])
        printed, _, code = run()
    assert code == 0, printed


# Examples


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_example_of_a_page_works(page, shown, tmp_path, monkeypatch, request):
    shutil.copytree(shown / "demo", tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    text = page.read_text(encoding="utf-8")
    if "$ itinera build hearth --out hearth " in text:  # goes on from where a build was stopped
        shutil.copytree(request.getfixturevalue("house") / ".homes", tmp_path / "hearth" / ".homes")
    if f" {DEMO['HEARTH']}" in text:
        leave_what_the_demo_leaves(request.getfixturevalue("house"))
    names: dict[str, Any] = {}
    for block in blocks(page):
        if block.title:
            write(block, tmp_path)
        else:
            TRIALS[block.language](block, names, monkeypatch)


def leave_what_the_demo_leaves(house: Path) -> None:
    """The houses of the demo, one in place of them all, and what its last agent on graphs is worth there."""
    shutil.copytree(house, DEMO["HEARTH"])
    given = ("--tasks", DEMO["R2R"], "--worlds", DEMO["HEARTH"])
    itinera("run", "--agent", DEMO["AGENTS"]["r2r"][-1], *given, "--out", DEMO["walks"]("r2r")[-1], "--workers", "0")
    itinera("score", DEMO["walks"]("r2r")[-1], *given, "--out", DEMO["scores"]("r2r")[-1])


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
        arguments, kept = (arguments[:-2], arguments[-1]) if ">" in arguments else (arguments, None)
        monkeypatch.setattr(sys, "argv", [program, *arguments])
        printed, result, code = run()
        if kept is not None:
            Path(kept).write_text(result, encoding="utf-8")
            printed = printed.replace(result, "")
        refused = expected.startswith("itinera: ")
        assert (code != 0) == refused, f"{block.where}: {command}\nleft with {code}:\n{printed}"
        assert alike(expected, printed), f"{block.where}: {command}\nprinted:\n{printed}\nnot as shown:\n{expected}"


class Both(io.StringIO):
    """What is written here is also written there."""

    def __init__(self, there: io.StringIO) -> None:
        super().__init__()
        self.there = there

    def write(self, text: str) -> int:
        self.there.write(text)
        return super().write(text)


def run() -> tuple[str, str, int]:
    """What the command prints, results and remarks together; the results alone; its exit code."""
    printed = io.StringIO()
    with redirect_stdout(Both(printed)) as result, redirect_stderr(printed), pytest.raises(SystemExit) as left:
        main()
    return printed.getvalue(), result.getvalue(), int(left.value.code or 0)


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
    for line in block.text.splitlines():
        program, *words = shlex.split(line, comments=True)
        assert program in NOT_RUN, (
            f"{block.where}: put {line!r} into a console block, or say in NOT_RUN why it is not run"
        )
        if program == "make":
            assert set(words) <= TARGETS, f"{block.where}: {line}"
        else:
            assert words[0] == "install", f"{block.where}: {line}"
            assert all(word == "." or may_be_installed(word) for word in words[1:]), f"{block.where}: {line}"


def may_be_installed(package: str) -> bool:
    found = re.fullmatch(r"itinera(?:\[([\w,]+)\])?", package)
    return found is not None and set((found[1] or "all").split(",")) <= PROJECT["optional-dependencies"].keys()


TRIALS: dict[str, Callable[[Block, dict[str, Any], pytest.MonkeyPatch], None]] = {
    "console": try_console,
    "python": try_python,
    "pycon": try_pycon,
    "sh": not_run,
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_block_of_a_page_is_overlooked(page):
    fences = re.findall(r"^\s*(?:```|~~~)", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(fences) == 2 * len(list(blocks(page)))


def test_examples_that_print_something_else_are_noticed():
    assert alike("a …\nc", "a b\nc")
    assert not alike("a …\nc", "a b\nd")


# Commands within the text

IN_TEXT = [
    (f"{page.name}:{text[: found.start()].count(chr(10)) + 1}", shlex.split(found[1].replace("\n", " ")))
    for page in PAGES
    for text in [
        re.sub(
            r"^```.*?^```$",
            lambda block: "\n" * block[0].count("\n"),
            page.read_text(encoding="utf-8"),
            flags=re.MULTILINE | re.DOTALL,
        )
    ]
    for found in re.finditer(r"`((?:itinera|make|python|pip) [^`]+)`", text)
]


@pytest.mark.parametrize(
    ("where", "words"), IN_TEXT, ids=[f"{where} {' '.join(words[:3])}" for where, words in IN_TEXT]
)
def test_every_command_within_the_text_is_one_there_is(where, words):
    program, *words = words
    if program == "make":
        assert set(words) <= TARGETS
    elif program == "pip":
        assert words[0] == "install"
    elif program == "python":
        assert (ROOT / words[0]).is_file()
    else:
        command, words = command_of(words)
        assert options_in(words) <= options_of(command)


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words call, and what is left of them; VERB and … stand for any."""
    command = ITINERA
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    named = [word for word in words if not word.startswith("-")]
    assert not hasattr(command, "commands") or all(re.fullmatch(r"[A-Z…]+", word) for word in named), words
    return command, words


def options_in(words: Iterable[str]) -> set[str]:
    return {word.split("=")[0] for word in words if word.startswith("--")}


def options_of(command: Any) -> set[str]:
    """Its own and those of the commands below it."""
    own = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    return own.union({"--help"}, *map(options_of, getattr(command, "commands", {}).values()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_option_that_is_named_exists(page):
    named = set(re.findall(r"`(--[a-z][a-z0-9-]*)", page.read_text(encoding="utf-8")))
    assert named <= options_of(ITINERA)


def test_every_option_of_a_table_is_one_of_its_verb():
    sections = re.split(r"^## (.+)$", (DOCS / "command-line.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for verb, text in zip(sections[::2], sections[1::2], strict=True):
        tabled = [
            name for row in re.findall(r"^\| (`--.*?) \|", text, re.MULTILINE) for name in re.findall(r"--[\w-]+", row)
        ]
        assert set(tabled) <= options_of(ITINERA.commands[verb]), verb


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
    assert sorted(re.findall(r"^### (.+)$", text, re.MULTILINE)) == sorted(catalog.BY_NAME)
    listed = [re.match(r"\[`(.+?)`\]", row[0]) for row in rows_after(DOCS / "formats.md", "format")[1:]]
    assert sorted(found[1] for found in listed if found) == sorted(catalog.BY_NAME)


FORMAT_EXAMPLES = [block for block in blocks(DOCS / "formats.md") if block.title]


@pytest.mark.parametrize("block", FORMAT_EXAMPLES, ids=lambda block: block.heading)
def test_every_example_of_a_format_is_recognised_and_read(block, tmp_path):
    file = write(block, tmp_path)
    place = file if file.parent == tmp_path else file.parent
    assert catalog.detect(place).name == block.heading
    read = catalog.BY_NAME[block.heading].read(place)
    if block.heading in ("connectivity", "bbox"):
        assert read["house0"]  # read when asked for
    else:
        assert read


def test_every_format_but_the_bundle_has_an_example():
    assert {block.heading for block in FORMAT_EXAMPLES} == catalog.BY_NAME.keys() - {"scores"}


# The rest


def test_every_verb_has_a_section():
    verbs = list(ITINERA.commands)
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
    rows = rows_after(ROOT / "CONTRIBUTING.md", "target")[1:]
    assert sorted(row[0] for row in rows) == sorted(f"make {target}" for target in TARGETS)


def test_the_first_commands_of_the_readme_are_demo_and_test():
    first = next(blocks(ROOT / "README.md"))
    assert [shlex.split(line, comments=True) for line in first.text.splitlines()] == [
        ["make", "demo"],
        ["make", "test"],
    ]


def test_the_layout_lists_the_folders_there_are():
    told = {row[0] for row in rows_after(ROOT / "CONTRIBUTING.md", "folder")[1:]}
    assert {f"{file.parent.name}/" for file in (ROOT / "src" / "itinera").glob("*/__init__.py")} <= told


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_of_ours_that_is_named_exists(page):
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`(\.ci/\w+|[a-z]+/[a-z0-9_/]+\.py)`", text)
    assert [
        name for name in named if not any((root / name).exists() for root in (ROOT, ROOT / "src" / "itinera"))
    ] == []


def test_every_page_is_in_the_navigation_and_every_link_of_the_readme_leads_somewhere():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert all(f": {page.relative_to(DOCS).as_posix()}\n" in navigation for page in DOCS.rglob("*.md"))
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert links
    assert all((ROOT / link).exists() for link in links)


def test_the_pictures_are_those_the_script_draws():
    scripts = ("draw.py", "metrics.py")
    drawn = [runpy.run_path(str(DOCS / "pictures" / script))["PICTURES"] for script in scripts]
    kept = {file.name: file.read_text(encoding="utf-8") for file in (DOCS / "pictures").glob("*.svg")}
    assert dict(ChainMap(*drawn)) == kept, "run docs/pictures/draw.py and metrics.py"


def test_every_picture_is_shown_on_a_page():
    told = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = [file.name for file in (DOCS / "pictures").iterdir() if file.suffix in (".svg", ".png")]
    assert [name for name in pictures if f"pictures/{name}" not in told] == []
