"""`itinera report`: one page about results, that opens from disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote, unquote

import typer

from itinera.cli import inputs as given
from itinera.cli import options, output
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.formats.report_json import Described, Findings
    from itinera.records import ScoreTable
    from itinera.reports.replay.links import Shown
    from itinera.tasks.fastest_times import FastestTimes


def report(
    bundles: Annotated[
        list[Path],
        typer.Argument(
            help="Bundles of `score --out`, of any number of benchmarks; also fastest times, and what `study analyse "
            "--json` and `describe --json` print."
        ),
    ],
    out: options.Out,
    markdown: Annotated[Path | None, typer.Option(help="Write sentences and tables as Markdown here too.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Write the tables as LaTeX here too.")] = None,
    replays: Annotated[
        Path | None,
        typer.Option(
            help="A folder with pages of `itinera show`, to be linked to where one of their agents walked their "
            "episodes; one named replay-EPISODE.html wherever that episode is."
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="What the page is called, instead of who is in it.")] = "",
    seed: Annotated[
        int, typer.Option(help="Of the permutation tests, where there are too many scenes to try all.")
    ] = 0,
) -> None:
    """Write one page about results: who is better, by how much, how sure, where it fails, and all that stands behind.

    Bundles of the same episodes, protocol and suite are compared; others get sections of their own. The page is one
    file and asks nothing of the network.

    Example: itinera report baseline.jsonl mine.jsonl --out report.html
    """
    given.spare_blas()
    from itinera.formats.io import atomic_write
    from itinera.records.provenance import itinera_version
    from itinera.reports.page import manuscript
    from itinera.reports.page.page import make_report, write_page
    from itinera.reports.page.sentences import answers

    read = _read(bundles)
    linked, shown = ({}, []) if replays is None else (replay_links(replays, out), shown_in(replays, out))
    made = make_report(
        read.names, read.tables, findings=read.findings, described=read.described, times=read.times, replays=linked,
        shown=shown, version=itinera_version(), title=title, seed=seed,
    )  # fmt: skip
    write_page(out, made)
    for path, write in ((markdown, manuscript.markdown), (latex, manuscript.latex)):
        if path is not None:
            with atomic_write(path) as stream:
                stream.write(write(made).encode())
    for contest in made.contests:
        typer.echo(f"{contest.title}: {answers(contest)[0].sentences[0]}")
    output.remark(f"{out}: {out.stat().st_size / 1e6:.1f} MB; open it in a browser.")


@dataclass
class Read:
    """What the files held."""

    names: list[str] = field(default_factory=list)  # of the files of the tables
    tables: list[ScoreTable] = field(default_factory=list)
    findings: list[Findings] = field(default_factory=list)
    described: list[Described] = field(default_factory=list)
    times: list[FastestTimes] = field(default_factory=list)


def _read(files: list[Path]) -> Read:
    """Every file by what is inside."""
    from itinera.formats.bundles import read_scores
    from itinera.formats.catalog import look_inside
    from itinera.formats.fastest_times import read_times
    from itinera.formats.report_json import Findings, read_printed

    read = Read()
    for path in files:
        head = look_inside(path)
        if head.begins(r'\{\s*"itinera"\s*:\s*"times"'):
            read.times.append(read_times(path))
        elif head.begins(r'\{\s*"itinera"'):
            read.names.append(path.stem)
            read.tables.append(read_scores(path))
        elif isinstance(found := read_printed(path), Findings):
            read.findings.append(found)
        else:
            read.described += found
    return read


def replay_links(folder: Path, page: Path) -> dict[str, str]:
    """The replays in a folder that are named for an episode, by that, as links from the page."""
    return {unquote(file.stem.removeprefix("replay-")): link for file, link in _pages(folder, page) if _is_named(file)}


def shown_in(folder: Path, page: Path) -> list[Shown]:
    """The other replays in a folder, which tell themselves what they show."""
    from itinera.reports.replay.links import read_shown

    found = (read_shown(file, link) for file, link in _pages(folder, page) if not _is_named(file))
    return [one for one in found if one is not None]


def _is_named(file: Path) -> bool:
    return file.name.startswith("replay-")


def _pages(folder: Path, page: Path) -> Iterator[tuple[Path, str]]:
    """The pages in a folder, and the links from one page to them."""
    if not folder.is_dir():
        raise BadArgument(f"{folder} is no folder of replays.")
    where = Path(os.path.relpath(folder, page.parent)).as_posix()
    for file in sorted(folder.glob("*.html")):
        if file.resolve() != page.resolve():
            yield file, f"{_quoted(where)}/{_quoted(file.name)}"


def _quoted(name: str) -> str:
    return quote(name, errors="surrogateescape")  # names of files need not be text
