"""Building of task files: joined paths (R4R, R6R, R8R) and tours, scene by scene. Both resume; see `resume.py`."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from itinera.builders import joining
from itinera.builders import tours as touring
from itinera.builders.joining import JoinConfig, JoinedPath, SceneJoiner
from itinera.builders.tours import OrderedPaths, TourConfig
from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats import ivln
from itinera.formats.frames import heading_to_r2r
from itinera.formats.native_tasks import encode_tasks
from itinera.formats.provenance import read_sidecar, write_sidecar
from itinera.formats.r2r import PathRecord, parse_id
from itinera.planners.tsp.ordering import solve_order, solve_order_lkh
from itinera.records import Provenance
from itinera.records.shards import Shard, plan_part
from itinera.runs.engines import Engine, is_local, open_engine
from itinera.runs.engines.engine import PROCESSES
from itinera.runs.identity import describe_digests, describe_worlds
from itinera.runs.resume import ResumableWriter, finish_part, plan_fingerprint, shard_fingerprint
from itinera.tasks import Split, Tour
from itinera.tasks.episode import PART_KEYS
from itinera.worlds import World

MAX_BYTES = 2e9  # of a file of joined paths, unless its size is accepted
PATHS_PER_CHUNK = 2000  # a few tenths of a second
SMALL_BUILD = 20  # chunks
EXAMPLES = 20  # joined paths per scene that the size of a file is estimated from
Solver = Literal["exact", "lkh"]
Progress = Callable[[int], None]
_log = logging.getLogger("itinera")
_ENCODER = msgspec.json.Encoder()


@dataclass(frozen=True)
class JoinedPathsBuild:
    """A built file of joined paths and its counts."""

    file: Path
    scenes: int
    paths: int
    instructions: int


@dataclass(frozen=True)
class OrderedSet:
    """A set of mutually reachable paths: its scene, counts, and the cost of its order, metres."""

    scene: str
    paths: int
    tours: int
    cost: float
    bound: float
    gap: float
    proven: bool


@dataclass(frozen=True)
class ToursBuild:
    """A built file of tours and its counts."""

    file: Path
    tours: int
    episodes: int  # in tours
    left_out: int  # episodes in no tour
    sets: tuple[OrderedSet, ...]

    @property
    def scenes(self) -> int:
        return len({ordered.scene for ordered in self.sets})

    @property
    def cost(self) -> float:
        """Metres of guidance between episodes."""
        return sum(ordered.cost for ordered in self.sets)

    @property
    def proven(self) -> int:
        """The number of sets whose order is proven to be the shortest."""
        return sum(ordered.proven for ordered in self.sets)


def build_joined_paths(
    out: Path,
    split: Split,
    worlds: Mapping[str, World],
    config: JoinConfig,
    *,
    positions: str = "pose",
    allow_large: bool = False,
    workers: int | None = None,
    engine: str | Engine = PROCESSES,
    provenance: Provenance,
    overwrite: bool = False,
    progress: Progress | None = None,
    shard: Shard | None = None,
) -> JoinedPathsBuild:
    """Write the joined paths of a split, or of the scenes of a shard, as a JSON list in R2R's format, scene by scene.

    The number of paths and the size of the file are logged before it is written; above 2 GB it is refused unless
    `allow_large`. `positions` names the positions that the worlds were read with, which the digest of their files does
    not.
    """
    inputs = _input_digests(provenance, split, worlds)
    plan = _plan(provenance, inputs, config, positions, PATHS_PER_CHUNK)
    block = range(len(split.world_ids)) if shard is None else shard.block(len(split.world_ids))
    with ResumableWriter(out, shard_fingerprint(plan, shard), overwrite=overwrite) as work:
        if work.finished:
            return JoinedPathsBuild(out, **_summary(out))
        counts = _announce_size(out, split, worlds, config, block, allow_large=allow_large)
        chunks = list(_make_chunks(split, counts, block))
        missing = [number for number in range(len(chunks)) if number not in work]
        if workers is None and is_local(engine) and len(missing) < SMALL_BUILD:
            workers = 0  # there is less to do than to start processes
        left = Counter(chunks[number].world_id for number in missing)
        _advance(progress, len(block) - len(left))
        with open_engine(engine, workers) as running:
            # The worlds may read their files when asked; other processes get what joining needs of them.
            graphs = {name: World(name, worlds[name].space) for name in split.world_ids}
            encode = partial(_encode_chunk, SceneJoiner(split, graphs, config))
            with closing(running.map(encode, [chunks[number] for number in missing])) as pieces:
                for index, (record, built) in pieces:
                    work.add(missing[index], record, note=built)
                    world_id = chunks[missing[index]].world_id
                    left[world_id] -= 1
                    _advance(progress, int(not left[world_id]))
        paths, instructions = (sum(note[k] for note in work.notes.values()) for k in (0, 1))
        summary = {"scenes": len(block), "paths": paths, "instructions": instructions}
        settings = {"version": provenance.version, **describe_digests(inputs), "positions": positions, **asdict(config)}
        scenes = [(name, sum(counts[:k]), counts[k]) for k, name in enumerate(split.world_ids) if counts[k]]
        verb = f"build r{2 * config.parts}r"
        part = plan_part(verb, shard, scenes, plan, settings, total=len(counts))
        tail = b"\n]\n" if paths else b"[]\n"
        work.finish(tail=tail, provenance=provenance, summary=summary, shard=finish_part(part, work))
    return JoinedPathsBuild(out, **summary)


def _announce_size(
    out: Path,
    split: Split,
    worlds: Mapping[str, World],
    config: JoinConfig,
    block: range,
    *,
    allow_large: bool,
) -> list[int]:
    """The number of joined paths of every scene; logs that of a block of scenes and the size of its file.

    Raises BadArgument if that is too large.
    """
    counts, size = [], 0.0
    for number, world_id in enumerate(split.world_ids):
        count, examples = joining.preview_scene_paths(split, world_id, worlds, config, examples=EXAMPLES)
        counts.append(int(count))
        if number in block:
            sizes = [len(_encode_path(joined, 0)) for joined in examples] or [1000]
            size += count * sum(sizes) / len(sizes)
    planned = f"{out}: {sum(counts[k] for k in block):,} joined paths, about {_format_size(size)}."
    if size > MAX_BYTES and not allow_large:
        raise BadArgument(
            f"{planned} Files above {_format_size(MAX_BYTES)} are not written unasked: limit the paths per scene "
            "(--max-paths, max_paths) or the instructions per path (--max-instructions, max_instructions), or accept "
            "the size (--all, allow_large=True)."
        )
    _log.info(planned)
    return counts


def _format_size(size: float) -> str:
    """Bytes in the unit that suits them.

    >>> _format_size(13_200_000_000), _format_size(450_000)
    ('13.2 GB', '0.5 MB')
    """
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


@dataclass(frozen=True)
class _Chunk:
    """Joined paths of a scene, by their ranks there."""

    world_id: str
    start: int
    stop: int
    number: int  # of the first one in the whole file
    is_first: bool  # of this file


def _make_chunks(split: Split, counts: Sequence[int], block: range) -> Iterator[_Chunk]:
    """The chunks of a block of scenes; `counts` are the joined paths of every scene."""
    number = begin = sum(counts[: block.start])
    for scene in block:
        for start in range(0, counts[scene], PATHS_PER_CHUNK):
            stop = min(counts[scene], start + PATHS_PER_CHUNK)
            yield _Chunk(split.world_ids[scene], start, stop, number, number == begin)
            number += stop - start


def _encode_chunk(joiner: SceneJoiner, chunk: _Chunk) -> tuple[bytes, list[int]]:
    """The joined paths of a chunk as members of a JSON list, and the numbers of paths and of instructions."""
    record, instructions = bytearray(), 0
    paths = joiner.join(chunk.world_id, chunk.start, chunk.stop)
    for number, joined in enumerate(paths, chunk.number):
        record += b"[\n" if chunk.is_first and number == chunk.number else b",\n"
        record += _encode_path(joined, number)
        instructions += len(joined.instructions)
    return bytes(record), [chunk.stop - chunk.start, instructions]


def _encode_path(joined: JoinedPath, number: int) -> bytes:
    record = PathRecord(
        scan=joined.world_id,
        path_id=number,
        path=joined.path,  # type: ignore[arg-type]
        heading=heading_to_r2r(joined.heading),
        instructions=joined.instructions,  # type: ignore[arg-type]
        distance=joined.length,
        shortest_path=joined.shortest,  # type: ignore[arg-type]
        shortest_path_distance=joined.shortest_length,
        **dict(zip(PART_KEYS, map(parse_id, joined.part_ids), strict=False)),
    )
    return _ENCODER.encode(record)


def build_tours(
    out: Path,
    split: Split,
    worlds: Mapping[str, World],
    config: TourConfig,
    *,
    solver: Solver = "exact",
    time_limit: float | None = None,
    provenance: Provenance,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> ToursBuild:
    """Write tours over the paths of every scene in IVLN's format: {split: {scan: [[episode, …], …]}}.

    `time_limit`: seconds per set of paths for the exact solver, after which the best order found is taken.
    """
    order = solve_order_lkh if solver == "lkh" else partial(solve_order, time_limit=time_limit)
    plan = _plan(provenance, _input_digests(provenance, split, worlds), config, solver, time_limit)
    with ResumableWriter(out, plan, overwrite=overwrite) as work:
        if work.finished:
            return msgspec.convert({"file": str(out), **_summary(out)}, ToursBuild, dec_hook=_decode_path)
        _advance(progress, len(work))
        for number, world_id in enumerate(split.world_ids):
            if number not in work:
                groups = touring.tour_scene(split, world_id, worlds, config, order)
                work.add(number, msgspec.json.encode(list(map(_plain_costs, groups))))
                _advance(progress, 1)
        groups = tuple(group for number in range(len(work)) for group in _decode_groups(work[number]))
        built = _summarize(out, split, groups)
        if not built.tours:
            problem = "has no two mutually reachable paths, so there is no tour."
            raise BadFile(split.name, [Fault("", problem, "Use single=True (--single) for tours of one episode.")])
        _write_tours(out, split, groups)
        summary = {name: value for name, value in asdict(built).items() if name != "file"}
        write_sidecar(out, provenance, plan=work.plan, summary=summary)
        work.discard()
    return built


def _plain_costs(group: OrderedPaths) -> OrderedPaths:
    # No cost is negative, which is all that is known about the order of a heuristic.
    found = replace(group.found, cost=float(group.found.cost), bound=max(0.0, float(group.found.bound)))
    return replace(group, found=found)


def _decode_groups(record: bytes) -> list[OrderedPaths]:
    return msgspec.json.decode(record, type=list[OrderedPaths])


def _summarize(out: Path, split: Split, groups: tuple[OrderedPaths, ...]) -> ToursBuild:
    episodes = sum(len(ids) for group in groups for ids in group.tours)
    sets = (
        OrderedSet(
            scene=group.world_id,
            paths=len(group.path_ids),
            tours=len(group.tours),
            cost=group.found.cost,
            bound=group.found.bound,
            gap=group.found.gap,
            proven=group.found.proven,
        )
        for group in groups
    )
    count = sum(len(group.tours) for group in groups)
    return ToursBuild(out, count, episodes, len(split.episodes) - episodes, tuple(sets))


def _write_tours(out: Path, split: Split, groups: tuple[OrderedPaths, ...]) -> None:
    listed = [(group.world_id, ids) for group in groups for ids in group.tours]
    tours = [Tour(str(number), world_id, ids) for number, (world_id, ids) in enumerate(listed)]
    ivln.write_tours(out, {_official_name(split.name): tours})


def _official_name(name: str) -> str:
    """The name of a split in IVLN's files: "val_unseen" for R2R_val_unseen."""
    return next((known for known in ("val_unseen", "val_seen", "train", "test") if known in name), name)


def _input_digests(provenance: Provenance, split: Split, worlds: Mapping[str, World]) -> dict[str, str]:
    """The digests of the inputs by role; inputs that were given as objects count by their content."""
    digests = dict(provenance.digests)
    if "tasks" not in digests:
        digests["tasks"] = hashlib.blake2b(encode_tasks(split), digest_size=16).hexdigest()
    if "worlds" not in digests:
        digests["worlds"] = plan_fingerprint(*describe_worlds(worlds, split.world_ids))
    return digests


def _plan(provenance: Provenance, inputs: Mapping[str, str], *options: object) -> str:
    return plan_fingerprint(provenance.version, sorted(inputs.items()), *options)


def _summary(out: Path) -> dict[str, Any]:
    """The counts of a finished file."""
    sidecar = read_sidecar(out)
    assert sidecar is not None, "a finished file has a plan, and that is in its provenance file"
    return sidecar.summary


def _decode_path(kind: type, value: Any) -> Any:
    return kind(value)


def _advance(progress: Progress | None, count: int) -> None:
    if progress is not None:
        progress(count)
