"""Files and installations: checking, converting and verifying; conformance of other scorers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from itinera.api.scoring import NO_DRIVE, File, check_options, load_protocol, load_split, require_path
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.analysis.file_checks import FileReport, FolderReport
    from itinera.analysis.installation import Diagnosis
    from itinera.formats.convert import Conversion
    from itinera.metrics.conformance import ConformanceReport
    from itinera.tasks import Protocol, Split
    from itinera.worlds import World


def check(
    path: File,
    *,
    tasks: Split | File | None = None,
    worlds: Mapping[str, World] | File | None = None,
    missing: Literal["fail", "zero"] = "fail",
    protocol: str | Protocol | None = None,
    drive: str | None = None,
    vmax: float | None = None,
    wmax: float | None = None,
    format: str | None = None,
    earlier: File | None = None,
) -> FileReport:
    """The report on a file of any known format; raises BadFile with every fault found.

    Predictions are checked against `tasks` and `worlds`; goals are not needed, so a submission to a hidden test can be
    checked before it is sent. The rules are those of the tasks unless `protocol` and the drive name others. The
    log of an `earlier` board archive must be the beginning of that of the board archive at `path`.

    >>> import itinera
    >>> print(itinera.check("preds.json", tasks="R2R_test.json", worlds="connectivity/"))  # doctest: +SKIP
    """
    from itinera.analysis.file_checks import check_file
    from itinera.formats.parts import SEASON_PART, find_part

    part = find_part(require_path(path, "path", "check")) if format is None else None
    if part is not None and part.kind == SEASON_PART:
        from itinera.runs.season_parts import verify_houses

        verify_houses(part)
    check_options(missing=missing)
    split = None if tasks is None else load_split(tasks)
    options = drive, vmax, wmax
    named = protocol is not None or options != NO_DRIVE
    if named and split is None:
        raise BadArgument("A protocol and a drive check predictions against tasks: give tasks (--tasks).")
    return check_file(
        require_path(path, "path", "check"),
        tasks=split,
        protocol=load_protocol(protocol, split, drive=options) if named and split is not None else None,
        worlds=worlds if worlds is None or isinstance(worlds, Mapping) else Path(worlds),
        missing=missing,
        format=format,
        earlier=None if earlier is None else Path(earlier),
    )


def convert(
    source: File,
    target: File,
    to: str,
    *,
    format: str | None = None,
    tasks: File | None = None,
    tours: File | None = None,
    traces: File | None = None,
    episode: str | None = None,
    command_words: Sequence[str] = (),
) -> Conversion:
    """Write `target` in the format `to` with the content of `source`: tasks, predictions, worlds or labels.

    `tasks` translates ids of predictions; `tours` are added to tasks; `traces` is RxR's folder of guide pose traces,
    which align words; `episode` is the episode id of a robot log.

    >>> import itinera
    >>> itinera.convert("preds.json", "predictions.jsonl", "native-predictions")  # doctest: +SKIP
    """
    from itinera.formats.convert import convert

    def path(file: File | None) -> Path | None:
        return None if file is None else Path(file)

    return convert(
        Path(source),
        Path(target),
        to,
        format=format,
        tasks=path(tasks),
        tours=path(tours),
        traces=path(traces),
        episode=episode,
        command=command_words,
    )


def verify_data(folder: File, *, progress: Callable[[int], None] | None = None) -> FolderReport:
    """The report on a folder of data: stated digests compared, and every file of a known format read.

    Faults are collected, not raised. `progress` is called with 1 after each file.

    >>> import itinera
    >>> itinera.verify_data("hearth/").faults  # doctest: +SKIP
    ()
    """
    from itinera.analysis.file_checks import verify_folder

    return verify_folder(require_path(folder, "folder", "verify_data"), progress=progress)


def conformance(
    scorer: Callable[[dict[str, Any]], Mapping[str, float | None]] | str, *, suite: str = "paper"
) -> ConformanceReport:
    """The agreement of your scorer with golden cases worked by hand.

    The scorer, a function or its "module:function", receives one attempt as a plain dict and returns metric values by
    name; docs/conformance.md describes the dict.

    >>> import itinera
    >>> itinera.conformance(lambda attempt: {"steps": len(attempt["trajectory"]["places"]) - 1}).agrees
    True
    """
    from itinera.metrics.conformance import evaluate_scorer

    return evaluate_scorer(scorer, suite=suite)


def doctor(*, browser: str | None = None, data: str | None = None) -> Diagnosis:
    """The state of this installation and machine: versions, extras, compiled kernels, browser, data.

    >>> import itinera
    >>> print(itinera.doctor())  # doctest: +SKIP
    """
    from itinera.analysis.installation import examine

    return examine(browser=browser, data=data)
