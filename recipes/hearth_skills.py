"""Skills of agents that do not learn, with their success rates, on Hearth's val-unseen houses: Table 1 of "Behavioral
Analysis of Vision-and-Language Navigation Agents" (Yang et al. 2023).

Expected: the agent `still` scores exactly 1 on stopping and 0 elsewhere, the expert 1 everywhere, and the rule-based
reader at least .25 more than any agent that ignores language on turning, objects and rooms. If interrupted, it resumes.

    python recipes/hearth_skills.py SEASON [EVERY]   # a folder of `itinera build hearth`; one path in EVERY
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import itinera as it
from itinera.formats.annotations import read_aligned_tasks
from itinera.reports.skill_findings import StudyAnalysis

AGENTS = ("reader", "expert", "still", "uniform", "random", "forward")
WITHOUT_LANGUAGE = ("still", "uniform", "random", "forward")
SKILLS = ("stop", "direction", "object", "room-1", "room-3")
GUIDE = "rxr/rxr_val_unseen_guide.jsonl.gz"
TASKS = "r2r/R2R_val_unseen.json"
MARGIN = 0.25


def analyze_agents(season: Path, every: int, out: Path) -> StudyAnalysis:
    """The skills of all agents in one of `every` paths of val-unseen, and their success on all of it."""
    out.mkdir(parents=True, exist_ok=True)
    split = read_aligned_tasks(season / GUIDE)
    sample = replace(split, episodes=tuple(e for e in split.episodes if int(e.path_id) % every == 0))
    trials = out / "trials.jsonl"
    it.design_study(SKILLS, sample, season, out=trials)
    responses, scores = {}, []
    for agent in AGENTS:
        responses[agent] = it.run_study(agent, trials, season, out=out / f"{agent}-probabilities.jsonl")
        predictions = it.run(agent, season / TASKS, season, out=out / f"{agent}-predictions.jsonl")
        scores.append(it.score(predictions, season / TASKS, season, out=out / f"{agent}-scores.jsonl"))
    return it.analyze_study(trials, responses, scores=scores, figures=out / "figures")


def find_failures(analysis: StudyAnalysis) -> list[str]:
    """The expectations that do not hold."""
    means = {row.agent: {name: score.mean for name, score in row.scores.items()} for row in analysis.rows}
    skills = ("turn", "object", "room")
    failures = [f"The expert's {name} is {means['expert'][name]}." for name in skills if means["expert"][name] != 1]
    failures += [f"{name} of still is {means['still'][name]}." for name in skills if means["still"][name] != 0]
    if means["still"]["stop"] != 1:
        failures.append(f"stop of still is {means['still']['stop']}.")
    for name in skills:
        best = max(means[agent][name] for agent in WITHOUT_LANGUAGE)
        if means["reader"][name] < best + MARGIN:
            failures.append(f"The reader's {name} is {means['reader'][name]}; without language {best} is reached.")
    return failures


def main() -> None:
    """Print the verdicts and the table; raise SystemExit if an expectation does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("season", type=Path, help="a folder of `itinera build hearth`")
    parser.add_argument("every", type=int, nargs="?", default=1, help="use one path in EVERY (default: all)")
    given = parser.parse_args()
    analysis = analyze_agents(given.season, given.every, given.season.parent / f"{given.season.name}-skills")
    print(analysis)
    failures = find_failures(analysis)
    if failures:
        raise SystemExit("\n".join(failures))


if __name__ == "__main__":
    main()
