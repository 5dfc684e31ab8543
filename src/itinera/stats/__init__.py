"""Confidence intervals, paired comparisons, mixed models, power. Arrays in, numbers out. Start with `intervals.py`."""

from itinera.stats._validation import cluster_codes
from itinera.stats.aggregates import interquartile_mean, joint_success, mean_over_joint, performance_profile
from itinera.stats.bootstrap import cluster_bootstrap, hierarchical_bootstrap
from itinera.stats.finite_population import PopulationEstimate, SampleDesign, estimate_population_mean
from itinera.stats.hierarchical import paired_effect, ratio_of_sums, resample_sums
from itinera.stats.intervals import Interval, interval, wilson
from itinera.stats.means import MeanEstimate, estimate_mean, intra_cluster_correlation
from itinera.stats.mixed import MODELS, LikelihoodRatio, MixedFit, fit_mixed, likelihood_ratio
from itinera.stats.paired import Difference, paired_difference, probability_of_improvement
from itinera.stats.power import (
    ComparisonDesign,
    SampleSize,
    achieved_power,
    detectable_difference,
    episodes_needed,
    runs_needed,
)
from itinera.stats.ranking import Ties, tie_groups
from itinera.stats.runs import (
    BestOfRuns,
    RunVariation,
    difference_over_runs,
    difference_p_value,
    estimate_over_runs,
    expected_maximum,
    interval_over_runs,
    pool_variations,
    run_variation,
)
from itinera.stats.sequential import ConfidenceSequence

__all__ = [
    "MODELS",
    "BestOfRuns",
    "ComparisonDesign",
    "ConfidenceSequence",
    "Difference",
    "Interval",
    "LikelihoodRatio",
    "MeanEstimate",
    "MixedFit",
    "PopulationEstimate",
    "RunVariation",
    "SampleDesign",
    "SampleSize",
    "Ties",
    "achieved_power",
    "cluster_bootstrap",
    "cluster_codes",
    "detectable_difference",
    "difference_over_runs",
    "difference_p_value",
    "episodes_needed",
    "estimate_mean",
    "estimate_over_runs",
    "estimate_population_mean",
    "expected_maximum",
    "fit_mixed",
    "hierarchical_bootstrap",
    "interquartile_mean",
    "interval",
    "interval_over_runs",
    "intra_cluster_correlation",
    "joint_success",
    "likelihood_ratio",
    "mean_over_joint",
    "paired_difference",
    "paired_effect",
    "performance_profile",
    "pool_variations",
    "probability_of_improvement",
    "ratio_of_sums",
    "resample_sums",
    "run_variation",
    "runs_needed",
    "tie_groups",
    "wilson",
]
