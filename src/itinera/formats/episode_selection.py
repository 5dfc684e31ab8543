"""A part of a split, as a user names it: ids, a file of ids, scenes, or a regular expression. Start with `select_ids`.

Every verb that takes `--episodes` and every function that takes `episodes=` passes here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats.decoding import decode_list
from itinera.formats.io import open_stream, read_bytes
from itinera.formats.subsets import read_subset
from itinera.tasks import Split
from itinera.tasks.subset import digest_episodes

Selection: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]
_SCENES = ("scan", "scene", "world")  # names of the same thing in different data sets
_LONGEST_LABEL = 200  # characters
_HEAD = 256  # bytes that tell a subset from a list of ids
ANSWERED = "answered"  # the selection of the episodes that have a trajectory


def read_episode_ids(path: str | Path) -> tuple[str, ...]:
    """The episode ids of a file: a subset, a JSON list, or one per line; empty lines and lines with # are left out."""
    path = Path(path)
    if is_subset(path):
        return read_subset(path).ids
    data = read_bytes(path)
    if data.lstrip()[:1] == b"[":
        ids = [str(one) for one in decode_list(data, str | int, str(path))]  # type: ignore[arg-type]
    else:
        try:
            lines = data.decode("utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise BadFile(str(path), [Fault("", "is not UTF-8 text.", "Write one episode id per line.")]) from None
        ids = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not ids:
        raise BadFile(str(path), [Fault("", "contains no episode ids.", "Write one per line, or a JSON list.")])
    return tuple(dict.fromkeys(ids))


def is_subset(term: str | PathLike[str]) -> bool:
    """Whether this is the path of a file that `itinera sample` wrote."""
    if not _is_file(term):
        return False
    with open_stream(Path(term)) as stream:
        return re.match(rb'\s*\{\s*"itinera"\s*:\s*"subset"', stream.read(_HEAD)) is not None


def select_part(split: Split, selection: Selection) -> Split:
    """The part of a split that a selection names, with the tours that lie within it."""
    scenes = [episode.world_id for episode in split.episodes]
    part = split.select(
        select_ids(selection, list(split.by_id), scenes, split.name), selection=label_selection(selection)
    )
    if split.tours and not part.tours:
        raise BadArgument(
            f"None of the {len(split.tours):,} tours lies within the {len(part):,} episodes selected. Select whole "
            "scenes (--episodes scan=NAME), or leave --tours out."
        )
    return part


def select_ids(selection: Selection, ids: Sequence[str], scenes: Sequence[str], name: str) -> tuple[str, ...]:
    """The ids that a selection names, in its order; `scenes` has the scene of each id, `name` is that of the split.

    A selection is one term or several: "4332_1" or "4332_1,4332_2" or "ids=4332_1,4332_2", the path of a file of ids,
    "scan=17DRP5sb8fy", or "/regex/", which is searched in the ids. Raises BadArgument if a term selects nothing.

    >>> select_ids(["scan=b", "/^1_/"], ["1_0", "1_1", "2_0"], ["a", "a", "b"], "val")
    ('2_0', '1_0', '1_1')
    """
    known = dict(zip(ids, scenes, strict=True))
    found = dict.fromkeys(one for term in split_terms(selection) for one in _select(term, known, name))
    if not found:
        raise BadArgument("episodes (--episodes) selects nothing: give ids, a file of ids, scan=NAME or /regex/.")
    return tuple(found)


def split_terms(selection: Selection) -> list[str | PathLike[str]]:
    """The terms of a selection."""
    if isinstance(selection, (str, PathLike)):
        return [selection]
    terms = list(selection)
    wrong = next((term for term in terms if not isinstance(term, (str, PathLike))), None)
    if wrong is not None:
        raise BadArgument(f"episodes takes ids, files of ids, scan=NAME and /regex/, not {type(wrong).__name__}.")
    return terms


def label_selection(selection: Selection) -> str:
    """The selection as it was given, for messages and provenance; a long one is cut."""
    label = " ".join(_label(term) for term in split_terms(selection))
    return label if len(label) <= _LONGEST_LABEL else f"{label[:_LONGEST_LABEL]}…"


def _label(term: str | PathLike[str]) -> str:
    return read_subset(Path(term)).label if is_subset(term) else str(term)


def _select(term: str | PathLike[str], known: dict[str, str], name: str) -> Iterator[str]:
    if not isinstance(term, str) or (term not in known and "=" not in term and _is_file(term)):
        if is_subset(term):
            _check_subset(Path(term), known, name)
        yield from _check_ids(read_episode_ids(Path(term)), known, name, source=str(term))
    elif term in known:
        yield term
    elif len(term) > 1 and term[0] == term[-1] == "/":
        yield from _search(term[1:-1], known, name)
    else:
        key, equals, value = term.partition("=")
        if equals and key in _SCENES:
            yield from _select_scenes(value.split(","), known, name)
        else:
            wanted = value if equals and key == "ids" else term
            yield from _check_ids([one.strip() for one in wanted.split(",") if one.strip()], known, name)


def _is_file(term: str | PathLike[str]) -> bool:
    try:
        return Path(term).is_file()
    except (OSError, ValueError):  # too long, or a NUL
        return False


def _check_subset(path: Path, known: dict[str, str], name: str) -> None:
    """Refuse the subset of another split."""
    subset = read_subset(path)
    if not subset.fits(list(known), list(known.values())):
        problem = (
            f"is a {subset.label}, a split of {subset.total:,} episodes (digest {subset.split_digest}), and "
            f"{name} is another (digest {digest_episodes(known, known.values())})."
        )
        raise BadFile(str(path), [Fault("", problem, "Give the split it was drawn from, whole.", "split_digest")])


def _check_ids(wanted: Sequence[str], known: dict[str, str], name: str, *, source: str = "") -> Sequence[str]:
    unknown = [one for one in wanted if one not in known]
    if not unknown:
        return wanted
    where = f"{name} ({len(known):,} episodes, with ids such as {next(iter(known), '')!r})"
    if len(wanted) == 1:
        problem = f"Episode {unknown[0]!r} is not in {where}."
    else:
        number = "None" if len(unknown) == len(wanted) else f"{len(unknown):,}"
        verb = "is" if len(unknown) == len(wanted) else "are not" if len(unknown) > 1 else "is not"
        problem = f"{number} of the {len(wanted):,} episodes {verb} in {where}; first: {unknown[0]!r}."
    if source:
        raise BadFile(source, [Fault("", problem, "Give ids of these tasks.")])
    raise BadArgument(f"{problem} Give ids, an existing file of ids, scan=NAME or /regex/.")


def _select_scenes(wanted: Sequence[str], known: dict[str, str], name: str) -> Iterator[str]:
    scenes = set(known.values())
    for scene in wanted:
        if scene not in scenes:
            listed = ", ".join(sorted(scenes)[:12]) + (", …" if len(scenes) > 12 else "")
            raise BadArgument(f"{name} has no scene {scene!r}; there are {listed}.")
    yield from (one for one, scene in known.items() if scene in wanted)


def _search(pattern: str, known: dict[str, str], name: str) -> Iterator[str]:
    try:
        expression = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadArgument(f"/{pattern}/ is not a regular expression: {error}.") from None
    found = [one for one in known if expression.search(one)]
    if not found:
        example = next(iter(known), "")
        raise BadArgument(f"No id of {name} ({len(known):,} episodes, such as {example!r}) matches /{pattern}/.")
    yield from found
