"""Public names in a program of a user. ``tests.install.wheels`` gives it to mypy, beside the
installed wheel; nothing runs it. A comment ``type: ignore`` is a mistake that must be seen.
"""

from typing import Any, assert_type

import numpy as np

from skfairfr import (
    EthicalModule,
    IdentityKFold,
    SimilarityROC,
    face_labels,
    make_face_embeddings,
)
from skfairfr.comparators import CohortNormalizer
from skfairfr.metrics import Comparison, Estimate, GroupRatesDisplay, bfar, plan_test
from skfairfr.report import Report, audit, audit_pairs
from skfairfr.samplers import equal_weights

X = np.zeros((4, 2))
y = ["ann", "ann", "bob", "bob"]
group = ["f", None, "m", "m"]

roc = SimilarityROC(n_resamples=200, random_state=0).fit(X, y, sensitive_features=group)
assert_type(roc, SimilarityROC)
assert_type(roc.estimate(1e-3, rate="far", group="f"), Estimate)
assert_type(roc.estimate(1e-3).value, float | np.ndarray)
assert_type(roc.compare(roc, 1e-3, how="max_min"), Comparison)
assert_type(GroupRatesDisplay.from_roc(roc, far=[1e-2, 1e-3]), GroupRatesDisplay)
assert_type(bfar([0, 1], [0.1, 0.9], sensitive_features=group[:2]), float)
assert_type(audit(X, y, {"sex": group, "age": group}), Report)
assert_type(audit_pairs([0.1, 0.9], (y[:2], y[2:]), (group[:2], group[2:])), Report)
assert_type(audit(X, y, group).exit_code, int)
assert_type(audit(X, y, group, far=1e-2).to_html(), str)
assert_type(plan_test(max_fmr=1e-3).to_text(), str)
assert_type(equal_weights(2), np.ndarray)
assert_type(face_labels(y, group), np.ndarray)
assert_type(make_face_embeddings(n_identities=10).X, Any)
assert_type(IdentityKFold(3).get_n_splits(X, y), int)
assert_type(
    EthicalModule(10.0, 20.0, max_epochs=5).fit(X, y, group).transform(X), np.ndarray
)
assert_type(CohortNormalizer(kind="as").fit(X, y), CohortNormalizer)

roc.estimate(1e-3, rat="far")  # type: ignore[call-arg]
bfar([0, 1], [0.1, 0.9], sensitive_features=y[:2], far="high")  # type: ignore[arg-type]
EthicalModule(kappa=10.0, epochs=5)  # type: ignore[call-arg]
SimilarityROC(resamples=10)  # type: ignore[call-arg]
