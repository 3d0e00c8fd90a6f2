"""Metrics, parameters and the chosen candidate of a fitted search, for displays."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skfairfr.metrics._scorers import is_signed, mean_score

# Axis labels of the entries of fairness_scores.
METRIC_LABELS = {
    "bfar": "BFAR (max / min of FAR)",
    "bfrr": "BFRR (max / min of FRR)",
    "frr_at_far": "FRR at FAR",
    "far_max_geomean": "max / geometric mean of FAR",
    "frr_max_geomean": "max / geometric mean of FRR",
}


def metric_of_search(search, name):
    """Mean metric of each candidate, (n_candidates,): a negated score with its own sign.

    The logarithm of a signed ratio becomes the ratio: the geometric mean over folds.
    """
    check_is_fitted(search, "cv_results_")
    score = mean_score(search.cv_results_, name)
    return np.exp(score) if is_signed(name) else 0.0 - score


def level_of(search, name):
    """FAR level of a score as text, or None: from its name, or from the scorer."""
    if "@" in name:
        return name.split("@")[1]
    far = getattr(getattr(search, "scorer_", None), "far", None)
    return None if far is None or np.ndim(far) else f"{far:g}"


def metric_label(name, level):
    """Axis label of a metric; an unknown name is its own label."""
    label = METRIC_LABELS.get(name.split("@")[0])
    if label is None:
        return name
    if name.split("@")[0] == "frr_at_far":
        return label if level is None else f"FRR at FAR = {level}"
    return label if level is None else f"{label} at FAR = {level}"


def chosen_of(search):
    """Row of the candidate that the search chose; None where it chose none."""
    return getattr(search, "best_index_", None)


def parameter_text(parameters):
    """Parameters of a candidate, without the steps of a pipeline before their names."""
    return ", ".join(
        f"{name.split('__')[-1]}={value:g}"
        if isinstance(value, float | int | np.number) and not isinstance(value, bool)
        else f"{name.split('__')[-1]}={value}"
        for name, value in parameters.items()
    )


def find_parameter(search, name):
    """Full name of a searched parameter, from that name or from its end."""
    searched = [key[6:] for key in search.cv_results_ if key.startswith("param_")]
    if name in searched:
        return name
    ending = [full for full in searched if full.endswith(f"__{name}")]
    if len(ending) != 1:
        raise ValueError(
            f"{name!r} is not a parameter of the search, or of several steps; the "
            f"parameters are: {', '.join(map(repr, searched)) or 'none'}."
        )
    return ending[0]
