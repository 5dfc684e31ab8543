"""Which skills have agents without learning? Table 1 of "Behavioral Analysis of Vision-and-Language Navigation Agents"
(Yang et al. 2023) on Hearth's val-unseen houses, with each agent's success beside its skills.

Every row is `itinera study run`, `itinera run` and `itinera score`, as anybody would type them. Expected: who stands
still scores exactly 1 on stopping and 0 elsewhere, the expert 1 everywhere, and the reader at least .25 more than any
that does not listen on turning, objects and rooms.

    python recipes/hearth_skills.py SEASON [EVERY]   # a folder that `itinera build hearth` made; one path in EVERY
"""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

AGENTS = ("reader", "expert", "still", "uniform", "random", "forward")
DEAF = ("still", "uniform", "random", "forward")
SKILLS = ("stop", "direction", "object", "room-1", "room-3")
GUIDE = "rxr/rxr_val_unseen_guide.jsonl.gz"


def itinera(*command: object) -> str:
    """What a command prints."""
    words = [str(word) for word in command]
    done = subprocess.run([sys.executable, "-m", "itinera.cli.main", *words], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"itinera {' '.join(words)} ended with {done.returncode}.")
    return done.stdout


def some(season: Path, every: int, out: Path) -> Path:
    """A guide file with one path in so many of the season's, all of its instructions, from all of its houses."""
    file = out / Path(GUIDE).name
    lines = gzip.decompress((season / GUIDE).read_bytes()).splitlines(keepends=True)
    kept = [line for line in lines if msgspec.json.decode(line)["path_id"] % every == 0]
    file.write_bytes(gzip.compress(b"".join(kept), mtime=0))
    return file


def designed(season: Path, every: int, trials: Path, skills: Sequence[str] = SKILLS) -> None:
    """Write the trials of a study on one path in so many."""
    trials.parent.mkdir(parents=True, exist_ok=True)
    guide, traces = some(season, every, trials.parent), next((season / "rxr" / "pose_traces").glob("*val_unseen*"))
    itinera("study", "design", *skills, "--tasks", guide, "--alignment", traces, "--worlds", season, "--out", trials)


def asked(name: str, trials: Path, season: Path, out: Path, *, agent: str = "") -> tuple[Path, Path]:
    """What an agent leans to, and the scores of its own walks; `agent` is who it is, if its name does not tell."""
    agent = agent or name
    leanings, walks, scores = (out / f"{name}-{what}.jsonl" for what in ("leanings", "walks", "scores"))
    tasks = ("--tasks", season / "r2r" / "R2R_val_unseen.json", "--worlds", season)
    itinera("study", "run", "--agent", agent, "--trials", trials, "--worlds", season, "--out", leanings, "--restart")
    itinera("run", "--agent", agent, *tasks, "--out", walks, "--restart")
    itinera("score", walks, *tasks[:2], "--worlds", season / "connectivity", "--out", scores)
    return leanings, scores


def wrongs(table: dict[str, Any]) -> list[str]:
    """What did not come out as expected."""
    means = {agent: {name: found["mean"] for name, found in row.items() if found} for agent, row in table.items()}
    skills = ("turn", "object", "room")
    told = [f"the expert's {name} is {means['expert'][name]}." for name in skills if means["expert"][name] != 1]
    told += [f"still's {name} is {means['still'][name]}." for name in skills if means["still"][name] != 0]
    if means["still"]["stop"] != 1:
        told.append(f"still's stop is {means['still']['stop']}.")
    for name in skills:
        best = max(means[agent][name] for agent in DEAF)
        if means["reader"][name] < best + 0.25:
            told.append(f"the reader's {name} is {means['reader'][name]}, {best} that of one who does not listen.")
    return told


def main() -> None:
    season, every = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    out = season.parent / f"{season.name}-skills"
    trials = out / "trials.jsonl"
    designed(season, every, trials)
    files = [asked(agent, trials, season, out) for agent in AGENTS]
    scores = [word for _, bundle in files for word in ("--scores", bundle)]
    analysed = ("study", "analyse", trials, *(leanings for leanings, _ in files), *scores)
    print(itinera(*analysed, "--figures", out / "figures"))
    told = wrongs(msgspec.json.decode(itinera(*analysed, "--json"))["table"])
    if told:
        raise SystemExit("\n".join(told))


if __name__ == "__main__":
    main()
