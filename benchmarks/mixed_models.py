"""CPU time of the statistics of skill studies, and its ratio to R's lme4 in the same run, if installed.

The study is the "large" one of `tests/golden/lme4.py`: 16,500 rows of 11 scenes and 1,650 trajectories. Ours is the
whole `fit_mixed`, degrees of freedom and robust interval included, from label arrays; lme4's is `lmer` alone.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests")]

from golden.lme4 import FORMULAS, MADE, draw  # noqa: E402
from itinera.stats import fit_mixed, likelihood_ratio, paired_effect  # noqa: E402
from timing import cpu  # noqa: E402

MODELS = ("default", "fm2", "fm3")
REPEATS = 3
PROGRAM = """
suppressMessages(library(lme4))
given <- commandArgs(TRUE)
table <- read.csv(given[1]); for (k in c("scene", "path", "step")) table[[k]] <- factor(table[[k]])
for (random in given[-(1:2)]) {
  formula <- as.formula(paste("y ~ x +", random))
  took <- replicate(as.integer(given[2]), sum(system.time(lmer(formula, table))[1:2]))
  cat(min(took), "\\n")
}
"""


def lme4_seconds(columns: dict[str, NDArray[np.float64]]) -> list[float] | None:
    """CPU seconds of lmer for each model, the minimum of several runs; None if R or lme4 is missing."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.csv")
        np.savetxt(table, np.column_stack(list(columns.values())), delimiter=",", header=",".join(columns), comments="")
        formulas = [FORMULAS[name] for name in MODELS]
        command = ["Rscript", "-e", PROGRAM, str(table), str(REPEATS), *formulas]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [float(line) for line in done.stdout.split()] if done.returncode == 0 else None


def main() -> None:
    columns = draw(next(made for made in MADE if made.name == "large"))
    y, x = columns["y"], columns["x"]
    labels = {"scenes": columns["scene"], "trajectories": columns["path"], "episodes": columns["step"]}
    theirs = lme4_seconds(columns)
    if theirs is None:
        print("R with lme4 is not installed (Debian: r-cran-lme4), so there is no ratio to it.")
    print(f"{len(y)} rows, CPU seconds, minimum of {REPEATS}")
    for index, model in enumerate(MODELS):
        ours = cpu(lambda model=model: fit_mixed(y, x, **labels, model=model), REPEATS)
        ratio = "" if theirs is None else f"   lme4 {theirs[index]:.3f} s   ours / lme4 {ours / theirs[index]:.3f}"
        print(f"{model:8s} fit {ours:.4f} s{ratio}", flush=True)
    took = cpu(lambda: likelihood_ratio(y, x, **labels), REPEATS)
    print(f"default  likelihood-ratio test {took:.4f} s")
    intervened, controls = y[x == 1], y[x == 0]
    levels = [columns[name][x == 1] for name in ("scene", "path")]
    for resample in ("scenes", "every level"):
        rng = np.random.default_rng(0)
        took = cpu(
            lambda resample=resample, rng=rng: paired_effect(
                intervened, controls, levels=levels, rng=rng, resample=resample, resamples=1000
            ),
            REPEATS,
        )
        print(f"1000 resamples of {resample}: {took:.4f} s")


if __name__ == "__main__":
    main()
