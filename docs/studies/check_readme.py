"""README's mitigations over several draws of its people, with controls.

Half of the people of each draw are fitted on, the others measured. Printed are
the ratios after / before: geometric means with 95 % intervals of Student's distribution over
the draws. "gap" is the largest over the smallest FRR of the groups, each at its own threshold.

    python -m docs.studies.check_readme [n_draws]
"""

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from docs.studies._command import run_command
from skfairfr import (
    BestTradeOff,
    EthicalModule,
    IdentityKFold,
    SimilarityROC,
    face_labels,
    fairness_scores,
    make_face_embeddings,
)
from skfairfr.comparators import CohortNormalizer
from skfairfr.model_selection import kappa_grid

FAR, GROUPS = 1e-3, ("male", "female")
QUESTIONS = {
    "BFAR": {"rate": "far", "how": "max_min", "operating_point": "worst_group"},
    "BFRR": {"rate": "frr", "how": "max_min", "operating_point": "worst_group"},
    "FRR": {"rate": "frr"},
    "gap": {"rate": "frr", "how": "max_min", "operating_point": "group"},
}


def methods():
    """Name -> comparator, head, or search of a head."""
    head = EthicalModule(groups=GROUPS, random_state=0)
    search = GridSearchCV(
        head,
        kappa_grid(64, GROUPS),
        scoring=fairness_scores(far=FAR),
        refit=BestTradeOff(("bfar", "frr_at_far")),
        cv=IdentityKFold(3),
        error_score="raise",
    )
    return {
        "as-norm": CohortNormalizer(),
        "as-norm, strength 0.5": CohortNormalizer(strength=0.5),
        "plain head (20, 20)": head,
        "kappas of the search": search,
        "kappas (10, 20)": clone(head).set_params(kappa0=10.0),
    }


def measured(X, y, method=None):
    """Each question of the held-out people, with a method or with none."""
    similarity = "cosine"
    if hasattr(method, "score_pairs"):
        similarity = method
    elif method is not None:
        X = method.transform(X)
    roc = SimilarityROC(similarity=similarity, method="jackknife").fit(X, y)
    return [roc.estimate(FAR, **question).value for question in QUESTIONS.values()]


def main(n_draws=5):
    found, chosen = {name: [] for name in methods()}, []
    for seed in range(n_draws):
        data = make_face_embeddings(n_identities=1200, n_features=64, random_state=seed)
        y = face_labels(data.y, data.sensitive_features)
        seen = data.y % 2 == 0
        before = measured(data.X[~seen], y[~seen])
        for name, method in methods().items():
            method.fit(data.X[seen], y[seen])
            after = measured(data.X[~seen], y[~seen], method)
            found[name].append(np.log(after) - np.log(before))
            if hasattr(method, "best_params_"):
                chosen.append(method.best_params_["kappas"])
    print(f"{n_draws} draws, FAR {FAR:g}; after / before")
    print(f"{'':22}" + "".join(f"{name:>20}" for name in QUESTIONS))
    for name, logs in found.items():
        mean, error = np.mean(logs, axis=0), stats.sem(logs, axis=0)
        width = stats.t.ppf(0.975, n_draws - 1) * error
        cells = np.exp([mean, mean - width, mean + width]).T
        print(
            f"{name:22}" + "".join("{:6.2f} [{:.2f}, {:.2f}]".format(*c) for c in cells)
        )
    print("chosen:", *("({male:g}, {female:g})".format(**k) for k in chosen))


if __name__ == "__main__":
    run_command(main, __doc__)
