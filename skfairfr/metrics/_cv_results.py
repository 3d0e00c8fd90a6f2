"""Reading what a search of scikit-learn keeps of its candidates' scores."""

import numpy as np

PREFIX = "mean_test_"
# Ends the names of signed entries of fairness_scores, which have no direction.
LOG_RATIO = "log_ratio"


def mean_score(cv_results, name):
    """Mean score of each candidate.

    Parameters
    ----------
    cv_results : dict of str -> array-like, shape (n_candidates,)
    name : str
        As the scorer names it.

    Returns
    -------
    score : ndarray, shape (n_candidates,)
    """
    if PREFIX + name in cv_results:
        return np.asarray(cv_results[PREFIX + name], dtype=np.float64)
    listed = [key.removeprefix(PREFIX) for key in cv_results if key.startswith(PREFIX)]
    if listed == ["score"] and not np.isfinite(cv_results[PREFIX + "score"]).any():
        # A scorer of several scores that always raised leaves this one, all nan.
        return np.full(len(cv_results[PREFIX + "score"]), np.nan)
    remedy = f"the scores are: {', '.join(map(repr, listed)) or 'none'}"
    if listed == ["score"]:
        remedy = (
            "the search has a single score. Give it scoring=skfairfr.fairness_scores(), or "
            "a dict of scorers"
        )
    raise ValueError(f"{name!r} is not a score of the search; {remedy}.")


def is_signed(name):
    """Whether a score is the logarithm of a signed ratio."""
    return name.split("@")[0].endswith(LOG_RATIO)
