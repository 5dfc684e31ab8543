"""Every public reader of files with examples to mutate: the table that fuzzing runs over.

`READERS` has an entry for each function named `read_…` that takes a file from outside, and for a few more; a test
compares it with the package.
"""

from __future__ import annotations

import io
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from adversary import mutation
from adversary.mutation import Mutate
from formats.examples import ARCHIVED, EXAMPLES, TRIAL
from itinera.errors import BadFile

# Readers that take no file of a stranger, with the reason.
NOT_FUZZED = {
    "formats.native.read_records": "the part that the readers of native files share",
    "formats.decoding.read_list": "the part that readers of JSON lists share",
    "formats.settings.read_settings": "the part that readers of TOML files share",
    "formats.settings.read_toml": "the part that the readers of TOML files share",
    "server.events.read_events": "the server's own database",
    "server.requests.read_token": "a header of a request",
    "agents.host.read_observation": "the requests of a run, or of the host of a challenge, to its own agent",
    "agents.reference_parser.read_reference": "takes a phrase of an instruction, not a file",
    "formats.season_tasks.read_house_tasks": "the readers of R2R, RxR and REVERIE",
    "runs.engines.sandbox.read_agent_files": "asks the workers of a run for the digests of their agent's files",
    "api.comparing.read_system": "formats.bundles.read_scores",
    "runs.context.read_descriptions": "opens the files of a run by formats.scene_descriptions.read_descriptions",
    "runs.waypoints.read_viewpoints": "formats.catalog.read_worlds",
    "policies.segmentation.labeling.read_segmenter": "policies.checkpoint.read_model",
    "formats.goal_tables.read_goal_table": "a cache of distances: a file that is damaged is made again",
    "training.ground.decision_store.read_rolls": "a cache of training: a file that is damaged is made again",
    "api.judging.read_challenge": "formats.hosted_challenge.read_rules",
    "formats.hosted_challenge.read_rules": "formats.challenge.read_challenge and read_hosted_challenge",
    "runs.build_season.read_house": "None for a damaged record, which seasons and their parts refuse",
    "api.training.read_recipe": "formats.recipe.read_recipe",
    "api.scoring.read_tasks": "formats.catalog.read_tasks with tours",
    "api.scoring.read_worlds": "formats.catalog.read_worlds and read_surfaces",
    "api.scoring.read_predictions": "formats.catalog.read_predictions",
    "api.scoring.read_scores": "formats.bundles.read_scores",
    "api.skills.read_study": "formats.trials.read_trials",
    "api.planning.read_map": "formats.rosmap.read_map and formats.floor_plans.read_floor_plan",
}


@dataclass(frozen=True)
class Reader:
    """A function that reads a file, and how to fuzz it."""

    name: str
    read: Callable[[Path], Any]  # reads all there is, also what is put off until it is needed
    seeds: Callable[[], Sequence[bytes]]  # examples
    mutate: Mutate
    file_name: str = "file"  # of the input; may contain folders, of which the first is then given to the reader
    others: Mapping[str, Callable[[], bytes]] | None = None  # files beside it, which are not mutated

    def place(self, folder: Path) -> tuple[Path, Path]:
        """The file to write inputs to, and the path to read."""
        target = folder / self.file_name
        target.parent.mkdir(parents=True, exist_ok=True)
        for name, content in (self.others or {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content())
        return target, folder / Path(self.file_name).parts[0]


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.rpartition(".")
    found: Callable[..., Any] = getattr(import_module(f"itinera.{module}"), function)
    return found


def _drain(content: Any) -> Any:
    """Everything that is read on access: trajectories, and the worlds of mappings."""
    if hasattr(content, "trajectories") and hasattr(content, "batch"):
        list(content.trajectories)
        _ = content.batch.places[:]
    elif isinstance(content, Mapping):
        list(content.values())
    return content


def _plain(
    name: str,
    seeds: Callable[[], Sequence[bytes]],
    mutate: Mutate,
    *,
    call: Callable[[Callable[..., Any], Path], Any] | None = None,
    variant: str = "",
    **more: Any,
) -> Reader:
    def read(path: Path) -> Any:
        function = _function(name)
        return _drain(function(path) if call is None else call(function, path))

    return Reader(f"{name} ({variant})" if variant else name, read, seeds, mutation.sometimes_packed(mutate), **more)


def _example(name: str) -> Callable[[], Sequence[bytes]]:
    return lambda: [EXAMPLES[name]]


def _texts(*texts: str) -> Callable[[], Sequence[bytes]]:
    return lambda: [text.encode() for text in texts]


def _written(write: Callable[[Path], object], name: str) -> bytes:
    """The bytes of a file that one of our own writers makes."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / name)
        return (Path(folder) / name).read_bytes()


@cache
def _model() -> bytes:
    import torch

    from itinera.policies.checkpoint import build_model, encode_model, make_card
    from itinera.policies.rcm import RCMConfig
    from itinera.policies.tokenizer import Tokenizer

    torch.set_num_threads(1)
    config = RCMConfig(word_dim=4, text_dim=4, num_text_layers=1, visual_dim=4, key_dim=4, hidden_dim=4, scorer_dim=4)
    model = build_model(make_card("rcm", config, ("sofa", "to kitchen"), Tokenizer(("go", "sofa"))))
    return encode_model(model, {"step": torch.tensor(1)}, json.dumps({"plan": "x", "step": 1}))


_ROLLOUT = b'{"tour_id":"1","trajectories":[{"episode_id":"1","places":["a","b"]}]}\n'


def _part(kind: str = "predictions", records: bytes = _ROLLOUT) -> bytes:
    """A part of a file of this kind: shard 2 of 2, with one record."""
    from itinera.formats.native import Header, header_line
    from itinera.records import Provenance
    from itinera.records.shards import PartPlan, digest_bytes

    plan = PartPlan("run", 2, 2, 1, "0" * 32, "0" * 32, {"seed": "7"}, digest_bytes(records))
    return (
        header_line(Header(itinera=kind, provenance=Provenance("1", inputs={}, digests={}), plan="x", shard=plan))
        + records
    )


def _part_sidecar() -> bytes:
    """The provenance file of a part of joined paths, which is in the file "file"."""
    from itinera.formats.provenance import Sidecar
    from itinera.records import Provenance
    from itinera.records.shards import PartPlan, digest_bytes

    plan = PartPlan("build r4r", 1, 2, 2, "0" * 32, "0" * 32, {"seed": "7"}, digest_bytes(_JOINED))
    return msgspec.json.encode(
        Sidecar(Provenance("1", inputs={}, digests={}), digest_bytes(_JOINED), "x", {"paths": 1}, plan)
    )


_JOINED = b'[\n{"scan":"a","path_id":0}\n]\n'


def _verify_part(read: Callable[[Path], Any], path: Path) -> Any:
    from itinera.formats.parts import verify_part

    target = path.with_name("file") if path.name.endswith(".provenance.json") else path
    return verify_part(read(target))


def _model_of_transformers() -> bytes:
    from itinera.policies.checkpoint import build_model, encode_model, make_card
    from itinera.policies.hamt import HAMTConfig
    from itinera.policies.tokenizer import Tokenizer

    config = HAMTConfig(
        hidden_dim=4, num_heads=2, feedforward_dim=4, num_text_layers=1, num_cross_layers=1, num_panorama_layers=1,
        max_word_positions=4, max_step_positions=4,
    )  # fmt: skip
    return encode_model(build_model(make_card("hamt", config, ("sofa",), Tokenizer(("go",)))))


def _model_on_the_ground() -> bytes:
    from itinera.mapping.config import MapConfig
    from itinera.policies.checkpoint import build_model, encode_model, make_card
    from itinera.policies.ground.map_cma import MapCMAConfig
    from itinera.policies.ground.requirements import GroundRequirements
    from itinera.policies.tokenizer import Tokenizer

    config = MapCMAConfig(
        word_dim=4, text_dim=4, hidden_dim=4, key_dim=4, visual_dim=4, depth_dim=4, action_dim=2, cell_dim=2,
        depth_encoder="small", depth_channels=4, depth_size=16, map_encoder="bag", map_channels=6,
    )  # fmt: skip
    ground = GroundRequirements(64, 64, map=MapConfig())
    return encode_model(build_model(make_card("map-cma", config, (), Tokenizer(("go",)), ground=ground)))


def _checkpoint() -> bytes:
    import torch

    from itinera.policies.checkpoint import read_model
    from itinera.training.trainer import save_checkpoint

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "model").write_bytes(_model())
        model = read_model(Path(folder) / "model").model
        optimizer = torch.optim.AdamW(model.policy.parameters())
        sum(parameter.sum() for parameter in model.policy.parameters()).backward()
        optimizer.step()
        save_checkpoint(Path(folder) / "file", "plan", 1, model, optimizer, torch.Generator())
        return (Path(folder) / "file").read_bytes()


def _features(name: str) -> bytes:
    from itinera.formats.features import write_features

    rows = [("house", node, np.full((36, 2), 0.5, dtype=np.float32)) for node in "ab"]
    return _written(lambda path: write_features(path, rows), name)


def _read_features(function: Callable[..., Any], path: Path) -> Any:
    from itinera.errors import BadFile

    features = function(path)
    for node in "ab":
        try:
            features.at("house", node)
        except BadFile:
            continue


def _image(kind: str, mode: str = "L") -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.new(mode, (7, 5)).save(stream, kind)
    return stream.getvalue()


def _images() -> list[bytes]:
    kinds = [("PNG", "L"), ("PNG", "RGBA"), ("PNG", "P"), ("PNG", "I;16"), ("BMP", "RGB"), ("JPEG", "L")]
    return [b"P5\n3 2\n255\n" + bytes(range(6)), b"P2\n# a\n3 2\n255\n0 1 2\n3 4 255\n", *(_image(*k) for k in kinds)]


def _scene(name: str) -> bytes:
    from itinera.formats.scenes import write_scene
    from itinera.worlds.mesh import Mesh

    corners = np.array([(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)], dtype=np.float64)
    faces = np.array([(0, 1, 2), (0, 2, 3)])
    labels = np.array([2, 2]), np.array([1, 1])
    mesh = Mesh(corners, faces, *labels, np.full((2, 3), 90, dtype=np.uint8))
    return _written(lambda path: write_scene(path, mesh), name)


def _textured_scene() -> bytes:
    import trimesh
    from PIL import Image

    flat = trimesh.Trimesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], process=False)
    flat.visual = trimesh.visual.TextureVisuals(uv=np.array([(0.0, 0), (1, 0), (0, 1)]), image=Image.new("RGB", (4, 4)))
    return bytes(flat.export(file_type="glb"))


PLY = """ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
element face 1
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
3 0 1 2
"""


def _trace() -> bytes:
    from itinera.formats.pose_traces import PoseTrace, write_trace

    trace = PoseTrace(np.array(["a", "a", "b"]), np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.5, 1.0]))
    return _written(lambda path: write_trace(path, trace), "trace.npz")


def _house() -> bytes:
    from dataclasses import replace

    import cottage
    from itinera.formats.rooms import write_house

    return _written(lambda path: write_house(path, replace(cottage.world(), id="hut")), "hut.house")


def _descriptions() -> bytes:
    from itinera.formats.scene_descriptions import write_descriptions
    from itinera.hearth.language.scene_description import (
        DescribedCandidate,
        DescribedDoor,
        DescribedObject,
        SceneDescription,
    )

    described = SceneDescription(
        "a",
        "k",
        (DescribedObject("sofa", "red", "", 1.5, 0.1, 2.0, 3),),
        (DescribedCandidate("b", 0.5, 2.0, 0, "h", "door"),),
        (DescribedDoor(0.5, 1.0, "h", "white", False),),
    )
    nodes = {"a": described, "b": SceneDescription("b", "h", (), (), ())}
    return _written(lambda path: write_descriptions(path, "house", nodes), "house.json")


def _sidecar() -> bytes:
    from itinera.formats.provenance import write_sidecar
    from itinera.records.provenance import Provenance

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        file.write_bytes(b"x")
        write_sidecar(file, Provenance("0.1", ("itinera", "build"), 1, {"tasks": "x"}, {"tasks": "ab"}))
        return (Path(folder) / "file.provenance.json").read_bytes()


def _in_zip(name: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(*ARCHIVED[name])
    return stream.getvalue()


def _in_tar(name: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        entry = tarfile.TarInfo(ARCHIVED[name][0])
        entry.size = len(ARCHIVED[name][1])
        archive.addfile(entry, io.BytesIO(ARCHIVED[name][1]))
    return stream.getvalue()


FRAMES = "data/chunk-000/episode_000000.parquet"


@cache
def _dataset() -> dict[str, bytes]:
    """The files of a LeRobot dataset that is read, by name."""
    from itinera.formats.lerobot import write_predictions
    from itinera.records import Predictions, Trajectory

    places = np.array([[0.0, 0.0, 0.0], [0.25, 0.0, 0.0], [0.5, 0.1, 0.0]])
    one = Trajectory("4", places, headings=np.zeros(3), times=np.arange(3.0))
    with tempfile.TemporaryDirectory() as folder:
        write_predictions(folder, Predictions.from_trajectories("", [one]))
        return {name: (Path(folder) / name).read_bytes() for name in ("meta/info.json", "meta/episodes.jsonl", FRAMES)}


def _beside(name: str) -> dict[str, Callable[[], bytes]]:
    """The other files of the dataset."""
    names = {"meta/info.json", "meta/episodes.jsonl", FRAMES} - {name}
    return {f"folder/{other}": lambda other=other: _dataset()[other] for other in sorted(names)}  # type: ignore[misc]


def _archived(function: str, name: str, mutate: Mutate) -> list[Reader]:
    """A reader of folders and archives, fuzzed by a file in a folder, by a .zip and by a .tar."""
    return [
        _plain(function, lambda: [ARCHIVED[name][1]], mutate, file_name=f"folder/{ARCHIVED[name][0]}"),
        _plain(function, lambda: [_in_zip(name)], mutation.inside_zip(mutate), variant="zip", file_name="file.zip"),
        _plain(function, lambda: [_in_tar(name)], mutation.inside_tar(mutate), variant="tar", file_name="file.tar"),
    ]


SEASON = json.dumps({
    "itinera": "season",
    "config": {"seed": 1, "name": "1"},
    "houses": {"val_unseen": ["hearth-1-001"], "train": []},
    "splits": {"val_unseen": {"houses": 1, "paths": 2}},
    "files": {"rooms.csv": "ab" * 16, "connectivity/scans.txt": "cd" * 16},
})  # fmt: skip
BEHAVE = json.dumps([{
    "instr_id": "1_0", "trajectory": [["a", 0.0, 0.0], ["b", 0.0, 0.0]], "final_logits": [[0.25, 0.25, 0.5, 0.0]],
    "candidates": [["b", [{"viewpointId": "a", "heading": 0.1, "normalized_heading": 0.2},
                          {"viewpointId": "c", "heading": 0.1}]]],
    "heading": [0.5], "viewIndex": [12], "stop_prob": [0.5],
}])  # fmt: skip
MAP = (
    "image: map.pgm\nresolution: 0.05\norigin: [0.0, -1.5, 0.1]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n"
)


def _read_rows(read: Callable[..., Any], path: Path) -> Any:
    """The rows of a file; what cannot be read, which is collected file by file, is raised."""
    found = read([path])
    if found.unreadable:
        raise BadFile("rows", found.unreadable)
    return found


METRIC_ROWS = (
    '{"217": {"success": 1.0, "spl": 0.5, "distance_to_goal": NaN}, "218": {"success": 0, "ndtw": Infinity}}',
    '{"episode_id": 1, "success": 1, "os": 1, "ne": 2.5}\n{"episode_id": 2, "success": 0, "note": "x"}\n',
    '[{"instr_id": "4332_1", "success": true, "collisions": null}]',
)
REPORTS = (
    json.dumps({"agents": {"rcm": {"stop": {"verdicts": ["yes"], "score": {"mean": 0.5, "low": 0.1, "high": 0.9}}}}}),
    json.dumps(
        [{"name": "r", "coverage": {"tour": {"0.5": [{"episodes_done": 1, "mean": 0.5, "low": 0, "high": 1}]}}}]
    ),
)
REPLAY = '<html><script type="application/json" id="replay">{}</script></html>'.format(
    json.dumps({"agents": ["a"], "tour": "", "scenes": [{"id": "s"}], "episodes": [{"id": "1_0", "scene": 0}]})
)
CHALLENGE = 'name = "May"\ntasks = "tasks.json"\nworlds = "."\nprotocol = "r2r"\nvmax = 0.5\nmissing = "zero"\n'
HOSTED = (
    CHALLENGE
    + '[phases.test]\nshots = 3\nopens = 2026-05-01T00:00:00Z\nshow = "rows"\n[phases.dev]\nshots_per_day = 1\n'
    + '[phases.live]\nkind = "live"\nstep_seconds = 60\ncamera = "64x64"\nchannels = "rgb"\nframes = 1000\n'
)
LIVE_LOG = (
    '{"itinera":"live session","phase":"test","secret":"' + "ab" * 16 + '"}\n'
    '{"tour":0,"answers":[1,2,0],"reasons":{}}\n{"tour":3,"answers":[1,-1,-2,-3],"reasons":{"1":"lost"}}\n'
)
RECIPE = 'policy = "rcm"\ntasks = "a.json"\nworlds = "."\nsteps = 20\nlearning_rate = 1e-3\n[config]\nhidden_dim = 8\n'
CATEGORIES = "index\traw_category\tcount\tmpcat40\n1\twall\t3\twall\n2\tsofa bed\t3\tsofa\n"
REGIONS = "0 a 0 k\n1 b 1 h\n2 c -1 -\n"


def _log() -> list[Any]:
    from datetime import UTC, datetime

    from itinera.formats.event_log import next_event

    log: list[Any] = []
    for kind, about in (("season", {"name": "May", "commitment": "ab" * 32}), ("entry", {"entry": "1"})):
        at = datetime(2026, 11, 19, tzinfo=UTC)
        log.append(next_event(log[-1] if log else None, kind, about, at=at, by="host"))
    return log


def _log_file() -> bytes:
    from itinera.formats.event_log import encode_events

    return encode_events(_log())


def _board_archive() -> bytes:
    from itinera.formats.board_archive import make_archive

    return make_archive("May", {"index.html": b"<!doctype html>"}, _log())


def _trials(path: Path) -> Any:
    from itinera.formats.trials import read_trials

    study = path.parent / "study.jsonl"
    records = ({"itinera": "trials"}, TRIAL | {"id": "1_0"})
    study.write_text("".join(json.dumps(record) + "\n" for record in records))
    return read_trials(study).trials


def _split(path: Path) -> Any:
    from itinera.tasks import Split

    return Split("val_unseen", ())


def _protocol() -> Any:
    from itinera.tasks import PROTOCOLS

    return PROTOCOLS["r2r-ce"]


def _json_readers() -> list[Reader]:
    table = {
        "formats.action_probabilities.read_action_probabilities": "action-probabilities",
        "formats.fastest_times.read_times": "times",
        "formats.fgr2r.read_split": "fgr2r",
        "formats.graphs.read_worlds": "graphs",
        "formats.ivln.read_all_references": "ivln-ce-targets",
        "formats.ivln.read_all_tours": "ivln-tours",
        "formats.ivln.read_predictions": "ivln-ce-predictions",
        "formats.ivln.read_references": "ivln-ce-targets",
        "formats.ivln.read_tours": "ivln-tours",
        "formats.native.read_header": "native-tasks",
        "formats.map_recordings.read_map_recordings": "map-recordings",
        "formats.native_predictions.read_predictions": "native-predictions",
        "formats.native_tasks.read_split": "native-tasks",
        "formats.ndh.read_split": "ndh",
        "formats.omninavbench.read_predictions": "omninavbench",
        "formats.pointnav.read_split": "pointnav",
        "formats.r2r.read_predictions": "r2r-submission",
        "formats.r2r.read_split": "r2r",
        "formats.reverie.read_split": "reverie",
        "formats.rxr.read_followers": "rxr-followers",
        "formats.rxr.read_predictions": "rxr-submission",
        "formats.rxr.read_split": "rxr",
        "formats.soon.read_predictions": "soon-submission",
        "formats.soon.read_split": "soon",
        "formats.subsets.read_subset": "subset",
        "formats.trials.read_trials": "trials",
        "formats.vlln.read_predictions": "vlln",
        "formats.vlnce.read_dense": "vlnce-dense",
        "formats.vlnce.read_split": "vlnce",
        "formats.vlnce_predictions.read_predictions": "vlnce-submission",
        "formats.vlnce_predictions.read_rxr_predictions": "rxr-ce-submission",
    }
    return [_plain(name, _example(example), mutation.mutate_json) for name, example in table.items()]


def _tables() -> list[Reader]:
    table = {
        "formats.categories.read_categories": _texts(CATEGORIES),
        "formats.position_csv.read_predictions": _example("positions"),
        "formats.robot_logs.read_csv": _example("robot-csv"),
        "formats.robot_logs.read_tum": _example("tum"),
        "formats.rooms.read_house": lambda: [_house()],
        "formats.rooms.read_regions": _texts(REGIONS),
        "formats.rooms.read_table": _example("rooms"),
    }
    return [_plain(name, seeds, mutation.mutate_table) for name, seeds in table.items()]


def _any_format(rng: Any, data: bytes) -> bytes:
    return (mutation.mutate_json if data.lstrip()[:1] in (b"[", b"{") else mutation.mutate_table)(rng, data)


def _by_kind(kind: str) -> Callable[[], Sequence[bytes]]:
    def seeds() -> Sequence[bytes]:
        from itinera.formats.catalog import FORMATS

        return [EXAMPLES[known.name] for known in FORMATS if known.kind == kind]

    return seeds


def _catalog() -> list[Reader]:
    every = lambda: list(EXAMPLES.values())  # noqa: E731
    return [
        _plain("formats.catalog.detect", every, _any_format),
        _plain("formats.catalog.read_head", every, _any_format, call=lambda read, path: read(path).keys),
        _plain("formats.catalog.read_tasks", _by_kind("tasks"), _any_format),
        _plain("formats.catalog.read_predictions", _by_kind("predictions"), _any_format),
        _plain("formats.catalog.read_worlds", _by_kind("worlds"), _any_format),
        _plain("formats.catalog.read_tours", _by_kind("tours"), _any_format,
               call=lambda read, path: read(path, _split(path))),
        # Houses are not built: that takes seconds each, and needs nothing of the file but two numbers.
        _plain("formats.catalog.read_surfaces", _texts(SEASON), mutation.mutate_json, file_name="folder/season.json",
               call=lambda read, path: len(read(path, _protocol()) or ())),
    ]  # fmt: skip


def _others() -> list[Reader]:
    json_, table, raw = mutation.mutate_json, mutation.mutate_table, mutation.mutate_bytes
    return [
        _plain("formats.action_probabilities.read_behave", _texts(BEHAVE), json_,
               call=lambda read, path: read(path, _trials(path))),
        _plain("formats.annotations.read_aligned_tasks", lambda: [EXAMPLES["fgr2r"], EXAMPLES["native-tasks"]],
               json_),
        _plain("formats.bundles.read_scores", _example("scores"), mutation.with_digest(json_)),
        _plain("formats.checksums.read_digests", _texts(SEASON), json_, file_name="folder/season.json",
               call=lambda read, path: [one.is_right() for one in read(path / "season.json")]),
        _plain("formats.checksums.read_digests", _texts(f"{'ab' * 32}  a.json\n{'cd' * 32} *b/c.json\n"), table,
               variant="SHA256SUMS", file_name="folder/SHA256SUMS",
               call=lambda read, path: [one.is_right() for one in read(path / "SHA256SUMS")]),
        _plain("formats.episode_selection.read_episode_ids", _texts("1_0\n# some\n2_1\n"), table),
        _plain("formats.episode_selection.read_episode_ids", _texts('["1_0", 3]'), json_, variant="JSON"),
        _plain("formats.episode_selection.read_episode_ids", _example("subset"), json_, variant="subset"),
        _plain("formats.features.read_features", lambda: [_features("a.tsv")], table, call=_read_features),
        _plain("formats.features.read_features", lambda: [_features("a.h5")], raw, variant="HDF5", call=_read_features),
        _plain("formats.floor_plans.read_floor_plan", _images, raw, call=lambda read, path: read(path, 0.05)),
        _plain("formats.hearth_season.season_houses", _texts(SEASON), json_, file_name="folder/season.json"),
        _plain("formats.hearth_season.read_season", _texts(SEASON), json_, file_name="folder/season.json"),
        _plain("formats.season_tasks.read_season_houses", _texts(SEASON), json_, file_name="folder/season.json"),
        _plain("formats.io.read_bytes", lambda: list(EXAMPLES.values()), raw),
        _plain("formats.map_images.read_picture", _images, raw),
        _plain("formats.pose_traces.read_trace", lambda: [_trace()], mutation.inside_zip(raw)),
        _plain("formats.provenance.read_sidecar", lambda: [_sidecar()], json_, file_name="folder/x.provenance.json",
               call=lambda read, path: read(path / "x")),
        _plain("formats.metric_rows.read_metric_rows", _texts(*METRIC_ROWS), json_, call=_read_rows),
        _plain("formats.metric_rows.read_metric_rows", _texts("episode_id,SR,NE\n1,1,0.5\n2,0,inf\n"), table,
               variant="CSV", file_name="rows.csv", call=_read_rows),
        _plain("formats.report_json.read_report_json", _texts(*REPORTS), json_),
        _plain("formats.rosmap.read_map", _texts(MAP), table, file_name="folder/map.yaml",
               others={"folder/map.pgm": lambda: _images()[0]}, call=lambda read, path: read(path / "map.yaml")),
        _plain("formats.rosmap.read_map", _images, raw, variant="image", file_name="folder/map.pgm",
               others={"folder/map.yaml": MAP.encode}, call=lambda read, path: read(path / "map.yaml")),
        _plain("formats.scene_descriptions.read_descriptions", lambda: [_descriptions()], json_,
               file_name="folder/house.json"),
        _plain("formats.scenes.read_scene", lambda: [_scene("a.glb"), _textured_scene()], mutation.mutate_glb,
               file_name="a.glb"),
        _plain("formats.scenes.read_scene", lambda: [_scene("a.obj")], table, variant="obj", file_name="a.obj"),
        _plain("formats.scenes.read_scene", _texts(PLY), table, variant="ply", file_name="a.ply"),
        _plain("formats.scenes.read_worlds", lambda: [_scene("a.obj")], table, file_name="folder/a.obj",
               call=lambda read, path: read(path, radius=0.2, height=1.5)),
        _plain("formats.scenes.read_world", lambda: [_scene("a.obj")], table, file_name="a.obj",
               call=lambda read, path: read(path, radius=0.2, height=1.5)),
        _plain("policies.checkpoint.read_model", lambda: [_model(), _model_of_transformers(), _model_on_the_ground()],
               mutation.mutate_safetensors),
        _plain("policies.checkpoint.read_card", lambda: [_model()], mutation.mutate_safetensors),
        _plain("training.trainer.read_checkpoint", lambda: [_checkpoint()], mutation.mutate_safetensors),
        _plain("formats.challenge.read_challenge", _texts(CHALLENGE), table, file_name="folder/challenge.toml",
               others={"folder/tasks.json": lambda: b"[]"}),
        _plain("formats.hosted_challenge.read_hosted_challenge", _texts(HOSTED), table,
               file_name="folder/challenge.toml"),
        _plain("formats.parts.read_part", lambda: [_part()], mutation.mutate_json, call=_verify_part),
        _plain("formats.parts.read_part", lambda: [_part_sidecar()], mutation.mutate_json, call=_verify_part,
               variant="joined paths", file_name="file.provenance.json", others={"file": lambda: _JOINED}),
        _plain("formats.live_log.read_live_log", _texts(LIVE_LOG), json_),
        _plain("formats.event_log.read_events", lambda: [_log_file()], mutation.mutate_json),
        _plain("formats.board_archive.read_archive", lambda: [_board_archive()], raw),
        _plain("formats.thinking_rates.read_rates", _texts('{"act": 0.05, "completion_tokens": 0.02}'), json_),
        _plain("formats.recipe.read_recipe", _texts(RECIPE), table, file_name="recipe.toml"),
        _plain("formats.hearth_season.read_secret", _texts("ab" * 32), raw),
        _plain("reports.replay.links.read_replay_page", _texts(REPLAY), raw,
               call=lambda read, path: read(path, "link")),
        *_archived("formats.matterport.read_worlds", "connectivity", json_),
        _plain("formats.matterport.read_scan", lambda: [ARCHIVED["connectivity"][1]], json_),
        *_archived("formats.reverie.read_objects", "bbox", json_),
        *_archived("formats.robot_logs.read_folder", "robot-logs", table),
        *_archived("formats.case_files.read_predictions", "case-files", json_),
        *_archived("formats.omninavbench.read_folder", "omninavbench-results", json_),
        _plain("formats.lerobot.read_predictions", lambda: [_dataset()["meta/info.json"]], json_,
               file_name="folder/meta/info.json", others=_beside("meta/info.json")),
        _plain("formats.lerobot.read_predictions", lambda: [_dataset()["meta/episodes.jsonl"]], json_,
               variant="episodes", file_name="folder/meta/episodes.jsonl", others=_beside("meta/episodes.jsonl")),
        _plain("formats.lerobot.read_predictions", lambda: [_dataset()[FRAMES]], raw, variant="frames",
               file_name=f"folder/{FRAMES}", others=_beside(FRAMES)),
    ]  # fmt: skip


READERS: dict[str, Reader] = {reader.name: reader for reader in (*_json_readers(), *_tables(), *_catalog(), *_others())}
