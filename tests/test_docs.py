"""The documentation is true: its examples run, and its tables agree with the code.

Blocks are executed page by page and in order, in a folder with the small benchmark of `make demo`. A block with a title
is written to a file of that name; `console` blocks contain commands after "$ " and their output; `python` blocks run;
`pycon` blocks are doctests. In outputs, … stands for anything. A server that a console block starts runs until the end
of the page, on a free port, which later blocks get in place of the usual one. `sh` blocks contain only commands of
NOT_RUN; `py` and `bash` blocks quote other projects and do not run.
"""

from __future__ import annotations

import doctest
import importlib
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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import typer

from itinera import api, stats
from itinera.__main__ import main
from itinera.cli.main import app
from itinera.formats import bundles, catalog
from itinera.metrics import SUITES, conformance
from itinera.metrics.suites import SUITE_FILES, paper
from itinera.reports.comparison import compare
from itinera.tasks import PROTOCOLS
from live_server import Served

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")))
SMALL = runpy.run_path(str(ROOT / "recipes" / "small_benchmark.py"))
DEMO = runpy.run_path(str(ROOT / "recipes" / "demo.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TARGETS = set(re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[0].split())
ITINERA: Any = typer.main.get_command(app)

# Commands that pages show and tests do not run, and why. The target, package or extra they name must exist.
NOT_RUN = {
    "itinera": "a challenge server and what needs one, by its verb or an address; --engine needs a cluster",
    "export": "sets the token of a server",
    "make": "creates its own environment; .ci/run makes the targets, tests/test_demo.py runs the demo",
    "pip": "installs from a package index, and tests do not use the network; .ci/run installs in this way",
    "git": "clones from a server",
    "pre-commit": "downloads its hooks",
    "tensorboard": "serves a page until it is stopped",
    "torchrun": "trains for an hour",
    "ray": "starts a part of a cluster of several machines",
    "kubectl": "needs Kubernetes",
    "srun": "needs SLURM",
}

QUOTING = ("clusters.md", "coming-from/", "errors/", "exports.md")  # pages that quote other projects' code and commands


@dataclass(frozen=True)
class Block:
    """A fenced block of a page and the heading above it."""

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
        name = page.relative_to(DOCS).as_posix() if page.is_relative_to(DOCS) else page.name
        yield Block(f"{name}:{before.count(chr(10)) + 1}", heading, found[1], found[2] or "", found[3])


def rows_after(page: Path, header: str) -> list[list[str]]:
    """The rows of the tables whose first cell is `header`, including their header rows."""
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
    """A folder with the small benchmark, as `make demo` writes it."""
    folder = tmp_path_factory.mktemp("shown")
    command = [sys.executable, str(ROOT / "recipes" / "small_benchmark.py")]
    sources = {**os.environ, "PYTHONPATH": str(ROOT / "src")}  # importable from any folder, installed or not
    done = subprocess.run(command, cwd=folder, env=sources, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
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
    if "$ itinera build hearth --out hearth " in text:  # built already, so the page's build leaves it as it is
        shutil.copytree(request.getfixturevalue("season"), tmp_path / "hearth")
    if f" {DEMO['HEARTH']}" in text:
        write_demo_results(request.getfixturevalue("season"))
    names: dict[str, Any] = {}
    with PageServer() as server:
        for block in map(server.translate, blocks(page)):
            if block.title:
                write(block, tmp_path)
            elif block.text.startswith("$ itinera serve "):
                server.start(block, monkeypatch)
            else:
                TRIALS[block.language](block, names, monkeypatch)


def write_demo_results(season: Path) -> None:
    """Results of the demo: one house in place of all, and the scores of its last agent on graphs."""
    shutil.copytree(season, DEMO["HEARTH"])
    given = ("--tasks", DEMO["R2R"], "--worlds", DEMO["HEARTH"])
    itinera("run", "--agent", DEMO["AGENTS"]["r2r"][-1], *given, "--out", DEMO["walks"]("r2r")[-1], "--workers", "0")
    itinera("score", DEMO["walks"]("r2r")[-1], *given, "--out", DEMO["scores"]("r2r")[-1])


def write(block: Block, folder: Path) -> Path:
    file = folder / block.title
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text, encoding="utf-8")
    return file


class PageServer:
    """The challenge server of a page, if it starts one."""

    USUAL = "http://127.0.0.1:8321"

    def __init__(self) -> None:
        self.served: Served | None = None

    def __enter__(self) -> PageServer:
        return self

    def __exit__(self, *error: object) -> None:
        if self.served is not None:
            assert self.served.end() == 0

    def start(self, block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
        command, _, expected = block.text.removeprefix("$ ").partition("\n")
        _, _, folder, *options = shlex.split(command)
        monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
        self.served = Served(Path(folder), *options)
        assert self.translate(replace(block, text=expected)).text == self.served.line, f"{block.where}: {command}"

    def translate(self, block: Block) -> Block:
        """The block with the address of the server that runs."""
        return block if self.served is None else replace(block, text=block.text.replace(self.USUAL, self.served.url))


def try_console(block: Block, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for part in block.text.split("$ ")[1:]:
        command, _, expected = part.partition("\n")
        program, *arguments = shlex.split(command)
        if program == "export":
            name, file = re.fullmatch(r"export (\w+)=\$\(cat ([\w.]+)\)", command).groups()
            monkeypatch.setenv(name, Path(file).read_text(encoding="utf-8").strip())
            continue
        assert program == "itinera", f"{block.where}: console blocks may contain itinera commands only"
        arguments, kept = (arguments[:-2], arguments[-1]) if ">" in arguments else (arguments, None)
        monkeypatch.setattr(sys, "argv", [program, *arguments])
        printed, result, code = run()
        if kept is not None:
            Path(kept).write_text(result, encoding="utf-8")
            printed = printed.replace(result, "")
        refused = expected.startswith("itinera: ")
        assert (code != 0) == refused, f"{block.where}: {command}\nexited with {code}:\n{printed}"
        assert alike(expected, printed), (
            f"{block.where}: {command}\nprinted:\n{printed}\nbut the page shows:\n{expected}"
        )


class Tee(io.StringIO):
    """A stream that also writes to another one."""

    def __init__(self, other: io.StringIO) -> None:
        super().__init__()
        self.other = other

    def write(self, text: str) -> int:
        self.other.write(text)
        return super().write(text)


def run() -> tuple[str, str, int]:
    """Everything the command prints; its standard output alone; its exit code."""
    printed = io.StringIO()
    with redirect_stdout(Tee(printed)) as result, redirect_stderr(printed), pytest.raises(SystemExit) as left:
        main()
    return printed.getvalue(), result.getvalue(), int(left.value.code or 0)


def alike(expected: str, printed: str) -> bool:
    """Whether the words are the same, whatever the white space."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in expected.split("…")]
    return re.fullmatch(r"\s*" + r"\s*.*\s*".join(parts) + r"\s*", printed, re.DOTALL) is not None


def try_python(block: Block, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    exec(compile(block.text, block.where, "exec"), names)


def try_pycon(block: Block, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, block.where, block.where, 0)
    failures: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=failures.append, clear_globs=False)
    names.update(test.globs)
    assert not failures, "".join(failures)


def not_run(block: Block, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for line in block.text.splitlines():
        program, *words = shlex.split(line, comments=True)
        assert program in NOT_RUN, (
            f"{block.where}: put {line!r} into a console block, or say in NOT_RUN why it is not run"
        )
        if program == "make":
            assert set(words) <= TARGETS, f"{block.where}: {line}"
        elif program == "itinera":
            needs_others = "--engine" in words or any(word.startswith("https://") for word in words)
            assert needs_others or words[0] in ("serve", "submit", "work", "host"), f"{block.where}: {line}"
            command, rest = command_of(words)
            assert options_in(rest) <= options_of(command), f"{block.where}: {line}"
        elif program == "pip":
            assert words[0] == "install", f"{block.where}: {line}"
            assert all(word == "." or may_be_installed(word) for word in words[1:]), f"{block.where}: {line}"


def may_be_installed(package: str) -> bool:
    found = re.fullmatch(r"itinera(?:\[([\w,]+)\])?", package)
    return found is not None and set((found[1] or "all").split(",")) <= PROJECT["optional-dependencies"].keys()


def quote_only(block: Block, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Other projects' code and commands, on the pages that compare them with ours."""
    assert block.where.startswith(QUOTING), f"{block.where}: only {', '.join(QUOTING)} quote other projects"


TRIALS: dict[str, Callable[[Block, dict[str, Any], pytest.MonkeyPatch], None]] = {
    "console": try_console,
    "python": try_python,
    "pycon": try_pycon,
    "sh": not_run,
    "py": quote_only,
    "yaml": quote_only,
    "bash": quote_only,
}


def test_the_commands_of_service_files_exist():
    units = [block for block in blocks(DOCS / "operations.md") if block.title.endswith(".service")]
    lines = [line for block in units for line in block.text.splitlines() if line.startswith("ExecStart=")]
    assert len(lines) == len(units) == 2
    for line in lines:
        command, rest = command_of(shlex.split(line)[1:])
        assert options_in(rest) <= options_of(command), line


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
        assert {word for word in words if "=" not in word} <= TARGETS  # the others are variables
    elif program == "pip":
        assert words[0] == "install"
    elif program == "python":
        assert (ROOT / words[0]).is_file()
    else:
        command, words = command_of(words)
        assert options_in(words) <= options_of(command)


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words call, and the remaining words; VERB and … stand for any."""
    command = ITINERA
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    named = [word for word in words if not word.startswith("-")]
    assert not hasattr(command, "commands") or all(re.fullmatch(r"[A-Z…]+", word) for word in named), words
    return command, words


def options_in(words: Iterable[str]) -> set[str]:
    return {word.split("=")[0] for word in words if word.startswith("--")}


def options_of(command: Any) -> set[str]:
    """The options of a command and of its subcommands."""
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

# The suites of instruction following, which the first table compares, and those of the other two tables.
BENCHMARKS = SUITE_FILES["benchmark_suites"]
TASK_SUITES = {name: SUITES[name] for name in SUITE_FILES["task_suites"]}
COMPARED = {name: make for name, make in SUITES.items() if name not in ("pointnav", *BENCHMARKS, *TASK_SUITES)}


def test_the_page_of_metrics_defines_every_metric():
    suite = paper()
    names = [metric.name for metric in (*suite.metrics, *suite.tour_metrics)]
    rows = [row for row in rows_after(DOCS / "metrics.md", "metric") if row[0] != "metric"]
    defined = {name for row in rows for name in row[0].split(", ")}
    assert defined >= {*names, "SCT"}


def test_the_page_of_metrics_tells_their_units_and_which_way_is_better():
    suite = paper()
    expected = {m.name: (m.unit.replace("steps", ""), m.better) for m in suite.metrics}
    expected |= {"SCT": ("", "higher")}
    added = {m.name: m for name in BENCHMARKS for m in SUITES[name](PROTOCOLS["r2r"]).metrics if m.name not in expected}
    assert added.keys() == {"GP", "SoftSPL", "RGS", "RGSPL", "det-SR", "det-SPL"}
    expected |= {m.name: (m.unit, m.better) for m in added.values()}
    rows = [row for row in rows_after(DOCS / "metrics.md", "metric") if row[0] != "metric"]
    assert {row[0]: (row[1], row[2]) for row in rows if len(row) == 4} == expected
    assert {row[0]: row[1] for row in rows if len(row) == 3} == {m.name: "higher" for m in suite.tour_metrics}


def test_the_page_of_metrics_defines_those_of_other_tasks():
    made = [make(PROTOCOLS["r2r"]) for make in TASK_SUITES.values()]
    shown = {
        row[0]: row[1] for row in rows_after(DOCS / "metrics.md", "metric of steps") if row[0] != "metric of steps"
    }
    for title in ("metric of legs", "metric of usage"):
        shown |= {row[0]: row[1] for row in rows_after(DOCS / "metrics.md", title) if row[0] != title}
    known = {metric.name for metric in (*paper().metrics, *paper().tour_metrics)}
    expected = {m.name: m.better for suite in made for m in suite.metrics if m.name not in known}
    expected |= {m.name: "higher" for suite in made for m in suite.tour_metrics}
    assert shown == expected


def test_the_table_of_other_tasks_has_a_column_for_each_suite():
    heading, *rows = rows_after(DOCS / "suites.md", "rule")
    assert heading == ["rule", *TASK_SUITES]
    table = {row[0]: dict(zip(heading[1:], row[1:], strict=True)) for row in rows}
    weights = {"tours": "alike", "episodes": "by its legs"}
    for name, make in TASK_SUITES.items():
        suite = make(PROTOCOLS["r2r"])
        assert table["episode metrics"][name] == ", ".join(m.name for m in suite.metrics)
        assert table["tour metrics"][name] == (", ".join(m.name for m in suite.tour_metrics) or "–")
        found = {weights[m.weight] for m in suite.tour_metrics}
        assert all(word in table["a tour weighs"][name] for word in found)
        starts = "where the leg before ended" if suite.rules.starts == "continue" else "at its start"
        assert starts in table["a leg begins"][name]
        (arrived,) = [m.measure.keywords for m in suite.metrics if m.name == "SR"]
        arrived = arrived["measure"].keywords if "measure" in arrived else arrived
        inclusive = "success" if arrived.get("inclusive", True) else "failure"
        assert table["a distance of exactly the radius"][name] == inclusive


def test_the_table_of_suites_has_a_column_for_each():
    heading, *rows = rows_after(DOCS / "suites.md", "question")
    assert heading == ["question", *COMPARED]
    table = {row[0]: dict(zip(heading[1:], row[1:], strict=True)) for row in rows}
    for name, make in COMPARED.items():
        suite = make(PROTOCOLS["r2r"])
        if name != "paper":
            assert table["episode metrics"][name] == ", ".join(m.name for m in suite.metrics)
        assert table["tour metrics"][name] == (", ".join(m.name for m in suite.tour_metrics) or "–")


def test_the_table_of_benchmarks_has_a_column_for_each():
    heading, *rows = rows_after(DOCS / "suites.md", "convention")
    assert heading == ["convention", *BENCHMARKS]
    listed = dict(zip(heading[1:], next(row for row in rows if row[0] == "episode metrics")[1:], strict=True))
    for name in BENCHMARKS:
        names = ", ".join(m.name for m in SUITES[name](PROTOCOLS["r2r"]).metrics)
        papers = ", ".join(m.name for m in paper().metrics)
        assert listed[name].replace("those of paper", papers) == names


CONVENTIONS = {
    "a distance of exactly the radius": ("SR", "inclusive", True, {True: "success", False: "failure"}),
    "must the agent take STOP?": ("SR", "needs_stop", False, {True: "yes", False: "no"}),
    "PL adds": ("PL", "straight", False, {True: "straight lines", False: "the world's distance"}),
    "SPL's least denominator": ("SPL", "floor", 0.0, {0.0: "none", 0.01: "0.01 m"}),
    "repeats in DTW": ("nDTW", "repeats", "keep", {"keep": "kept", "drop": "dropped from the path"}),
    "CLS where reference and path have length 0": ("CLS", "standing_still", 1.0, {1.0: "1", None: "undefined"}),
}


@pytest.mark.parametrize("question", CONVENTIONS)
def test_the_table_of_suites_answers_as_the_code_does(question):
    metric, option, default, words = CONVENTIONS[question]
    heading, *rows = rows_after(DOCS / "suites.md", "question")
    answers = dict(zip(heading[1:], next(row for row in rows if row[0] == question)[1:], strict=True))
    for name, make in COMPARED.items():
        if (name, option) == ("paper", "needs_stop"):
            continue  # as the protocol says
        measure = next((m.measure for m in make(PROTOCOLS["r2r"]).metrics if m.name == metric), None)
        chosen = getattr(measure, "keywords", {}).get(option, default)
        undefined = isinstance(chosen, float) and math.isnan(chosen)
        assert answers[name] == ("–" if measure is None else words[None if undefined else chosen]), name


def test_every_suite_has_a_worked_case_where_it_differs_from_the_papers():
    text = (DOCS / "suites.md").read_text(encoding="utf-8")
    worked = dict(re.findall(r"^### (\S+)\n\nCase \*\*(.+?)\*\*", text, re.MULTILINE))
    assert list(worked) == [name for name in COMPARED if name != "paper"]
    cases = {case.name: case for case in conformance.load_cases()}
    for suite, name in worked.items():
        case = cases[name]
        theirs = {**case.expected[suite], "split": case.split.get(suite, {})}
        ours = {**case.expected["paper"], "split": case.split.get("paper", {})}
        shared = [
            (theirs[episode][metric], ours[episode][metric])
            for episode in theirs
            for metric in theirs[episode]
            if metric in ours[episode]
        ]
        assert any(a != b for a, b in shared), f"{suite} agrees with paper on {name!r}"


def test_every_protocol_is_in_the_table():
    def cell(value: Any, unit: str = "") -> str:
        if value is None:
            return "–"
        return f"{value:g}{unit}" if not isinstance(value, bool) else "yes" if value else "no"

    expected = [
        [
            p.name, cell(p.success_radius, " m"), cell(p.needs_stop), cell(p.step_limit), cell(p.step_size, " m"),
            cell(None if p.turn_angle is None else math.degrees(p.turn_angle), "°"), cell(p.sliding),
            cell(p.robot_radius, " m"), cell(p.robot_height, " m"),
        ]
        for p in PROTOCOLS.values()
    ]  # fmt: skip
    assert rows_after(DOCS / "protocols.md", "protocol")[1:] == expected
    guided = [
        [
            p.name, cell(g.to_goal), cell(g.goal_distance, " m"), cell(g.exact_start), cell(g.radius, " m"),
            cell(math.degrees(g.heading_tolerance), "°"), cell(g.step_limit),
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


def test_every_format_but_the_bundle_and_datasets_has_an_example():
    assert {block.heading for block in FORMAT_EXAMPLES} == catalog.BY_NAME.keys() - {"scores", "lerobot"}


# The rest


def test_every_verb_has_a_section():
    text = (DOCS / "command-line.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^## (.+)$", text, re.MULTILINE)) == sorted(ITINERA.commands)


def test_the_statistics_named_exist():
    rows = rows_after(DOCS / "statistics.md", "function")[1:]
    named = re.findall(r"\w+", " ".join(row[0] for row in rows))
    assert set(named) <= set(stats.__all__)


def test_the_coverage_table_has_the_rows_that_are_simulated():
    recipe = runpy.run_path(str(ROOT / "recipes" / "interval_coverage.py"))
    rows = rows_after(DOCS / "statistics.md", "outcome")[1:]
    outcomes = recipe["OUTCOMES"] + recipe["SKEWED"] + recipe["HELD_OUT"]
    simulated = [(outcome, str(scenes)) for outcome in outcomes for scenes in recipe["SCENES"]]
    assert [(row[0], row[1]) for row in rows] == [(outcome.name, scenes) for outcome, scenes in simulated]
    for (outcome, _), row in zip(simulated, rows, strict=True):
        assert outcome.lowest is None or float(row[2].rstrip(" %")) / 100 >= outcome.lowest


def test_the_coverage_table_of_runs_has_the_rows_that_are_simulated():
    designs = runpy.run_path(str(ROOT / "recipes" / "run_coverage.py"))["designs"]()
    rows = rows_after(DOCS / "statistics.md", "estimate")[1:]
    assert [(row[0], row[2]) for row in rows] == [(design.name, str(design.runs)) for design in designs]
    for design, row in zip(designs, rows, strict=True):
        assert not design.promised or 0.93 <= float(row[3].rstrip(" %")) / 100 <= (0.97 if design.paired else 0.98)


def test_the_targets_named_are_those_of_the_makefile():
    rows = rows_after(ROOT / "CONTRIBUTING.md", "target")[1:]
    assert sorted(row[0] for row in rows) == sorted(f"make {target}" for target in TARGETS)


def test_the_readme_begins_with_installing_scoring_and_the_python_program():
    first = [block.language for block in blocks(ROOT / "README.md")][:3]
    assert first == ["sh", "console", "python"]


def test_the_names_of_the_glossary_exist():
    rows = rows_after(DOCS / "glossary.md", "term")
    names = {re.match(r"(?:a node id of )?`?([\w.]+)", row[1])[1] for row in rows if row[0] != "term"}
    assert names
    assert [name for name in sorted(names) if resolve(name) is None] == []


def resolve(name: str) -> Any:
    """The object with this name below `itinera`, or None."""
    found: Any = importlib.import_module("itinera")
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(f"{found.__name__}.{part}")
            except (AttributeError, ImportError):
                return None
    return found


def test_every_public_package_is_in_the_api_reference():
    pages = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    packages = {file.parent.name for file in (ROOT / "src" / "itinera").glob("*/__init__.py")} - {"cli", "api"}
    packages |= {f"api.{file.stem}" for file in (ROOT / "src" / "itinera" / "api").glob("[!_]*.py")}
    assert packages <= set(re.findall(r"^::: itinera\.([\w.]+)$", pages, re.MULTILINE))


# Functions without a verb: readers, single rollouts, and the training of networks that only label pixels.
WITHOUT_VERB = {
    "load_agent", "read_map", "read_predictions", "read_scores", "read_study", "read_tasks", "read_worlds", "rollout",
    "train_segmentation",
}  # fmt: skip


def test_every_public_function_is_in_the_table_and_beside_its_verb():
    rows = rows_after(DOCS / "reference" / "index.md", "function")[1:]
    assert sorted(re.findall(r"\w+", " ".join(row[0] for row in rows))) == sorted(api.__all__)
    text = (DOCS / "command-line.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`itinera\.(\w+)", text)) >= set(api.__all__) - WITHOUT_VERB


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_of_ours_that_is_named_exists(page):
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`(\.ci/\w+|[a-z]+/[a-z0-9_/]+\.py)`", text)
    assert [
        name for name in named if not any((root / name).exists() for root in (ROOT, ROOT / "src" / "itinera"))
    ] == []


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert all(f": {page.relative_to(DOCS).as_posix()}\n" in navigation for page in DOCS.rglob("*.md"))


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md"])
def test_every_link_of_a_page_outside_the_docs_leads_somewhere(name):
    links = re.findall(r"\]\(([^)#]+)", (ROOT / name).read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not link.startswith("https://") and not (ROOT / link).exists()] == []


def test_the_pictures_are_those_the_script_draws():
    scripts = ("draw.py", "metrics.py")
    drawn = [runpy.run_path(str(DOCS / "pictures" / script))["PICTURES"] for script in scripts]
    kept = {file.name: file.read_text(encoding="utf-8") for file in (DOCS / "pictures").glob("*.svg")}
    assert dict(ChainMap(*drawn)) == kept, "run docs/pictures/draw.py and metrics.py"


def test_every_picture_is_shown_on_a_page():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = [file.name for file in (DOCS / "pictures").iterdir() if file.suffix in (".svg", ".png")]
    assert [name for name in pictures if f"pictures/{name}" not in text] == []
