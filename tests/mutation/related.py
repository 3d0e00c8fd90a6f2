"""Modules that are mutated, and the tests that must notice."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Module -> related tests beside the one of its own name. Both without .py.
ROC = "metrics/_roc"
RELATED = {
    "_core/_adjustments": (
        "_core/test_beta_calibration",
        "comparators/test_cluster_calibration",
    ),
    "_core/_bootstrap": (
        "_core/test_genuine",
        "_core/test_rates_in_resamples",
        "metrics/_roc/test_estimates",
        "_core/test_equal_error",
    ),
    "_core/_paired": (
        "_core/test_differences",
        "metrics/_roc/test_paired",
        "_core/test_pooled_folds",
        "model_selection/test_held_out",
    ),
    "_core/_rates": (
        "_core/test_disparities",
        "metrics/_pairs/test_disparity",
        "metrics/_pairs/test_rates",
    ),
    "_core/_error_counts": (),
    "_core/_few_errors": ("metrics/_roc/test_evidence", "metrics/_roc/test_analytic"),
    "_core/_pair_tiles": ("_core/test_inner_products",),
    "_core/_intervals": ("metrics/_roc/test_estimates",),
    "_core/_planning": ("metrics/test_plan",),
    "_core/_resampling": (),
    "_core/_pair_sequences": ("_core/test_rates_in_resamples",),
    "_core/_pairs": ("_core/test_score_moments", "_core/test_adjustments"),
    "comparators/_base": ("comparators/test_contract", "comparators/test_row_order"),
    "comparators/_cluster_calibration": ("comparators/test_agreement",),
    "comparators/_clusters": (
        "comparators/test_fair_score_normalizer",
        "comparators/test_cluster_calibration",
    ),
    "comparators/_cohort": ("comparators/test_agreement", "comparators/test_contract"),
    "comparators/_fair_score_normalizer": ("comparators/test_agreement",),
    "comparators/_transformers": (
        "comparators/test_group_means",
        "comparators/test_contract",
        "comparators/test_whitening",
    ),
    "comparators/_group_thresholds": (
        "comparators/test_agreement",
        "comparators/test_fair_score_normalizer",
    ),
    "comparators/_plda": ("comparators/test_contract",),
    "losses/_centroid_fairness": ("losses/test_arguments", "losses/test_score_map"),
    "losses/_fair_vmf": ("losses/test_arguments",),
    "losses/_fpr_penalty": (
        "losses/test_penalised",
        "losses/test_margins",
        "losses/test_arguments",
        "losses/test_selection",
        "losses/test_second_derivatives",
    ),
    "losses/_group_adversary": ("losses/test_arguments",),
    "losses/_semi_hard": (),
    "losses/_softmax": (
        "losses/test_held_out",
        "losses/test_second_derivatives",
        "losses/test_centroids",
    ),
    "losses/_triplet": ("losses/test_arguments",),
    "metrics/_pairs/_disparities": (
        "metrics/_pairs/test_disparity",
        "metrics/_pairs/test_fairness_indices",
        "metrics/_pairs/test_group_gate",
    ),
    "metrics/_pairs/_rates": (
        "metrics/_pairs/test_group_rates",
        "metrics/_pairs/test_group_gate",
    ),
    "metrics/_roc/_evidence": (
        "metrics/_roc/test_estimates",
        "report/test_needed",
        "report/test_verdicts",
        "metrics/_roc/test_analytic",
        "metrics/_roc/test_comparison",
        "metrics/_roc/test_by",
    ),
    "metrics/_roc/_paired": (
        "metrics/_roc/test_comparison",
        "metrics/_roc/test_asymmetry",
    ),
    "metrics/_worst_group": (),
    "report/_checks": (
        "report/test_needed",
        "report/test_policy",
        "report/test_comparison",
    ),
    "report/_limits": ("report/test_policy", "report/test_gates"),
    "report/_needed": ("report/test_checks",),
    "report/_policy": (
        "report/test_gates",
        "report/test_several_attributes",
        "test_cli_policy",
    ),
    "report/_verdicts": (
        "report/test_needed",
        "report/test_checks",
        "report/test_notes",
    ),
}


def related(module):
    """Files of tests, that of the module's own name first."""
    folder, _, name = module.rpartition("/")
    own = f"{folder}/test{name}"
    files = [f"tests/{test}.py" for test in (own, *RELATED[module])]
    return [file for file in files if (ROOT / file).is_file()]
