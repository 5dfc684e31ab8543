import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden.lme4 import FILE, MADE, SMALL_RESIDUAL, SMALL_RESIDUAL_FILE, Made, draw
from itinera.errors import BadArgument
from itinera.stats import MODELS, estimate_mean, fit_mixed, likelihood_ratio
from itinera.stats._mixed.likelihood import contributions, deviance, group_sums, profile
from itinera.stats._mixed.sandwich import robust_errors

STUDIES = json.loads(FILE.read_text(encoding="utf-8"))["studies"]
SMALL_RESIDUAL_STUDIES = json.loads(SMALL_RESIDUAL_FILE.read_text(encoding="utf-8"))["studies"]
CASES = [(made, model) for made in MADE for model in made.models]
BY_NAME = {made.name: made for made in MADE}


def arguments(columns, model="default"):
    return {
        "response": columns["y"],
        "intervention": columns["x"],
        "scenes": columns["scene"],
        "trajectories": columns["path"],
        "episodes": columns["step"],
        "model": model,
    }


def dense_covariance(columns, spreads):
    """The covariance of all rows of the default model, in units of the residual variance, written out."""
    a, b, c, d = spreads
    root = np.array([[a, 0.0], [b, c]])
    design = np.column_stack([np.ones(len(columns["x"])), columns["x"]])
    same_scene = columns["scene"][:, None] == columns["scene"]
    same_path = columns["path"][:, None] == columns["path"]
    return design, np.eye(len(design)) + same_scene * (design @ root @ root.T @ design.T) + d * d * same_path


def dense_deviance(columns, spreads, slope, restricted):
    """Minus twice the log-likelihood from the textbook formula, with the whole covariance matrix."""
    design, covariance = dense_covariance(columns, spreads)
    design = design if slope else design[:, :1]
    inverse = np.linalg.inv(covariance)
    information = design.T @ inverse @ design
    left = columns["y"] - design @ np.linalg.solve(information, design.T @ inverse @ columns["y"])
    freedom = len(left) - (design.shape[1] if restricted else 0)
    value = np.linalg.slogdet(covariance)[1] + freedom * (1 + np.log(2 * np.pi * (left @ inverse @ left) / freedom))
    return value + (np.linalg.slogdet(information)[1] if restricted else 0)


def summed(columns):
    return group_sums(columns["y"], columns["x"].astype(float), columns["scene"], columns["path"])


@given(spreads=st.tuples(*[st.floats(-3, 3)] * 4), slope=st.booleans(), restricted=st.booleans())
def test_the_likelihood_from_sums_is_the_likelihood_from_the_whole_covariance(spreads, slope, restricted):
    columns = draw(BY_NAME["tiny groups"])
    sums = summed(columns)
    found = deviance(sums, profile(sums, np.array([spreads]), slope=slope), restricted=restricted)
    assert found[0] == pytest.approx(dense_deviance(columns, spreads, slope, restricted), rel=1e-8)


def test_robust_errors_are_the_sandwich_of_the_whole_covariance():
    columns, spreads = draw(BY_NAME["tiny groups"]), np.array([0.8, -0.3, 0.5, 0.6])
    sums = summed(columns)
    errors, df = robust_errors(contributions(sums, spreads[None]), profile(sums, spreads[None], slope=True))
    design, covariance = dense_covariance(columns, spreads)
    bread = np.linalg.inv(design.T @ np.linalg.solve(covariance, design))
    maker = bread @ design.T @ np.linalg.inv(covariance)
    left = columns["y"] - design @ (maker @ columns["y"])
    # A scene's residuals vary less than its responses; CR2 scales them, whitened, back to unit variance.
    kept = np.eye(len(left)) - design @ maker
    meat, forms = np.zeros((2, 2)), []
    for scene in np.unique(columns["scene"]):
        own = columns["scene"] == scene
        root = np.linalg.cholesky(covariance[np.ix_(own, own)])
        shrunk = np.linalg.solve(root, np.linalg.solve(root, (kept @ covariance @ kept.T)[np.ix_(own, own)]).T)
        values, directions = np.linalg.eigh(shrunk)
        values = np.where(values > 1e-9, values, np.inf)
        enlarge = root @ (directions / np.sqrt(values)) @ directions.T @ np.linalg.inv(root)
        arm = np.linalg.solve(covariance[np.ix_(own, own)], design[own]).T @ enlarge
        score = bread @ arm @ left[own]
        meat += np.outer(score, score)
        forms.append(bread @ arm @ kept[own])
    assert errors == pytest.approx(np.sqrt(np.diag(meat)))
    for effect in range(2):
        rows = np.array([form[effect] for form in forms])
        joint = rows @ covariance @ rows.T
        assert df[effect] == pytest.approx(np.trace(joint) ** 2 / (joint**2).sum())


def test_there_are_enough_studies_and_they_are_the_ones_r_saw():
    assert set(STUDIES) == set(BY_NAME)
    assert all(len(draw(made)["y"]) == STUDIES[made.name]["rows"] for made in MADE)
    assert STUDIES["large"]["rows"] == 16_500


@pytest.mark.parametrize(("made", "model"), CASES, ids=lambda part: getattr(part, "name", part))
def test_fits_are_those_of_lme4(made, model):
    expected = STUDIES[made.name]["fits"][model]
    fit = fit_mixed(**arguments(draw(made), model))
    lines = (fit.intercept, fit.effect)
    assert fit.converged
    assert [line.estimate for line in lines] == pytest.approx(expected["estimate"], abs=1e-4)
    assert [line.standard_error for line in lines] == pytest.approx(expected["error"], rel=0.01)
    assert fit.log_likelihood == pytest.approx(expected["reml"], abs=1e-3)
    assert [line.df for line in lines] == pytest.approx(expected["df"], rel=0.02)
    if "sd" in expected:
        # R lists inner groups first.
        ours = {(part.group, part.term): part.sd for part in fit.components}
        order = sorted(ours, key=lambda key: (key[0] == "residual", key[0] == "scene"))
        assert [ours[key] for key in order] == pytest.approx(expected["sd"], abs=2e-3 * max(expected["sd"]))


@pytest.mark.parametrize(("made", "model"), CASES, ids=lambda part: getattr(part, "name", part))
def test_likelihood_ratios_are_those_of_lme4(made, model):
    expected = STUDIES[made.name]["fits"][model]
    found = likelihood_ratio(**arguments(draw(made), model))
    assert found.converged
    assert found.log_likelihood == pytest.approx(expected["ml"], abs=1e-3)
    assert found.statistic == pytest.approx(expected["chisq"], abs=2e-3)
    assert found.p_value == pytest.approx(expected["chisq_p"], rel=0.01)


@pytest.mark.parametrize("made", SMALL_RESIDUAL, ids=lambda made: made.name)
def test_fits_are_those_of_lmertest_where_the_residual_is_small_beside_scenes(made):
    columns, study = draw(made), SMALL_RESIDUAL_STUDIES[made.name]
    assert len(columns["y"]) == study["rows"]
    for model in made.models:
        expected, fit = study["fits"][model], fit_mixed(**arguments(columns, model))
        lines = (fit.intercept, fit.effect)
        assert fit.converged
        # lmerTest differentiates numerically in coordinates without a scale, so its own last digits are lost first.
        assert [line.df for line in lines] == pytest.approx(expected["df"], rel=0.01)
        assert [line.standard_error for line in lines] == pytest.approx(expected["error"], rel=1e-4)
        assert fit.log_likelihood == pytest.approx(expected["reml"], abs=1e-3)


@pytest.mark.parametrize("path_sd", [0.5, 1e-3])
@pytest.mark.parametrize("residual_sd", [0.1, 0.01, 0.003, 0.001, 5e-4])
def test_degrees_of_freedom_of_a_balanced_study_do_not_depend_on_the_residual(residual_sd, path_sd):
    # Eleven scenes of equal size: 10. For fm3, 66 trajectories of equal size: 65.
    made = Made("", 3, (6,) * 11, (3, 3), scene_sd=1.0, slope_sd=1.0, path_sd=path_sd, residual_sd=residual_sd)
    columns = draw(made)
    fit, by_path = fit_mixed(**arguments(columns)), fit_mixed(**arguments(columns, "fm3"))
    assert fit.converged
    assert [fit.intercept.df, fit.effect.df] == pytest.approx([10, 10], rel=1e-3)
    assert [by_path.intercept.df, by_path.effect.df] == pytest.approx([65, 65], rel=1e-3)


def test_a_model_whose_likelihood_is_flat_where_errors_depend_on_it_is_refused(monkeypatch):
    def flat(sums, found, residual_sd):
        return np.zeros(len(residual_sd))

    monkeypatch.setattr("itinera.stats.mixed.deviance_at", flat)
    with pytest.raises(BadArgument, match=r"the likelihood is flat in one direction\. Give rows of more groups"):
        fit_mixed(**arguments(draw(BY_NAME["balanced"])))


def test_effects_of_scenes_that_hardly_vary_do_not_count_as_unknown():
    # Eight rows whose scenes respond alike: the intervention's spread is estimated as next to nothing, not as zero.
    y, scenes, trajectories = [1, 3, 2, 6, 4, 5, 4, 9], list("aaaabbbb"), [1, 1, 2, 2] * 2
    fit = fit_mixed(y, [0, 1] * 4, scenes=scenes, trajectories=trajectories)
    assert fit.effect.df == pytest.approx(3, rel=1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_small_studies_of_any_kind_are_fitted(seed):
    rng = np.random.default_rng(seed)
    paths = tuple(rng.integers(1, 5, rng.integers(3, 8)).tolist())
    sds = dict(zip(("scene_sd", "slope_sd", "path_sd"), rng.choice([0.0, 0.05, 0.5, 3.0], 3).tolist(), strict=True))
    columns = draw(Made("", seed, paths, (2, 4), residual_sd=0.2, **sds))
    for model in MODELS:
        fit = fit_mixed(**arguments(columns, model))
        assert 0.5 < fit.effect.df <= 1.02 * fit.rows


def test_variances_that_nothing_speaks_for_are_zero():
    fit = fit_mixed(**arguments(draw(BY_NAME["nothing shared"])))
    assert [part.sd for part in fit.components[:3]] == [0, 0, 0]
    assert fit.singular
    assert np.isnan(fit.correlation)
    # What is left is a comparison of two independent arms.
    assert fit.effect.df == pytest.approx(fit.rows - 2, rel=1e-4)


def test_a_perfect_correlation_is_told():
    fit = fit_mixed(**arguments(draw(BY_NAME["correlation -1"])))
    assert fit.correlation == pytest.approx(-1)
    assert fit.singular


def test_in_a_balanced_study_the_interval_is_the_t_interval_of_scene_effects():
    columns = draw(BY_NAME["balanced"])
    fit = fit_mixed(**arguments(columns))
    effects = columns["y"][1::2] - columns["y"][::2]
    known = estimate_mean(effects, clusters=columns["scene"][::2])
    assert fit.interval.mean == pytest.approx(known.mean)
    assert (fit.interval.high - fit.interval.low) / 2 == pytest.approx(2.364624 * known.standard_error)
    assert fit.interval.method == "mixed model, cluster-robust t (8 scenes)"


@pytest.mark.parametrize("model", ["fm1", "fm3"])
def test_models_without_scenes_report_their_own_interval(model):
    fit = fit_mixed(**arguments(draw(BY_NAME["balanced"]), model))
    assert fit.p_value == fit.effect.p_value
    assert fit.interval.method == "mixed model, Satterthwaite's t"


def test_scenes_that_agree_exactly_leave_the_interval_to_the_model():
    columns = draw(BY_NAME["balanced"])
    first = columns["scene"] == 0
    twice = {name: np.tile(column[first], 2) for name, column in columns.items()}
    fit = fit_mixed(**arguments(twice | {"scene": np.repeat([0, 1], first.sum())}))
    assert fit.p_value == fit.effect.p_value
    assert fit.interval.low < fit.interval.mean < fit.interval.high


def test_a_scene_with_one_arm_only_is_no_obstacle():
    columns = draw(BY_NAME["unbalanced"])
    kept = (columns["scene"] != 3) | (columns["x"] == 0)
    fit = fit_mixed(**arguments({name: column[kept] for name, column in columns.items()}))
    assert fit.converged
    assert fit.interval.low < fit.effect.estimate < fit.interval.high


def test_the_interval_and_the_p_value_agree():
    columns = draw(BY_NAME["unbalanced"])
    p_value = fit_mixed(**arguments(columns)).p_value
    assert fit_mixed(**arguments(columns), level=1 - p_value).interval.low == pytest.approx(0, abs=1e-9)


def test_effect_size_is_the_effect_over_the_standard_deviation_of_a_response():
    fit = fit_mixed(**arguments(draw(BY_NAME["correlation 1"])))
    by_scene, effects, by_path, residual = (part.sd**2 for part in fit.components)
    covariance = fit.correlation * np.sqrt(by_scene * effects)
    spread = np.sqrt(by_scene + (effects + 2 * covariance) / 2 + by_path + residual)
    assert fit.effect_size == pytest.approx(fit.effect.estimate / spread)


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), shift=st.floats(-1e3, 1e3), scale=st.sampled_from([-7.0, 0.01, 300.0]))
def test_order_labels_and_units_do_not_matter(seed, shift, scale):
    columns = draw(BY_NAME["tiny groups"])
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(columns["y"]))
    moved = {name: column[order] for name, column in columns.items()}
    moved["y"] = shift + scale * moved["y"]
    moved["scene"] = [f"house {scene}" for scene in moved["scene"]]
    plain, other = fit_mixed(**arguments(columns)), fit_mixed(**arguments(moved))
    assert other.effect.estimate == pytest.approx(scale * plain.effect.estimate, rel=1e-4)
    assert other.effect.df == pytest.approx(plain.effect.df, rel=1e-3)
    assert other.p_value == pytest.approx(plain.p_value, rel=1e-3)
    assert abs(other.effect_size) == pytest.approx(abs(plain.effect_size), rel=1e-4)


def test_trajectories_of_the_same_name_in_two_scenes_are_two_trajectories():
    columns = draw(BY_NAME["balanced"])
    renamed = columns | {"path": columns["path"] % 6, "step": columns["step"] % 3}
    for model in MODELS:
        assert fit_mixed(**arguments(renamed, model)) == fit_mixed(**arguments(columns, model))


def changed(**change):
    columns = draw(BY_NAME["balanced"])
    return arguments(columns) | {name: of(columns) for name, of in change.items()}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (changed(model=lambda c: "fm4"), 'no mixed model "fm4". Choose one of: default, fm1, fm2, fm3'),
        (changed(response=lambda c: np.where(c["x"] == 1, np.nan, c["y"])), "144 values that are not finite"),
        (changed(response=lambda c: c["y"][1:]), "287 responses and 288 interventions"),
        (changed(intervention=lambda c: c["x"] * 2), "runs from 0 to 2 in 2 values"),
        (changed(intervention=lambda c: c["x"] * 0), "runs from 0 to 0 in 1 values"),
        (changed(scenes=lambda c: c["scene"] * 0), "All rows lie in one scene"),
        (changed(scenes=lambda c: c["scene"][1:]), "287 cluster labels for 288"),
        (changed(scenes=lambda c: np.arange(288)), "288 rows in 288 scenes"),
        (changed(trajectories=lambda c: np.arange(288)), "288 rows in 288 trajectories"),
        (changed(response=lambda c: 0 * c["y"] + 1), "it is 1 in every control row and 1 in every row"),
        (changed(response=lambda c: 0.2 + 0.5 * c["x"]), "does not vary: it is 0.2 in every control row and 0.7"),
        (changed(response=lambda c: c["path"] + c["x"]), "agree exactly"),
        (changed(model=lambda c: "fm1", episodes=lambda c: None), "needs episodes"),
        (changed(level=lambda c: 95), "between 0 and 1"),
    ],
    ids=range(14),
)
def test_senseless_calls_are_refused(call, message):
    with pytest.raises(BadArgument, match=message):
        fit_mixed(**call)
