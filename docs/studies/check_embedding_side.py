"""What do the remover of groups' means, whitening, LDA and PLDA lower, and at which cost?

``python -m docs.studies.check_embedding_side`` draws synthetic people whose groups
differ by one stated cause, fits every method on half of them and measures the other half
at an overall FAR of 1e-3. Printed are FRR and BFAR before, and of each method the ratio of
after to before with its interval, from the same resamples of people on both sides; a star
says that the interval leaves out 1. It takes some twenty seconds.
"""

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from docs.studies._command import run_command
from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.comparators import GroupMeanRemover, PLDAComparator, WithinClassWhitening

FAR = 1e-3
N_FEATURES = 64
QUESTIONS = {
    "FRR": {},
    "BFAR": {"rate": "far", "how": "max_min", "operating_point": "worst_group"},
}
METHODS = {
    "GroupMeanRemover()": GroupMeanRemover(),
    "WithinClassWhitening()": WithinClassWhitening(),
    "LDA, shrinkage 0.9": LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.9),
    "PLDAComparator()": PLDAComparator(),
}
# Groups are alike but for what a cause names; people and images vary in as many directions
# as those of a real encoder.
EVEN = {"kappa": 130, "crowding": 8, "n_directions": (32, 44)}
CAUSES = {
    "people of one group alike": {"crowding": {"male": 8, "female": 18}},
    "one group shifted": {"shift": 0.3},
    "one group varies along a direction": {"nuisance": {"male": 0, "female": 0.3}},
    "both vary along a direction": {"nuisance": 0.3},
    "one group varies in all directions": {"kappa": {"male": 130, "female": 85}},
}


def draw(cause, n_people):
    """Embeddings, identities and groups; a shift is one offset of all images of a group."""
    given = EVEN | CAUSES[cause]
    shift = given.pop("shift", 0)
    groups = {"male": 0.5, "female": 0.5}
    faces = make_face_embeddings(
        n_people, 4, N_FEATURES, groups=groups, random_state=0, **given
    )
    direction = np.random.default_rng(0).standard_normal(N_FEATURES)
    direction *= shift / np.linalg.norm(direction)
    group = faces.sensitive_features
    return faces.X + (group == "female")[:, None] * direction, faces.y, group


def measure(cause, n_people, n_resamples, methods=METHODS):
    """Held-out people before, and each method beside them.

    Returns
    -------
    before : dict of str -> Estimate
    after : dict of str -> dict of str -> Comparison
        By method, then by what is asked.
    """
    X, y, group = draw(cause, n_people)
    fitted = y < n_people // 2  # identities are in random order
    held = (y[~fitted], group[~fitted])

    def compare_all(rows, similarity="cosine"):
        roc = SimilarityROC(
            similarity=similarity,
            resample="identities",
            n_resamples=n_resamples,
            random_state=0,
        )
        return roc.fit(rows, *held)

    before = compare_all(X[~fitted])
    after = {}
    for name, method in methods.items():
        groups = {}
        if isinstance(method, GroupMeanRemover):
            groups = {"sensitive_features": group[fitted]}
        method.fit(X[fitted], y[fitted], **groups)
        if hasattr(method, "prepare"):
            roc = compare_all(X[~fitted], method)
        else:
            roc = compare_all(method.transform(X[~fitted]))
        after[name] = {
            title: roc.compare(before, FAR, **asked)
            for title, asked in QUESTIONS.items()
        }
    found = {t: before.estimate(FAR, **asked) for t, asked in QUESTIONS.items()}
    return found, after


def main(n_people=1200, n_resamples=300):
    for cause in CAUSES:
        before, after = measure(cause, n_people, n_resamples)
        print(cause)
        cells = "".join(
            f" {e.value:9.3f} [{e.low:.3f}, {e.high:.3f}] " for e in before.values()
        )
        print(f"  {'before: FRR, BFAR':24}{cells}")
        for name, found in after.items():
            cells = "".join(
                f"    x {c.ratio:5.2f} [{c.ratio_low:.2f}, {c.ratio_high:.2f}]"
                f"{' ' if c.ratio_low <= 1 <= c.ratio_high else '*'}"
                for c in found.values()
            )
            print(f"  {name:24}{cells}", flush=True)


if __name__ == "__main__":
    run_command(main, __doc__)
