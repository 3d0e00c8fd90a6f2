"""Errors of SimilarityROC about arguments: a table of calls, each with argument or remedy."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skfairfr import SimilarityROC, face_labels
from tests.metrics.designs import GROUP, IDENTITY, ONE, SCORES, TWO, X, unfitted

TRUE = np.arange(3) % 2
HALF = {"X_reference": X[15:], "y_reference": IDENTITY[15:]}
TWICE = {"domain": np.append(np.zeros(30), 1)}
AGES = np.column_stack([["f", "m"] * 15, ["old", "young", "Old"] * 10])


def changed(row, column, value):
    rows = X.copy()
    rows[row, column] = value
    return rows


def fit(rows=X, y=IDENTITY, group=None, **options):
    return lambda: unfitted().fit(rows, y, group, **options)


def pairs(scores=SCORES, one=ONE, two=TWO, **options):
    return lambda: unfitted().fit_pairs(scores, one, two, **options)


def true(**options):
    return lambda: SimilarityROC().fit_pairs(SCORES, **options)


def ask(question="estimate", *arguments, of=GROUP, **options):
    return lambda: getattr(unfitted().fit(X, IDENTITY, of), question)(
        *arguments, **options
    )


REFUSED = [
    # Embeddings and their labels.
    (fit(X[0]), "Expected 2D array"),
    (fit(X[:1], IDENTITY[:1]), "minimum of 2 is required"),
    (fit(changed(3, 1, np.nan)), "Input X contains NaN"),
    (fit(changed(3, 1, np.inf)), "Input X contains infinity"),
    (fit(changed(7, slice(None), 0)), r"X has a zero row \(7.*--failures"),
    (fit(X.astype(str) + "m"), r"numbers \(could .* float: '[-.\d]+m'\)"),
    (fit(y=None), "requires y to be passed"),
    (fit(y=IDENTITY[:-1]), "y has 29 rows but X has 30"),
    (fit(group=GROUP[:-1]), "sensitive_features has 29 rows but X has 30"),
    (fit(y=np.zeros(30)), "y contains no two people.*of more people"),
    (fit(y=[None, *IDENTITY[1:]]), r"y is missing \(None or NaN\) in row 0.*Drop"),
    (fit(y=np.stack([IDENTITY, IDENTITY])), "y must be one column"),
    (fit(y=face_labels(IDENTITY, GROUP), group=GROUP), "sensitive_features was given"),
    (fit(group=AGES), "sensitive_features 1 contains 1 label in two"),
    # Two sides.
    (fit(domain=np.zeros(30)), "domain must have two values, not 1"),
    (fit(domain=np.arange(30) % 3), "domain must have two values, not 3"),
    (fit(domain=np.arange(29) % 2), "domain has 29 rows but X has 30"),
    (fit(X_reference=X), "y_reference is missing. Pass X_reference and"),
    (fit(y_reference=IDENTITY), "X_reference is missing. Pass X_reference and"),
    (fit(sensitive_features_reference=GROUP), "X_reference is missing"),
    (fit(X_reference=X[:, :5], y_reference=IDENTITY), "X_reference has 5 features"),
    (fit(X_reference=X * np.nan, y_reference=IDENTITY), "X_reference contains NaN"),
    (fit(**HALF, domain=np.arange(30) % 2), "domain and X_reference both determine"),
    (fit(X_reference=X, y_reference=IDENTITY), r"same photograph .* \(rows \d+ and"),
    (fit(np.r_[X, X[:1]], np.r_[IDENTITY, IDENTITY[0]], **TWICE), "0 and 30, .*1 such"),
    (fit(X[:15], IDENTITY[:15], GROUP[:15], **HALF), "sensitive_features_reference is"),
    (fit(X[:4], np.ones(4), domain=[0, 0, 1, 1]), "no two people to compare"),
    (fit(X_reference=X, y_reference=IDENTITY.astype(str)), "be sorted as labels"),
    # Settings.
    (lambda: unfitted(impostors="same_group").fit(X, IDENTITY), "no impostor pair"),
    (lambda: unfitted(similarity="dot").fit(X * 1e20, IDENTITY), "by one constant"),
    # Lists of pairs.
    (pairs([0.9, np.nan, 0.3]), "finite, but pair 1 has nan .*--failures"),
    (pairs([0.9, 0.1, -np.inf]), "pair 2 has -inf .*--failures"),
    (pairs([None, 0.1, 0.3]), "pair 0 has nan .*--failures"),
    (pairs([0.9, 0.1, np.inf]), "pair 2 has inf .* give the score that"),
    (pairs(["x", "y", "z"]), "y_score must be numbers"),
    (pairs([], [], []), "y_score is empty"),
    (pairs(one=ONE[:2]), "identity_1 has 2 rows but y_score has 3"),
    (pairs(one=[1, 1, 2], two=["1", "2", "3"]), "cannot be sorted as labels"),
    (pairs(image_1=[1, 2, 3]), "image_2 is missing"),
    (pairs(image_1=[1, 1, 1], image_2=[2, 3, 4]), "Image 1 is listed under two ident"),
    (pairs(image_1=[1, 1, 3], image_2=[1, 3, 4]), "compares the image 1 with itself"),
    (pairs(sensitive_features_1=["f", "f", "m"]), "sensitive_features_2 is missing"),
    (pairs(mated_only=True), "mated_only was given, and 2 of 3 pairs are"),
    (pairs(non_mated_only=True), "non_mated_only was given, and 1 of 3 pairs"),
    # Pairs without people.
    (true(), "identity_1 and identity_2 are missing; give whom .* known, y_true"),
    (true(y_true=TRUE, identity_1=ONE, identity_2=TWO), "y_true and identity_1 were"),
    (true(y_true=TRUE, image_2=SCORES), "y_true and image_2 were .*; give identity_1"),
    (
        true(identity_1=(ONE, TWO)),
        "identity_2 is missing .*as identity_1=, identity_2=",
    ),
    (true(y_true=TRUE[1:]), "y_true has 2 pairs but y_score has 3"),
    (true(y_true=TRUE + 1), "y_true"),
    (
        true(y_true=TRUE, sensitive_features=ONE, sensitive_features_2=ONE),
        "sensitive_features and sensitive_features_2 were both given; give the group",
    ),
    (true(y_true=TRUE, sensitive_features=ONE[1:]), "sensitive_features has 2 rows"),
    (true(y_true=TRUE, sensitive_features_1=ONE), "sensitive_features_2 is missing"),
    # Questions.
    (ask(), "exactly one of far and threshold, got neither"),
    (ask(far=0.1, threshold=0.5), "exactly one of far and threshold, got both"),
    (ask(far=0), r"far must lie in \(0, 1\)"),
    (ask(far=1.0), r"far must lie in \(0, 1\)"),
    (ask(far=[0.1, 1.5]), r"far must lie in \(0, 1\).*1.5"),
    (ask(far="0.1"), "far must lie in"),
    (ask(threshold=np.nan), "threshold must be"),
    (ask(far=0.1, rate="fnmr"), "rate must be one of 'far', 'frr', got 'fnmr'"),
    (ask(far=0.1, how="maxmin"), "how must be one of 'max_min'.*got 'maxmin'"),
    (ask(far=0.1, group="x"), "group 'x' is not a group of the data.*: 'a', 'b'"),
    (ask(far=0.1, group="a", how="gini"), "exclude each other"),
    (ask(far=0.1, group=("a", "b")), "only impostor pairs cross groups"),
    (ask(far=0.1, group=("a",), rate="far"), "one group or two"),
    (ask(far=0.1, operating_point="eer"), "operating_point must be one of"),
    (ask(threshold=0.1, operating_point="worst_group"), "Leave it out"),
    (ask(far=0.1, operating_point="group"), "Pass group= or how="),
    (ask(far=0.1, how=("ratio", "a")), "Use how=.'ratio', a, b"),
    (ask(far=0.1, how=("ratio", "a", "x")), "how 'x' is not a group"),
    (ask(far=0.1, how=()), "^how"),
    (ask(far=0.1, how=np.ptp), "^how"),
    (ask(far=0.1, how="max_min", of=None), "given none|Its groups: none"),
    (ask(far=0.1, operating_point="worst_group", of=None), "given none|are: none"),
    (ask(far=0.1, group="a", of=None), "given none|Its groups: none"),
    (ask("equal_error_rate", ("a", "b")), "one group here"),
    (ask("curve", 0.1), "far must be several levels"),
    (ask("far_matrix", [0.1, 0.2]), "one level or threshold"),
    (ask("far_matrix", 0.1, of=None), "far_matrix needs groups"),
    (ask("threshold_at", 0.1, group="a"), "group= names whose threshold"),
    # Costs, which set no threshold.
    (ask(far=0.01, rate="dcf"), "far sets a threshold, and rate='dcf' is of all"),
    (ask(rate="auc", operating_point="worst_group"), "operating_point sets a thresh"),
    (ask(rate="cllr", threshold=0.1), "goes with rate='dcf'"),
    (ask(rate="dcf", threshold=[0.1, 0.2]), "threshold must be one number"),
    (ask(rate="dcf", p_target=1), r"p_target must be a number in \(0, 1\)"),
    (ask(rate="cllr", max_far=0.1), "goes with rate='auc'"),
    (ask(rate="auc", max_far=1.0), r"max_far must be a number in \(0, 1\)"),
    (ask(rate="min_dcf", threshold=0.1), "goes with rate='dcf'"),
    (ask(rate="dcf", group=("a", "b")), "cross-group"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=[w for _, w in REFUSED])
def test_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("question", ["threshold_at", "estimate", "curve", "resamples"])
def test_not_fitted(question):
    with pytest.raises(NotFittedError):
        getattr(unfitted(), question)([0.1])
