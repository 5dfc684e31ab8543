"""Options that several verbs share, declared once."""

from __future__ import annotations

from glob import glob
from pathlib import Path
from typing import Annotated

import typer

from itinera.errors import BadArgument

Json = Annotated[bool, typer.Option("--json", help="Print JSON: fractions, meters and seconds, full precision.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print the table as CSV.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")]
Latex = Annotated[bool, typer.Option("--latex", help="Print the table as a LaTeX tabular.")]
PredictionsFile = Annotated[
    Path, typer.Argument(help="Predictions file, in any format that `itinera convert --list` names.")
]
Tasks = Annotated[Path, typer.Option("--tasks", help="Tasks file: R2R, R4R, RxR, REVERIE, NDH, SOON, VLN-CE, native.")]
OptionalTasks = Annotated[
    Path | None, typer.Option("--tasks", help="Tasks file: R2R, R4R, RxR, REVERIE, NDH, SOON, VLN-CE, native.")
]
Worlds = Annotated[
    Path | None,
    typer.Option(
        "--worlds",
        help="Connectivity folder or archive; for continuous tasks a folder of scenes or a Hearth season, if any.",
    ),
]
Tours = Annotated[Path | None, typer.Option("--tours", help="Tours file of IVLN, to score tours.")]
Dense = Annotated[
    Path | None, typer.Option("--reference", help="Dense reference paths (VLN-CE's *_gt.json.gz) instead of waypoints.")
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help="Format of the file. Default: recognized by content.", autocompletion=lambda: formats()
    ),
]
Episode = Annotated[
    str | None, typer.Option("--episode", help="Episode id of a robot log. Default: the name of its file.")
]
Episodes = Annotated[
    list[str] | None,
    typer.Option(
        "--episodes",
        metavar="IDS|FILE|scan=NAME|/REGEX/",
        help="Part of the split: ids with commas, a file of ids, scan=NAME or /regex/. May be repeated.",
    ),
]
AnsweredEpisodes = Annotated[
    list[str] | None,
    typer.Option(
        "--episodes",
        metavar="IDS|FILE|scan=NAME|/REGEX/|answered",
        help="Score a part of the split: ids with commas, a file of ids, scan=NAME, /regex/, or answered for the "
        "episodes with a trajectory. May be repeated. The result says how many of how many.",
    ),
]
ProtocolName = Annotated[
    str | None,
    typer.Option("--protocol", help="Protocol to apply. Default: that of the tasks, never that of the predictions."),
]
Out = Annotated[Path, typer.Option("--out", help="The file to write.")]
OptionalOut = Annotated[Path | None, typer.Option("--out", help="The file to write.")]
Seed = Annotated[int, typer.Option(help="Random seed.", min=0)]
Missing = Annotated[
    str, typer.Option(help="fail: every episode needs a trajectory; zero: episodes without one count as failures.")
]
Repeats = Annotated[str, typer.Option(help="keep or drop places equal to the previous place, such as turns in place.")]
Implausible = Annotated[
    str,
    typer.Option(
        help="fail: refuse trajectories that the protocol's body cannot have made; keep: score them as they are."
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Start anew instead of resuming or keeping the file.")]
Workers = Annotated[
    int | None,
    typer.Option(help="Number of worker processes (0: in this process). Default: one per core."),
]
Shard = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="K/N",
        help="Do one of N equal parts, such as 3/16, and write it beside OUT: NAME.3-of-16.jsonl. See itinera gather.",
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What runs the workers: processes of this machine, ray (started here), ray://HOST:PORT or slurm; see "
        "docs/clusters.md.",
    ),
]
Agent = Annotated[
    str | None,
    typer.Option(
        "--agent",
        help="Name of an agent, model file (NAME.safetensors), module:Class (the current folder is searched first), "
        "HOST:PORT of an agent that listens on this machine, openai:MODEL, or the URL of a policy server.",
        autocompletion=lambda: agents(),
    ),
]
AgentCommand = Annotated[
    str | None,
    typer.Option("--agent-command", help="Command that starts an agent in any language; it speaks JSON lines."),
]
AgentOption = Annotated[
    list[str] | None,
    typer.Option(
        "--agent-option",
        metavar="NAME=VALUE",
        help="Keyword argument of the agent's class, or option of a language model; numbers and booleans as in JSON. "
        "May be repeated.",
    ),
]
AgentFile = Annotated[
    list[Path] | None,
    typer.Option("--agent-file", help="File or folder of the agent, such as its weights. May be repeated."),
]
PolicyClass = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="MODULE:CLASS",
        help="Class of a model file (--agent) that was trained with a policy of yours. Its module is imported.",
    ),
]
Isolate = Annotated[
    bool,
    typer.Option("--isolate", help="Run the agent in a process that cannot read the tasks, without privileges."),
]
ReplySeconds = Annotated[
    float | None,
    typer.Option(help="Time limit for one reply of an agent in another process, seconds. Default: 60."),
]
_LANGUAGE_MODELS = "Language models"
BaseUrl = Annotated[
    str | None,
    typer.Option(
        help="Server of a language model (--agent openai:MODEL), such as http://localhost:8000/v1. The key is read "
        "from the environment variable OPENAI_API_KEY.",
        rich_help_panel=_LANGUAGE_MODELS,
    ),
]
_PROMPTS = ("choices", "words", "pixel")
Prompt = Annotated[
    str | None,
    typer.Option(
        help="How the model is asked: choices (where there are candidates), words (move forward 75 cm) or pixel. "
        "Default: choices, or words on the ground.",
        autocompletion=lambda: list(_PROMPTS),
        rich_help_panel=_LANGUAGE_MODELS,
    ),
]
Price = Annotated[
    str | None,
    typer.Option(
        metavar="INPUT,OUTPUT",
        help="Price of the tokens of prompts and answers, US dollars per million, such as 2.5,10.",
        rich_help_panel=_LANGUAGE_MODELS,
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(help="Stop before the run costs more US dollars than this.", rich_help_panel=_LANGUAGE_MODELS),
]
Answers = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the model's answers; those in it are used again. Default: itinera-answers.",
        rich_help_panel=_LANGUAGE_MODELS,
    ),
]
_ON_GRAPHS = "Observations on graphs"
_ON_GROUND = "Observations on the ground"
Views = Annotated[
    str | None,
    typer.Option(
        help="View features: annotations (objects and rooms), rendered (from meshes), or a file (TSV or HDF5).",
        rich_help_panel=_ON_GRAPHS,
        autocompletion=lambda: ["annotations", "rendered"],
    ),
]
ViewObjects = Annotated[
    Path | None,
    typer.Option(
        "--objects",
        help="For --views annotations: REVERIE's BBox folder or archive. Default: that of the Hearth season.",
        rich_help_panel=_ON_GRAPHS,
    ),
]
ViewRooms = Annotated[
    Path | None,
    typer.Option(
        "--rooms",
        help="For --views annotations: CSV table of rooms. Default: that of the Hearth season.",
        rich_help_panel=_ON_GRAPHS,
    ),
]
TargetObjects = Annotated[
    Path | None,
    typer.Option(
        "--objects",
        help="REVERIE's BBox folder or archive, which decides on its success. Default: that of the Hearth season.",
    ),
]
Camera = Annotated[
    str | None, typer.Option(help="Camera of WIDTHxHEIGHT pixels, such as 64x64.", rich_help_panel=_ON_GROUND)
]
Channels = Annotated[
    str | None,
    typer.Option(
        help="Camera channels, with commas: rgb, depth, classes, instances. Default: rgb,depth.",
        rich_help_panel=_ON_GROUND,
    ),
]
Fov = Annotated[
    float | None,
    typer.Option(help="Horizontal field of view of the camera, degrees. Default: 90.", rich_help_panel=_ON_GROUND),
]
CameraHeight = Annotated[
    float | None,
    typer.Option(help="Height of the camera above the floor, meters. Default: 1.25.", rich_help_panel=_ON_GROUND),
]
Panorama = Annotated[
    bool, typer.Option("--panorama", help="Render all 36 views, not only the one ahead.", rich_help_panel=_ON_GROUND)
]
Appearance = Annotated[
    str | None,
    typer.Option(
        help="Appearance of camera images and rendered views: flat (the default), day, evening or lamps; day:7 "
        "randomizes it by a seed.",
        autocompletion=lambda: ["flat", "day", "evening", "lamps"],
        rich_help_panel=_ON_GROUND,
    ),
]
MapLifetime = Annotated[
    str | None,
    typer.Option(
        help="How long a trained agent keeps its map: episodic, iterative or known. Default: as in its training.",
        autocompletion=lambda: ["episodic", "iterative", "known"],
        rich_help_panel=_ON_GROUND,
    ),
]
Semantics = Annotated[
    str | None,
    typer.Option(
        help="Labels of a trained agent's map: true, inferred or a segmentation model. Default: as in its training.",
        autocompletion=lambda: ["true", "inferred"],
        rich_help_panel=_ON_GROUND,
    ),
]
_WAYPOINTS = ("graph", "surface", "depth")
_DRIVERS = ("follower", "straight")
_STOPS = ("waypoint", "between")
_ON_WAYPOINTS = "Waypoints on the ground"
Waypoints = Annotated[
    str | None,
    typer.Option(
        help="Let the agent choose among waypoints, as on graphs: graph (a season's viewpoints), surface (straight "
        "ways of a wide robot) or depth (straight ways in a depth panorama). --views: annotations or inferred.",
        autocompletion=lambda: list(_WAYPOINTS),
        rich_help_panel=_ON_WAYPOINTS,
    ),
]
Driver = Annotated[
    str | None,
    typer.Option(
        help="How the body gets to a waypoint: follower (knows the surface; the default) or straight (odometry only).",
        autocompletion=lambda: list(_DRIVERS),
        rich_help_panel=_ON_WAYPOINTS,
    ),
]
Stops = Annotated[
    str | None,
    typer.Option(
        help="Where the body stops: at a waypoint (the default), or between waypoints, where the agent's action "
        "probabilities lead on.",
        autocompletion=lambda: list(_STOPS),
        rich_help_panel=_ON_WAYPOINTS,
    ),
]
_DRIVES = ("point-turn", "unicycle-6", "unicycle-15")
_DRIVING = "Drive on the ground"
_THINKING = "Thinking time"
Drive = Annotated[
    str | None,
    typer.Option(
        help=f"Hold speeds for a second each instead of taking steps: {', '.join(_DRIVES)}.",
        autocompletion=lambda: list(_DRIVES),
        rich_help_panel=_DRIVING,
    ),
]
DriveVmax = Annotated[
    float | None,
    typer.Option(
        "--vmax",
        help="Highest speed of the drive, m/s. Default: the protocol's step per second.",
        rich_help_panel=_DRIVING,
    ),
]
DriveWmax = Annotated[
    float | None,
    typer.Option(
        "--wmax",
        help="Highest turning speed of the drive, degrees/s. Default: the protocol's turn per second.",
        rich_help_panel=_DRIVING,
    ),
]
Clock = Annotated[
    str | None,
    typer.Option(
        metavar="wall|fixed:SECONDS|table:FILE",
        help="How long the agent thinks before each action: measured, fixed, or by reported usage. Default: no time.",
        rich_help_panel=_THINKING,
    ),
]
Overlap = Annotated[
    bool,
    typer.Option(
        "--overlap",
        help="With --clock and --drive: the robot goes on with its last action while the agent thinks.",
        rich_help_panel=_THINKING,
    ),
]
_DYNAMICS = ("unicycle", "point-turn", "holonomic")
_ROBOT = "Robot"
RobotDynamics = Annotated[
    str,
    typer.Option(
        "--dynamics",
        help=f"Dynamics of the robot: {', '.join(_DYNAMICS)}.",
        autocompletion=lambda: list(_DYNAMICS),
        rich_help_panel=_ROBOT,
    ),
]
RobotVmax = Annotated[float, typer.Option("--vmax", help="Maximum speed, m/s.", rich_help_panel=_ROBOT)]
RobotWmax = Annotated[
    float, typer.Option("--wmax", help="Maximum turning speed, degrees per second.", rich_help_panel=_ROBOT)
]
RobotRadius = Annotated[float, typer.Option("--radius", help="Radius of the robot, meters.", rich_help_panel=_ROBOT)]
RobotReverse = Annotated[
    bool, typer.Option("--reverse", help="Let a unicycle drive backwards.", rich_help_panel=_ROBOT)
]
GoalRadius = Annotated[
    float, typer.Option(help="Distance from the goal within which the robot has arrived, meters (0: the point itself).")
]
ChallengeFolder = Annotated[Path, typer.Argument(help="Folder of the challenge, with its challenge.toml.")]
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="ITINERA_DATABASE",
        help="postgresql://… of the server. Default: a SQLite file in the folder.",
    ),
]
Token = Annotated[str, typer.Option("--token", envvar="ITINERA_TOKEN", help="Token; better in the environment.")]


Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        "--runs",
        metavar="NAME=FILE",
        help="A file under a name of your choice. Several files of one name, given one by one or as a pattern such as "
        "'NAME=seed*.jsonl', are runs of one system.",
    ),
]
Metrics = Annotated[
    str | None, typer.Option("--metrics", metavar="SR,SPL,…", help="Metrics to show, in this order. Default: all.")
]


def named_files(files: list[Path] | None, names: list[str] | None) -> list[Path] | dict[str, list[Path]]:
    """The files of a command: a list without names, else the files by name, those without one by their stem."""
    if not names:
        return files or []
    named: dict[str, list[Path]] = {}
    for path in files or []:
        if named.setdefault(path.name.split(".")[0], [path]) != [path]:
            raise BadArgument(f"Two files are called {path.name.split('.')[0]}. Name them: --name NAME={path}.")
    for text in names:
        name, sign, pattern = text.partition("=")
        if not name or not sign or not pattern:
            raise BadArgument(f"--name {text!r} must be NAME=FILE, such as --name baseline=scores/run1.jsonl.")
        named.setdefault(name, []).extend(expand_pattern(pattern))
    return named


def single_files(files: list[Path] | None, names: list[str] | None) -> list[Path] | dict[str, Path]:
    """As `named_files`, for commands that take one file of each name."""
    named = named_files(files, names)
    if isinstance(named, list):
        if not named:
            raise BadArgument("Give a file, or several as --name NAME=FILE.")
        return named
    for name, paths in named.items():
        if len(paths) > 1:
            raise BadArgument(f"--name {name} has {len(paths)} files; this command takes one of each name.")
    return {name: path for name, (path, *_) in named.items()}


def expand_pattern(pattern: str) -> list[Path]:
    """The file of this name, or those that match it as a pattern, sorted."""
    if Path(pattern).exists() or not set(pattern) & set("*?["):
        return [Path(pattern)]
    found = sorted(Path(one) for one in glob(pattern))
    if not found:
        raise BadArgument(f"No file matches {pattern}.")
    return found


def metrics_list(metrics: str | None) -> list[str] | None:
    """The names of metrics separated by commas; None if the option was not given."""
    return None if metrics is None else [name.strip() for name in metrics.split(",") if name.strip()]


def selection(episodes: list[str] | None) -> str | list[str] | None:
    """The part of a split as the functions of `itinera` take it; None if the option was not given."""
    return episodes[0] if episodes and len(episodes) == 1 else episodes or None


def written_file(out: Path, shard: str | None) -> Path:
    """The file that a command writes: `out`, or that of its shard."""
    from itinera.records.shards import parse_shard, part_path

    return part_path(out, parse_shard(shard))


def suites() -> list[str]:
    """The names of the suites, for a shell to complete."""
    from itinera.metrics.suites import SUITES

    return list(SUITES)


def formats() -> list[str]:
    """The names of the formats, for a shell to complete."""
    from itinera.formats.catalog import BY_NAME

    return list(BY_NAME)


def agents() -> list[str]:
    """The names of the agents, for a shell to complete."""
    from itinera.runs.config import agent_names

    return list(agent_names())
