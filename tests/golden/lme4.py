"""Writes what R's lme4 and lmerTest make of made-up studies; `tests/stats/test_mixed.py` reads it.

`lme4.json` has studies as they come, `lme4_small_residual.json` studies whose residual is small beside the variation
between scenes.

The studies are drawn from seeds and rounded, so the file holds R's numbers only. Needs R with lme4, lmerTest and
jsonlite (Debian: r-cran-lme4 r-cran-lmertest r-cran-jsonlite); the tests do not.

    cd tests && python -m golden.lme4     (then read the diff)
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_name("lme4.json")
SMALL_RESIDUAL_FILE = Path(__file__).with_name("lme4_small_residual.json")
ABOUT = (
    "Fits by R's lme4 and lmerTest of the studies that tests/golden/lme4.py draws from its seeds and writes as a table "
    "of y, x, scene, path, step; written by that file, which holds the R program. Each model is fitted by lme4::lmer "
    "with the optimisers nloptwrap (tolerances 1e-10) and bobyqa, of which the higher likelihood counts, because "
    "either may stay on a bound. 'reml' and 'ml' are log-likelihoods; 'chisq' and 'chisq_p' are anova(without x, with "
    "x) of the fits by maximum likelihood; 'df' and 'p' are lmerTest's; 'sd' are standard deviations in the order of "
    "VarCorr. In fm3 lme4 has two intercepts by path, of which only the summed variance means anything, so 'sd' is "
    "left out."
)
FORMULAS = {
    "default": "(x | scene) + (1 | scene:path)",
    "fm1": "(1 | scene:path:step)",
    "fm2": "(x | scene) + (1 | scene:path:step)",
    "fm3": "(x | scene:path) + (1 | scene:path)",
}
PROGRAM = """
suppressMessages({library(lmerTest); library(jsonlite)})
control <- function(name, options) lmerControl(
  optimizer = name, optCtrl = options, calc.derivs = FALSE, check.nobs.vs.nRE = "ignore",
  check.conv.singular = "ignore", check.conv.grad = "ignore", check.conv.hess = "ignore")
controls <- list(control("nloptwrap", list(xtol_abs = 1e-10, ftol_abs = 1e-10, maxeval = 20000)),
                 control("bobyqa", list(maxfun = 20000)))
best <- function(formula, table, REML) {
  fits <- lapply(controls, function(each) lme4::lmer(formula, table, REML = REML, control = each))
  chosen <<- controls[[which.max(sapply(fits, logLik))]]
  fits[[which.max(sapply(fits, logLik))]]
}
given <- commandArgs(TRUE)
table <- read.csv(given[1]); for (k in c("scene", "path", "step")) table[[k]] <- factor(table[[k]])
fits <- lapply(given[-(1:2)], function(random) {
  formula <- function(fixed) as.formula(paste("y ~", fixed, "+", random))
  fit <- best(formula("x"), table, TRUE)
  lines <- coef(summary(lmer(formula("x"), table, control = chosen)))
  with <- best(formula("x"), table, FALSE)
  ratio <- anova(best(formula("1"), table, FALSE), with)
  list(estimate = lines[, 1], error = lines[, 2], df = lines[, 3], p = lines[, 5], reml = c(logLik(fit)),
       ml = c(logLik(with)), chisq = ratio[2, "Chisq"], chisq_p = ratio[2, "Pr(>Chisq)"],
       sd = c(unlist(lapply(VarCorr(fit), function(v) unname(attr(v, "stddev")))), sigma(fit)))
})
write(toJSON(list(version = paste("R", getRversion(), "lme4", packageVersion("lme4"), "lmerTest",
      packageVersion("lmerTest")), fits = fits), digits = NA, auto_unbox = TRUE), given[2])
"""


@dataclass(frozen=True)
class Made:
    """A made-up study: its size and what varies in it."""

    name: str
    seed: int
    paths: tuple[int, ...]  # of each scene
    steps: tuple[int, int]  # fewest and most episodes on a path
    effect: float = 0.1
    scene_sd: float = 0.2
    slope_sd: float = 0.1
    correlation: float = 0.0  # of a scene's intercept and effect
    path_sd: float = 0.15
    episode_sd: float = 0.0
    residual_sd: float = 0.2
    missing: float = 0.0  # share of rows that are lost
    binary: bool = False
    unit: float = 1.0
    offset: float = 0.4
    models: tuple[str, ...] = tuple(FORMULAS)


MADE = (
    Made("balanced", 1, (6,) * 8, (3, 3)),
    Made("unbalanced", 2, (2, 3, 5, 8, 9, 12, 14, 17, 20, 25, 30), (1, 6)),
    Made("slopes", 3, (4, 9, 6, 12, 8, 7, 15, 5, 10, 11, 9, 6), (1, 4), slope_sd=0.4, correlation=-0.5),
    Made("scenes alike", 4, (10,) * 11, (2, 4), scene_sd=0.0, slope_sd=0.0),
    Made("paths alike", 5, (3, 9, 12, 20, 7, 16), (1, 5), path_sd=0.0),
    Made("nothing shared", 6, (5,) * 7, (2, 3), scene_sd=0.0, slope_sd=0.0, path_sd=0.0, models=("default", "fm2")),
    Made("tiny groups", 7, (1, 2, 1, 1, 2, 2, 1, 1, 2, 1, 1, 2, 1, 1), (1, 2), models=("default", "fm1", "fm2")),
    Made("large", 8, (150,) * 11, (5, 5), slope_sd=0.05, models=("default", "fm1", "fm2")),
    Made("binary", 9, (5, 8, 13, 20, 30, 40, 12, 9, 22, 17, 6), (1, 5), residual_sd=0.4, binary=True),
    Made("correlation 1", 10, (8, 14, 20, 6, 11, 9, 16, 13), (2, 4), slope_sd=0.25, correlation=1.0),
    Made("correlation -1", 11, (8, 14, 20, 6, 11, 9, 16, 13), (2, 4), slope_sd=0.25, correlation=-1.0),
    Made("twins alike", 12, (6, 8, 10, 12, 14, 16, 18), (2, 5), episode_sd=0.4),
    Made("rows missing", 13, (6, 8, 10, 12, 14, 16, 18, 20), (2, 6), missing=0.3, models=("default", "fm1", "fm2")),
    Made("metres far away", 14, (5, 10, 15, 20, 12, 9), (2, 4), unit=30.0, offset=5000.0),
)


def with_small_residual(residual_sd: float) -> tuple[Made, ...]:
    """Five studies in which scenes differ by 1; in the first, which is balanced, degrees of freedom are exactly 10."""
    name, models = f"residual {residual_sd:g}", ("default", "fm3")
    strong = {"scene_sd": 1.0, "slope_sd": 1.0, "path_sd": 0.5, "residual_sd": residual_sd, "models": models}
    return (
        Made(f"balanced, {name}", 101, (6,) * 11, (3, 3), **strong),
        Made(f"unbalanced, {name}", 102, (2, 3, 5, 8, 9, 12, 14, 17, 20, 25, 30), (1, 6), **strong),
        Made(f"few scenes, {name}", 103, (4, 9, 6, 3, 5), (2, 4), **strong),
        Made(f"correlated, {name}", 104, (4, 9, 6, 12, 8, 7, 5), (1, 4), correlation=-0.8, **strong),
        Made(
            f"rows missing, {name}",
            105,
            (6, 8, 10, 12, 14, 16),
            (2, 6),
            missing=0.3,
            **{**strong, "models": ("default",)},
        ),
    )


SMALL_RESIDUAL = tuple(made for residual_sd in (0.1, 0.03, 0.01, 0.003) for made in with_small_residual(residual_sd))


def draw(made: Made) -> dict[str, np.ndarray]:
    """The columns of the study's table: y to six decimals, x, and the labels scene, path (in it) and step (on it)."""
    rng = np.random.default_rng(made.seed)
    scene_of_path = np.repeat(np.arange(len(made.paths)), made.paths)
    steps = rng.integers(made.steps[0], made.steps[1] + 1, len(scene_of_path))
    path = np.repeat(np.repeat(np.arange(len(scene_of_path)), steps), 2)
    episode = np.repeat(np.arange(steps.sum()), 2)
    scene, x = scene_of_path[path], np.tile([0, 1], steps.sum())
    first, second = rng.standard_normal((2, len(made.paths)))
    slope = made.effect + made.slope_sd * (made.correlation * first + np.sqrt(1 - made.correlation**2) * second)
    y = made.offset + made.unit * (
        made.scene_sd * first[scene]
        + slope[scene] * x
        + made.path_sd * rng.standard_normal(len(scene_of_path))[path]
        + made.episode_sd * rng.standard_normal(steps.sum())[episode]
        + made.residual_sd * rng.standard_normal(len(x))
    )
    values = (y > made.offset + 0.05).astype(np.float64) if made.binary else np.round(y, 6)
    columns = {"y": values, "x": x, "scene": scene, "path": path, "step": episode}
    kept = rng.random(len(x)) >= made.missing
    return {name: column[kept] for name, column in columns.items()}


def fitted(made: Made) -> dict[str, Any]:
    """What R makes of the study, by model."""
    with tempfile.TemporaryDirectory() as folder:
        table, answer = Path(folder, "table.csv"), Path(folder, "fits.json")
        columns = draw(made)
        np.savetxt(table, np.column_stack(list(columns.values())), delimiter=",", header=",".join(columns), comments="")
        formulas = [FORMULAS[name] for name in made.models]
        subprocess.run(["Rscript", "-e", PROGRAM, str(table), str(answer), *formulas], check=True)
        told = json.loads(answer.read_text(encoding="utf-8"))
    fits = dict(zip(made.models, told["fits"], strict=True))
    if "fm3" in fits:
        del fits["fm3"]["sd"]
    return {"version": told["version"], "rows": len(columns["y"]), "fits": fits}


def main() -> None:
    for file, studies in ((FILE, MADE), (SMALL_RESIDUAL_FILE, SMALL_RESIDUAL)):
        found = {made.name: fitted(made) for made in studies}
        file.write_text(json.dumps({"about": ABOUT, "studies": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
