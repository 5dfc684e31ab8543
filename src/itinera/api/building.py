"""Building benchmarks: houses, longer paths, tours, ablated instructions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from itinera.api.scoring import input_paths, load_protocol, load_split, load_worlds_for, read_worlds
from itinera.errors import BadArgument, validate_choice

if TYPE_CHECKING:
    from itinera.builders.ablations import Ablation
    from itinera.hearth.season import Season
    from itinera.records.shards import Shard
    from itinera.runs.build_season import SeasonBuild
    from itinera.runs.build_tasks import JoinedPathsBuild, ToursBuild
    from itinera.runs.engines import Engine
    from itinera.tasks import Split
    from itinera.worlds import World

File: TypeAlias = str | PathLike[str]
logger = logging.getLogger("itinera")


def build_hearth(
    out: File,
    *,
    houses: int = 90,
    seed: int = 1,
    splits: Sequence[str] = ("train", "val_seen", "val_unseen", "test"),
    workers: int | None = None,
    engine: str | Engine = "processes",
    sealed: bool = False,
    secret: File | None = None,
    scenes: bool = False,
    radius: float = 0.10,
    languages: Sequence[Literal["en", "es"]] = ("en",),
    faults: float = 0.0,
    shard: str | Shard | None = None,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
    command_words: Sequence[str] = (),
) -> SeasonBuild:
    """Build a season of Hearth: procedural houses with tasks in the formats of R2R, RxR, REVERIE, VLN-CE and PointNav.

    The same parameters give the same bytes with any number of workers. If interrupted, call it again to resume.

    >>> import itinera
    >>> season = itinera.build_hearth("hearth", houses=9, workers=2)  # doctest: +SKIP
    >>> season.splits["train"]["instructions"]  # doctest: +SKIP

    out: the folder to write.
    houses: number of houses, at least 3; a small season is a prefix of a large one.
    seed: the season's seed. Season 1 is the public one.
    workers: number of worker processes (0: in this process); by default one per core.
    engine: what runs them: "processes", "ray", "ray://HOST:PORT" or "slurm".
    sealed: withhold the answers of the test split; they go to the folder OUT-answers, and so does the secret of 32
        random bytes that the season is built from. A sealed split has one instruction per path, and R2R, RxR, VLN-CE
        and REVERIE have different paths.
    secret: the secret file of an earlier build, to use instead of the seed or a new secret; published is its SHA-256.
    scenes: also write the houses as .glb and .obj files (needs the extra `scenes`).
    radius: of the robot in continuous tasks, metres.
    languages: of RxR's instructions: "en" and "es"; those of the other benchmarks and of a sealed split are English.
    faults: the probability per word of the small faults that people make when they write: typos, missing articles.
    shard: build the houses of one of several equal parts, such as "3/16", in a folder beside `out` (hearth.3-of-16);
        see `gather`. A sealed season is built on one machine, where its secret stays.
    overwrite: replace a season that was built with other parameters.
    progress: called with the number of houses just finished.
    """
    from dataclasses import replace

    from itinera.formats.io import check_outputs
    from itinera.hearth.language.generate import LANGUAGES
    from itinera.hearth.season import SPLITS, check_radius, house_indices, public_season
    from itinera.records.provenance import make_provenance
    from itinera.records.shards import parse_shard, part_path
    from itinera.runs.build_season import SeasonConfig, build_season

    names = (splits,) if isinstance(splits, str) else tuple(splits)
    for name in names:
        validate_choice("splits", name, SPLITS)
    ordered = tuple(split for split in SPLITS if split in names)
    house_indices(houses, ordered)
    spoken = (languages,) if isinstance(languages, str) else tuple(languages)
    for language in spoken:
        validate_choice("languages", language, LANGUAGES)
    if "en" not in spoken:
        raise BadArgument("languages (--languages) must contain en: R2R's instructions are English.")
    if not 0 <= faults <= 1:
        raise BadArgument(f"faults (--faults) is a probability per word, between 0 and 1 (got {faults}).")
    check_radius(radius)
    if scenes:
        from itinera.formats.scenes import require_trimesh

        require_trimesh()
    if sealed and "test" not in ordered:
        raise BadArgument("sealed withholds the answers of the test split, which is not among splits (--splits).")
    if workers is not None and workers < 0:
        raise BadArgument(f"workers must be ≥ 0 (got {workers}).")
    chosen_shard = parse_shard(shard)
    if chosen_shard is not None and (sealed or secret is not None):
        raise BadArgument("A sealed season is built on one machine, where its secret stays: leave out shard (--shard).")
    out = part_path(Path(out), chosen_shard)
    check_outputs([out], [secret])
    config = SeasonConfig(public_season(seed), out, houses, ordered, radius, scenes=scenes, shard=chosen_shard)
    config = replace(config, languages=tuple(one for one in LANGUAGES if one in spoken), faults=faults)
    if sealed or secret is not None:
        if seed != 1:
            raise BadArgument("Give a seed (--season) or build from a secret (--secret, --sealed), not both.")
        season = _load_secret_season(config.secret_file if secret is None else Path(secret), draw=secret is None)
        config = replace(config, season=season, sealed=sealed)
        # Logged before anything is built, so that it can be published first.
        logger.info(f"SHA-256 of the secret: {season.commitment}")
    provenance = make_provenance({}, command_words, seed=None if config.season.commitment else seed)
    built = build_season(
        config, workers=workers, engine=engine, provenance=provenance, overwrite=overwrite, progress=progress
    )
    if built.answers is not None:
        logger.warning(f"The answers of the test split are in {built.answers}. Do not publish that folder.")
    return built


def _load_secret_season(file: Path, *, draw: bool) -> Season:
    """The season of the secret in a file; where there is none yet, one is drawn if so asked."""
    from itinera.errors import BadFile, Fault
    from itinera.formats.hearth_season import draw_secret, read_secret
    from itinera.hearth.season import secret_season

    drawn = draw and not file.exists()
    secret = draw_secret(file) if drawn else read_secret(file)
    if drawn:
        logger.info(f"A secret of {len(secret)} random bytes was drawn: {file}. Publish it after the test only.")
    try:
        return secret_season(secret)
    except BadArgument as error:
        raise BadFile(str(file), [Fault("", str(error))]) from None


def build_r4r(
    tasks: Split | File,
    worlds: Mapping[str, World] | File,
    out: File,
    *,
    parts: int = 2,
    threshold: float = 3.0,
    round_trips: bool = True,
    max_turn_deg: float | None = None,
    max_paths: int | None = None,
    max_instructions: int | None = None,
    seed: int = 0,
    positions: Literal["pose", "panorama"] = "pose",
    allow_large: bool = False,
    shard: str | Shard | None = None,
    workers: int | None = None,
    engine: str | Engine = "processes",
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
    command_words: Sequence[str] = (),
) -> JoinedPathsBuild:
    """Build R4R (R6R with parts=3, R8R with parts=4): paths joined end to start, instructions in every combination.

    Writes a JSON list in R2R's format. The number of paths and the size of the file are logged first; above 2 GB it is
    refused unless `allow_large`. If interrupted, call it again to resume.

    >>> import itinera
    >>> itinera.build_r4r("R2R_val_unseen.json", "connectivity/", "R4R_val_unseen.json").paths  # doctest: +SKIP

    threshold: maximum distance from the end of a path to the start of the next, metres.
    round_trips: keep joined paths that end where they start.
    max_turn_deg: maximum turn between two parts, degrees.
    max_paths, max_instructions: maximum per scene, and per joined path, sampled with the seed.
    allow_large: write the file even if it takes more than 2 GB.
    shard: build the scenes of one of several equal parts, such as "3/16", in a file beside `out`; see `gather`.
    positions: "panorama" reads the node positions of R4R's first release, which its published counts need.
    workers: number of worker processes (0: in this process); by default one per core. The file does not depend on it,
        nor on the `engine` that runs them: "processes", "ray", "ray://HOST:PORT" or "slurm".
    overwrite: start anew instead of resuming or keeping the file.
    progress: called with the number of scenes just finished.
    """
    from math import radians

    from itinera.builders.joining import JoinConfig
    from itinera.formats.io import check_outputs
    from itinera.formats.matterport import read_worlds as read_connectivity
    from itinera.records.provenance import make_provenance
    from itinera.records.shards import parse_shard, part_path
    from itinera.runs.build_tasks import build_joined_paths

    chosen_shard = parse_shard(shard)
    out = part_path(Path(out), chosen_shard)
    check_outputs([out], [tasks, worlds])
    validate_choice("positions", positions, ("pose", "panorama"))
    max_turn = None if max_turn_deg is None else radians(max_turn_deg)
    config = JoinConfig(parts, threshold, round_trips, max_turn, max_paths, max_instructions, seed)
    split = load_split(tasks)
    if isinstance(worlds, Mapping):
        graphs: Mapping[str, World] = worlds
    else:
        graphs = read_worlds(worlds) if positions == "pose" else read_connectivity(Path(worlds), positions="panorama")
    return build_joined_paths(
        out,
        split,
        graphs,
        config,
        positions=positions,
        allow_large=allow_large,
        workers=workers,
        engine=engine,
        provenance=make_provenance(input_paths({"tasks": tasks, "worlds": worlds}), command_words),
        overwrite=overwrite,
        progress=progress,
        shard=chosen_shard,
    )


def build_tours(
    tasks: Split | File,
    worlds: Mapping[str, World] | File | None,
    out: File,
    *,
    order: Literal["end-to-start", "start-to-start"] = "end-to-start",
    solver: Literal["exact", "lkh"] = "exact",
    time_limit: float | None = None,
    tours: int | None = None,
    single: bool = False,
    seed: int = 0,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
    command_words: Sequence[str] = (),
) -> ToursBuild:
    """Build IVLN's tours: the paths of every scene in the order of least guidance between episodes.

    Writes IVLN's format, {split: {scan: [[episode, …], …]}}, for `read_tasks(..., tours=...)`. If interrupted, call
    it again to resume.

    >>> import itinera
    >>> itinera.build_tours("R2R_val_unseen.json", "connectivity/", "tours.json").cost  # doctest: +SKIP

    order: "start-to-start" for tasks whose goals are hidden, as IVLN's test split.
    solver: "exact" proves optimality, "lkh" is a heuristic (extra `lkh`).
    time_limit: seconds per set of paths for the exact solver.
    tours: tours per set of paths; by default as many as its paths have instructions.
    single: keep sets of one path, as tours of one episode.
    overwrite: start anew instead of resuming or keeping the file.
    progress: called with the number of scenes just finished.
    """
    from itinera.builders.tours import TourConfig
    from itinera.formats.io import check_outputs
    from itinera.records.provenance import make_provenance
    from itinera.runs import build_tasks

    check_outputs([out], [tasks, worlds])
    validate_choice("order", order, ("end-to-start", "start-to-start"))
    validate_choice("solver", solver, ("exact", "lkh"))
    config = TourConfig(order, tours, single, seed)
    split = load_split(tasks)
    return build_tasks.build_tours(
        Path(out),
        split,
        load_worlds_for(worlds, split, load_protocol(None, split)),
        config,
        solver=solver,
        time_limit=time_limit,
        provenance=make_provenance(input_paths({"tasks": tasks, "worlds": worlds}), command_words),
        overwrite=overwrite,
        progress=progress,
    )


def build_ablated(
    tasks: Split | File, out: File | None = None, *, rule: str, seed: int = 0, command_words: Sequence[str] = ()
) -> Ablation:
    """The same tasks with ablated instructions, to measure how much an agent depends on language.

    Rules: "full", "last-N" (the last N tokens), "none", "other" (the instruction of another path), "without-turns",
    "without-rooms", "without-objects" (such words masked). With `out`, the tasks are written in the format of their
    file; of Fine-Grained R2R in R2R's.

    >>> import itinera
    >>> itinera.build_ablated("R2R_val_unseen.json", "last5.json", rule="last-5").changed  # doctest: +SKIP
    """
    from itinera.builders.ablations import MASKED_WORDS, Ablation, ablate
    from itinera.formats.io import check_outputs
    from itinera.skills.categories import DEFAULT_CATEGORIES

    check_outputs([out], [tasks])
    split = load_split(tasks)
    kinds = {**MASKED_WORDS, "objects": MASKED_WORDS["objects"] | DEFAULT_CATEGORIES.keys()}
    ablated = ablate(split, rule, seed=seed, kinds=kinds)
    if out is not None:
        from itinera.formats import catalog
        from itinera.formats.provenance import write_sidecar
        from itinera.records.provenance import make_provenance

        source = catalog.detect(Path(tasks)).name if isinstance(tasks, (str, PathLike)) else "native-tasks"
        # Fine-Grained R2R splits instructions into chunks, which ablated ones do not have.
        catalog.find_format("r2r" if source == "fgr2r" else source).write(Path(out), ablated)
        write_sidecar(Path(out), make_provenance(input_paths({"tasks": tasks}), command_words, seed=seed))
    pairs = zip(split.episodes, ablated.episodes, strict=True)
    changed = sum(before.instruction.text != after.instruction.text for before, after in pairs)
    return Ablation(ablated, changed, None if out is None else Path(out))
