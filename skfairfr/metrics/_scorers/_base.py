"""Base of the scorers: one comparison of an estimator's embeddings, checks and signs.

Several scorers of one call share the transform, the rows and the comparison.

A value that cannot be computed must never win a search: where the data of a fold do not
define it, the scorer raises an error that says what to change. No resample is drawn.
"""

from functools import partial
from inspect import signature

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import UNUSED

from skfairfr._compat import SharingScorer
from skfairfr._core._bootstrap import OPERATING_POINTS
from skfairfr._core._disparities import DISPARITIES
from skfairfr._core._pair_sets import Expected
from skfairfr.metrics._pairs._checks import check_single_level
from skfairfr.metrics._roc import _inputs
from skfairfr.metrics._roc._engine import Engine
from skfairfr.metrics._roc._partitions import EmbeddingPartitions
from skfairfr.utils._errors import Argument
from skfairfr.utils._labels import Labels, label_images
from skfairfr.utils._validation import check_option, check_rows

# Rate, disparity and operating point of each named score.
ENTRIES = {
    "bfar": ("far", "max_min", "worst_group"),
    "bfrr": ("frr", "max_min", "worst_group"),
    "frr_at_far": ("frr", None, "overall"),
    "far_max_geomean": ("far", "max_geomean", "worst_group"),
    "frr_max_geomean": ("frr", "max_geomean", "worst_group"),
}
# A search asks for points: fewer pairs need to be held.
POINTS_ALONE = Expected(whole=False)
REMEDIES = (
    "give the groups inside y, as y=face_labels(identity, group), which needs nothing "
    "else; or call sklearn.set_config(enable_metadata_routing=True) and pass "
    "sensitive_features= to fit of the search (params= of cross_validate)"
)


class Scorer(SharingScorer):
    """Callable that scikit-learn clones, pickles and routes metadata to.

    A subclass defines ``_measure(shared, estimator, data)``, whose arguments
    :func:`compare_transformed` takes.
    """

    # "estimator" is an argument of score, no metadata.
    __metadata_request__score = {  # noqa: RUF012
        "estimator": UNUSED,
        "sensitive_features": True,
        "domain": True,
    }

    def __call__(self, estimator, X, y, sensitive_features=None, domain=None):
        """Call :meth:`score`."""
        return self.score(estimator, X, y, sensitive_features, domain)

    def _score_with(
        self, shared, estimator, X, y, sensitive_features=None, domain=None
    ):
        return self._measure(shared, estimator, (X, y, sensitive_features, domain))

    def __repr__(self, N_CHAR_MAX=700):
        """The class, what it measures, and the other parameters that were set."""
        always = ("rate", "how", "far", "operating_point")
        defaults = signature(type(self)).parameters
        shown = [
            f"{name}={getattr(self, name)!r}"
            for name, parameter in defaults.items()
            if name in always or getattr(self, name) != parameter.default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def check_question(rate, how, far, operating_point, group):
    """Raise if the parameters of a scorer contradict each other, whatever the data.

    Parameters
    ----------
    rate, how, far, operating_point, group
        As in :func:`~skfairfr.metrics.make_fairness_scorer`.
    """
    check_option(rate, "rate", ("far", "frr"))
    check_option(operating_point, "operating_point", OPERATING_POINTS)
    check_single_level(far)
    name = how[0] if isinstance(how, tuple) and how else how
    if name is not None and not callable(name):
        check_option(name, "how", tuple(DISPARITIES))
    if how is not None and group is not None:
        raise ValueError(
            f"group={group!r} and how={how!r} exclude each other: a disparity is over all "
            "groups; give how=None for the rate of one group."
        )
    if how is None and group is None and operating_point == "group":
        raise ValueError(
            "operating_point='group' gives every group its own threshold, so that there "
            "is no overall rate; give group= or how=."
        )


def compare_transformed(
    scorer, estimator, data, far_max, average="pair", impostors="all", shared=None
):
    """Comparisons of an estimator's embeddings: one transform, one pass over all pairs.

    Parameters
    ----------
    scorer : object
        Named in messages.
    estimator : object
        With ``transform``, or a comparator, or a pipeline that ends with either.
    data : tuple of X, y, sensitive_features, domain
    far_max : float
        Largest level of the scores.
    average, impostors : str
        As in :class:`~skfairfr.metrics.SimilarityROC`.
    shared : dict, default=None
        What scorers of the same estimator have in common while it stays as it is. The
        first one puts its transformed rows and pairs there, and others with the same
        arguments find them.

    Returns
    -------
    engine : Engine
        Without intervals.
    """
    shared = {} if shared is None else shared
    key = (Scorer, *map(id, data))
    if key not in shared:
        # With the data in it, no other object can take their id.
        shared[key] = data, _compare(scorer, estimator, data, far_max, shared), {}
    _, partitions, engines = shared[key]
    asked = average, impostors
    if asked not in engines or engines[asked].far_max < far_max:
        if partitions.far_max < far_max:
            partitions = _partitions(partitions, far_max)
        attributes = partitions.columns
        pairs = partitions.pairs(tuple(attributes), average, impostors)
        groups = attributes["group"].values if attributes else np.empty(0)
        engines[asked] = Engine(pairs, groups, partitions.far_max)
    return engines[asked]


def _partitions(compared, far_max):
    """The same rows, compared down to another level."""
    return EmbeddingPartitions(
        compared.columns, compared.images, compared.compared, far_max, POINTS_ALONE
    )


def _compare(scorer, estimator, data, far_max, shared):
    """EmbeddingPartitions of transformed rows, which stand in the order of the pass."""
    X, *labels = data
    transform, similarity = _parts_of(scorer, estimator)
    key = (Scorer, "rows", id(X))
    if key in shared and similarity == "cosine":
        _, vectors, placed = shared[key]
        identity, group, domain = label_images(*labels, len(vectors))
        order = _order_of_pass(identity, group, domain)
        if not np.array_equal(order, placed):
            vectors = vectors[np.argsort(placed)[order]]
        adjustment = None
    else:
        options = {"dtype": (np.float32, np.float64), "input_name": "transform(X)"}
        embeddings = check_rows(transform(X), **options)
        identity, group, domain = label_images(*labels, len(embeddings))
        side = None if domain is None else domain.codes
        _inputs.check_embeddings(embeddings, identity, side, similarity)
        attributes = {} if group is None else {"group": group}
        shape = (embeddings.shape[1], identity, attributes, side)
        _inputs.check_memory(*shape, Argument("far", far_max))
        order = _order_of_pass(identity, group, domain)
        prepared = _inputs.prepare(embeddings, similarity, attributes, side, order)
        vectors, adjustment = prepared
        del embeddings  # during the pass the unit rows are the only copy
        if similarity == "cosine":
            shared[key] = X, vectors, order
    identity, group, domain = (
        labels and Labels(labels.values, labels.codes[order])
        for labels in (identity, group, domain)
    )
    return _inputs.compare_rows(
        vectors,
        identity,
        {} if group is None else {"group": group},
        None if domain is None else domain.codes.astype(np.int8),
        far_max=far_max,
        order=order,
        expected=POINTS_ALONE,
        similarity="cosine" if similarity == "cosine" else "dot",
        adjustment=adjustment,
    )


def _parts_of(scorer, estimator):
    """What makes embeddings of X, and their similarity.

    Returns
    -------
    transform : callable
    similarity : "cosine" or comparator
        The estimator, or the last step of a pipeline, if it is a comparator.
    """
    if isinstance(estimator, Pipeline) and _inputs.is_comparator(estimator[-1]):
        steps = [s for _, s in estimator.steps[:-1] if s not in (None, "passthrough")]
        return partial(_through, steps), estimator[-1]
    if _inputs.is_comparator(estimator):
        return partial(_through, ()), estimator
    if not hasattr(estimator, "transform"):
        raise TypeError(
            f"{scorer!r} compares the embeddings that transform(X) returns, and "
            f"{type(estimator).__name__} has no transform. Score a transformer, a "
            "comparator, or a pipeline that ends with one; for the embeddings as they "
            "are, a sklearn.preprocessing.FunctionTransformer()."
        )
    return estimator.transform, "cosine"


def _through(steps, X):
    """X after the transforms of some fitted steps."""
    for step in steps:
        X = step.transform(X)
    return X


def _order_of_pass(identity, group, domain):
    """Rows by side, group and identity: in this order a pass takes them without a copy."""
    groups = np.zeros_like(identity.codes) if group is None else group.codes
    sides = np.zeros_like(identity.codes) if domain is None else domain.codes
    return np.lexsort((identity.codes, groups, sides))


def answerable_question(scorer, engine, levels, rate, how, operating_point, group=None):
    """A question that these data can answer.

    Parameters
    ----------
    scorer : object
        Named in messages.
    engine : Engine
    levels : float or array-like, shape (n_levels,)
    rate, how, operating_point, group
        As in :meth:`~skfairfr.metrics.SimilarityROC.estimate`.

    Returns
    -------
    question : Question

    Raises
    ------
    ValueError
        If the groups are missing, too few, or without pairs, or the level is below what
        the impostor pairs resolve: the error is the same for every candidate.
    """
    needs_groups = how is not None or group is not None or operating_point != "overall"
    if needs_groups and engine.groups.size == 0:
        raise ValueError(
            f"{scorer!r} needs the group of every image and was given none: {REMEDIES}."
        )
    question = engine.question(levels, None, rate, group, how, operating_point)
    kind = "impostor" if rate == "far" else "genuine"
    if how is not None and len(engine.groups_with_pairs(question)) < 2:
        raise ValueError(
            f"{scorer!r} needs two groups with {kind} pairs; the groups of these "
            f"{engine.pairs.images.identity.size} images are "
            f"{engine.groups.tolist()[:5]}. Use fewer folds, or "
            "skfairfr.IdentityKFold, which balances groups over folds."
        )
    n_genuine, n_impostor = engine.counts(question)
    if how is None and (n_impostor if rate == "far" else n_genuine) == 0:
        raise ValueError(
            f"{scorer!r} found no {kind} pair among these "
            f"{engine.pairs.images.identity.size} images. Use skfairfr.IdentityKFold, "
            "which keeps all images of a person in one fold."
        )
    unresolved = engine.unresolved(question)
    if unresolved:
        raise ValueError(
            f"{scorer!r} cannot be computed: {unresolved}. Give a larger far, fewer folds "
            "or more people."
        )
    return question


def undefined(question, value):
    """Message about a value that is undefined for this candidate, with a remedy."""
    return (
        f"is {value}, since a group has no error of the {question.rate.upper()} at this level. "
        "Give a larger far, fewer folds or more people, or how='difference', which no "
        "zero makes undefined"
    )


def greater_is_better(values, how):
    """Scores of rates or disparities: closeness to 1 of a signed ratio, else minus."""
    name = how[0] if isinstance(how, tuple) else how
    if isinstance(name, str) and name == "ratio":
        with np.errstate(divide="ignore"):
            values = np.abs(np.log(values))
    # Zero is added because minus a rate of zero would print as -0.0.
    return 0.0 - values


PREFIX = "mean_test_"
# The end of the names of signed entries of fairness_scores, which have no direction.
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
        # The only entry, all nan, where a scorer of several scores always raised.
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
