"""`gather`: the parts of a long command, joined into the bytes that the command gives without --shard.

Everything is checked before a byte is written, and every problem is reported with the command that mends it: a shard
that is missing or given twice, a part of another plan, of other inputs or of another version, records that were changed
or lost. What a part states and how its records are verified is in `formats/parts.py`.
"""

from __future__ import annotations

import hashlib
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import msgspec

from itinera.errors import BadArgument, BadFile, Fault, ItineraError
from itinera.formats.hearth_season import SEASON_FILE
from itinera.formats.io import FaultList
from itinera.formats.map_recordings import maps_file
from itinera.formats.native import header_line
from itinera.formats.parts import SEASON_PART, Part, read_part, record_lines, verify_part
from itinera.formats.provenance import write_sidecar
from itinera.formats.writing import atomic_write
from itinera.records import Provenance
from itinera.records.shards import Shard, encode_ids, replace_shard, without_shard
from itinera.runs.season_parts import join_seasons, verify_houses

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Gathering:
    """A result that was joined from parts."""

    file: Path
    command: str  # the verb of the parts: "run", "build r4r", …
    parts: int
    records: int  # rollouts, trials, episodes, scenes or houses


def gather(paths: Sequence[Path], out: Path, *, overwrite: bool = False, progress: Progress | None = None) -> Gathering:
    """Join parts into `out`; see `itinera.api.gather`. `progress` is called with 1 after each part was verified."""
    # A folder without these is new, or that of a season whose gathering was interrupted.
    results = (out / SEASON_FILE, out / f"{SEASON_FILE}.partial")
    if not overwrite and (out.is_file() or any(result.exists() for result in results)):
        raise BadArgument(f"{out} exists already. Write to another file, or replace it with --overwrite.")
    parts = _read_parts(paths, out)
    _verify(parts, out, progress or (lambda count: None))
    _join(parts, out, overwrite=overwrite)
    plan = parts[0].plan
    return Gathering(out, plan.command, len(parts), plan.total)


def _read_parts(paths: Sequence[Path], out: Path) -> list[Part]:
    """The parts in the order of their shards; raises BadFile unless they are all shards of one plan, each once."""
    if not paths:
        raise BadArgument("Give the parts to gather, such as preds.*-of-16.jsonl.")
    parts: list[Part] = []
    faults: list[Fault] = []
    for path in paths:
        try:
            parts.append(read_part(path))
        except BadFile as error:
            faults += _named(path, error)
    faults += _find_differences(parts)
    faults += islice(_find_gaps(parts), FaultList.max_length)
    if faults:
        raise BadFile(str(out), faults)
    parts.sort(key=lambda part: part.plan.number)
    if parts[0].plan.settings.get("record_maps") == "True" and parts[0].kind == "predictions":
        absent = [part for part in parts if not maps_file(part.path).exists()]
        if absent:
            raise BadFile(str(out), [_missing_maps(part) for part in absent])
    return parts


def _named(path: Path, error: BadFile) -> Iterator[Fault]:
    """The faults of a part as faults of the gathering: where is the name of its file."""
    for fault in error.faults:
        yield replace(fault, where=f"{path}: {fault.where}" if fault.where else str(path))


def _missing_maps(part: Part) -> Fault:
    problem = f"its maps ({maps_file(part.path).name}) are missing."
    return Fault(str(part.path), problem, _mend(part, part.plan.shard, "--overwrite"))


def _find_differences(parts: Sequence[Part]) -> list[Fault]:
    """A fault for everything in which a part differs from most of the others.

    What follows from the settings is compared only where these are equal, so that one difference is one message.
    """
    return list(_compare(parts, _describe_settings)) or list(_compare(parts, _describe_rest))


def _describe_settings(part: Part) -> dict[str, str]:
    plan = part.plan
    return {"the command": f"itinera {plan.command}", "the number of shards": str(plan.count), **plan.settings}


def _describe_rest(part: Part) -> dict[str, str]:
    plan, header = part.plan, b""
    if part.header is not None:
        header = header_line(msgspec.structs.replace(part.header, provenance=None, plan="", shard=None))
    return {
        "the number of records": str(plan.total),
        "the digest of the full list": plan.list_digest,
        "the fingerprint of the plan": plan.plan,
        "the digest of the header": hashlib.blake2b(header, digest_size=8).hexdigest(),
    }


def _compare(parts: Sequence[Part], describe: Callable[[Part], dict[str, str]]) -> Iterator[Fault]:
    columns = [describe(part) for part in parts]
    for name in dict.fromkeys(name for column in columns for name in column):
        values = [column.get(name, "not stated") for column in columns]
        usual, votes = Counter(values).most_common(1)[0]
        standard = parts[values.index(usual)]
        for part, value in zip(parts, values, strict=True):
            if value != usual:
                others = f"{votes} other part{'' if votes == 1 else 's'}"
                shard = Shard(part.plan.number, standard.plan.count)
                fits = shard.number <= shard.count
                remedy = _mend(standard, shard, "--overwrite") if fits else "Leave it out."
                yield Fault(str(part.path), f"{name} is {value}, but {usual} in {others}.", remedy)


def _find_gaps(parts: Sequence[Part]) -> Iterator[Fault]:
    """A fault for every shard that is missing or given more than once, among as many as most parts say."""
    usual = Counter(part.plan.count for part in parts).most_common(1)
    counted = [part for part in parts for count, _ in usual if part.plan.count == count]
    given: dict[int, list[Part]] = defaultdict(list)
    for part in counted:
        given[part.plan.number].append(part)
    if not counted:  # no part could be read
        return
    first = counted[0]
    for number in range(1, first.plan.count + 1):
        shard, found = Shard(number, first.plan.count), given.get(number, [])
        if not found:
            yield Fault("", f"shard {shard} is missing{_unfinished(first, shard)}.", _mend(first, shard))
        elif len(found) > 1:
            names = ", ".join(str(part.path) for part in found)
            yield Fault("", f"shard {shard} is given {len(found)} times: {names}.", "Give each part once.")


def _unfinished(part: Part, shard: Shard) -> str:
    """A remark if the work of a shard lies unfinished beside this part."""
    name = part.path.name.replace(f".{part.plan.number}-of-", f".{shard.number}-of-")
    work = part.path.with_name(f"{name}.partial")
    return f", and unfinished ({work})" if work.exists() else ""


def _mend(part: Part, shard: Shard, *more: str) -> str:
    """The command that makes a shard of the plan of this part."""
    if not part.provenance.command:
        again = ", overwrite=True" if more else ""
        return f'Call the same function with shard="{shard}"{again}.'
    words = [word for word in replace_shard(part.provenance.command, shard) if word != "--overwrite"]
    return f"Run: {shlex.join([*words, *more])}"


def _verify(parts: Sequence[Part], out: Path, progress: Progress) -> None:
    """Raise BadFile unless the records of every part are whole, and those of all parts are the full list."""
    found = hashlib.blake2b(digest_size=16)  # of the ids of all parts in order
    faults: list[Fault] = []
    for part in parts:
        try:
            verify = verify_houses if part.kind == SEASON_PART else verify_part
            verify(part, lambda ids: found.update(encode_ids(ids)))
        except BadFile as error:
            mend = _mend(part, part.plan.shard, "--overwrite")
            faults += [replace(fault, remedy=mend) for fault in _named(part.path, error)]
        progress(1)
    # Recorded maps have no ids; those of their predictions are compared.
    if not faults and parts[0].kind != "map-recordings" and found.hexdigest() != parts[0].plan.list_digest:
        problem = "the records of the parts are not those of the full list, or in another order."
        faults.append(Fault("", problem, "Make the parts again with --overwrite."))
    if faults:
        raise BadFile(str(out), faults)


def _join(parts: Sequence[Part], out: Path, *, overwrite: bool) -> None:
    provenance = without_shard(parts[0].provenance)
    if parts[0].kind == SEASON_PART:
        join_seasons(parts, out, provenance, overwrite=overwrite)
    elif parts[0].sidecar is not None:
        _join_paths(parts, out, provenance)
    else:
        if parts[0].kind == "predictions" and parts[0].plan.settings.get("record_maps") == "True":
            gather([maps_file(part.path) for part in parts], maps_file(out), overwrite=overwrite)
        _join_records(parts, out, provenance)


def _join_records(parts: Sequence[Part], out: Path, provenance: Provenance) -> None:
    first = parts[0]
    assert first.header is not None
    header = msgspec.structs.replace(first.header, provenance=provenance, plan=first.plan.plan, shard=None)
    with atomic_write(out) as stream:
        stream.write(header_line(header))
        for part in parts:
            state = hashlib.blake2b(digest_size=16)
            for line in record_lines(part):
                state.update(line)
                stream.write(line)
            if state.hexdigest() != part.plan.digest:
                raise ItineraError(f"{part.path} changed while it was read. Gather the parts again.")


def _join_paths(parts: Sequence[Part], out: Path, provenance: Provenance) -> None:
    """Write a JSON list from those of the parts, and their counts beside it."""
    start = b"[\n"
    with atomic_write(out) as stream:
        for part in parts:
            for line in record_lines(part):
                stream.write(start + line)
                start = b",\n"
        stream.write(b"[]\n" if start == b"[\n" else b"\n]\n")
    sums: Counter[str] = Counter()
    for part in parts:
        assert part.sidecar is not None
        sums.update({name: int(value) for name, value in part.sidecar.summary.items()})
    names = ("scenes", "paths", "instructions")
    write_sidecar(out, provenance, plan=parts[0].plan.plan, summary={name: sums[name] for name in names})
