"""What AdversarialProjector and CentroidFairnessProjector do to people not fitted on.

    python -m docs.studies.check_trained [n_draws [n_people [n_features]]]

Synthetic people in two halves whose disparity has a stated cause: a group's identities are
crowded, or its images are spread. Half of the people are fitted; of the others, the mean
over the draws, and beside it the lowest and highest draw, of

- group read: balanced accuracy of a logistic regression that is fitted anew on the
  projected embeddings of the people fitted on, and reads the group of the others;
- FRR, BFAR and BFRR at FAR 1e-3.

The row "none" holds the values themselves, the others after over before for the rates; then
"draws": of how many the paired interval (95 %, resampled identities) lies below 1, and of
how many above. The row with alpha 0 has no adversary. About five minutes. People with the same
cosines can be drawn in more features.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score

from docs.studies._command import run_command
from skfairfr import IdentityKFold, SimilarityROC, face_labels, make_face_embeddings
from skfairfr.projectors import AdversarialProjector, CentroidFairnessProjector

HALVES = {"a": 0.5, "b": 0.5}
CAUSES = {
    "b is crowded": {"kappa": 120.0, "crowding": {"a": 12.0, "b": 30.0}},
    "b is spread": {"kappa": {"a": 140.0, "b": 95.0}, "crowding": 15.0},
}
METHODS = {
    "adversarial, alpha 0": AdversarialProjector(alpha=0.0, random_state=0),
    "adversarial (default)": AdversarialProjector(random_state=0),
    "adversarial, alpha 1": AdversarialProjector(alpha=1.0, random_state=0),
    "centroid fairness": CentroidFairnessProjector(random_state=0),
}
N_FEATURES = 64
FAR = 1e-3
WORST = {"how": "max_min", "operating_point": "worst_group"}
QUESTIONS = {"FRR": {}, "BFAR": {"rate": "far", **WORST}, "BFRR": WORST}


def read_group(fitted, group, others, group_of_others):
    """Balanced accuracy of a new logistic regression on people it has not seen."""
    model = LogisticRegression(C=10.0, max_iter=2000, class_weight="balanced")
    model.fit(N_FEATURES**0.5 * fitted, group)
    read = model.predict(N_FEATURES**0.5 * others)
    return balanced_accuracy_score(group_of_others, read)


def measure(X, y, group):
    """A fitted SimilarityROC, resampled by identities."""
    roc = SimilarityROC(resample="identities", n_resamples=200, random_state=0)
    return roc.fit(X, y, group)


def check(cause, n_people, seed, n_features=N_FEATURES):
    """One draw: for each method the accuracy, then ratio, low and high of each question.

    Of "none" the values stand in place of the ratio and of its ends.
    """
    faces = make_face_embeddings(
        n_people,
        (3, 6),
        n_features,
        groups=HALVES,
        n_directions=None if n_features == N_FEATURES else N_FEATURES,
        random_state=seed,
        **CAUSES[cause],
    )
    X, y, group = faces.X, faces.y, faces.sensitive_features
    labels = face_labels(y, group)
    folds = IdentityKFold(2, shuffle=True, random_state=seed)
    fit, unseen = next(folds.split(X, labels))
    before = measure(X[unseen], y[unseen], group[unseen])
    values = [before.estimate(FAR, **asked).value for asked in QUESTIONS.values()]
    accuracy = read_group(X[fit], group[fit], X[unseen], group[unseen])
    found = {"none": (accuracy, [(v, v, v) for v in values])}
    for name, method in METHODS.items():
        method.fit(X[fit], labels[fit])
        Z = method.transform(X[unseen])
        accuracy = read_group(method.transform(X[fit]), group[fit], Z, group[unseen])
        after = measure(Z, y[unseen], group[unseen])
        ratios = []
        for asked in QUESTIONS.values():
            c = after.compare(before, FAR, **asked)
            ratios.append((c.ratio, c.ratio_low, c.ratio_high))
        found[name] = accuracy, ratios
    return found


def summary(values):
    """Mean, lowest and highest of some draws."""
    return f"{np.mean(values):.2f} [{min(values):.2f}, {max(values):.2f}]"


def main(n_draws=5, n_people=1200, n_features=N_FEATURES):
    """Print a table for each cause."""
    for cause in CAUSES:
        draws = [check(cause, n_people, seed, n_features) for seed in range(n_draws)]
        print(
            f"{cause}: {n_people:,} people, half fitted, {n_draws} draws, FAR {FAR:g}"
        )
        print(f"{'':22} {'group read':18}", *(f"{q:18} draws " for q in QUESTIONS))
        for name in draws[0]:
            cells = [f"{summary([d[name][0] for d in draws]):18}"]
            for place in range(len(QUESTIONS)):
                ratio, low, high = np.transpose([d[name][1][place] for d in draws])
                lower, higher = (high < 1).sum(), (low > 1).sum()
                counted = f"{lower}, {higher}" if name != "none" else ""
                cells.append(f"{summary(ratio):18} {counted:6}")
            print(f"{name:22}", *cells, flush=True)


if __name__ == "__main__":
    run_command(main, __doc__)
