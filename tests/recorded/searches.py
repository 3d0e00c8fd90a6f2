"""Small fitted searches, for the cases of selection and of displays."""

from functools import cache

from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skfairfr import BestTradeOff, IdentityKFold, face_labels, fairness_scores
from tests.recorded.data import Stretch, faces

LEVELS = (0.05, 0.02)
GRID = {"weight": [0.3, 1.0, 3.0], "power": [0.8, 1.2]}
FOLDS = IdentityKFold(3, shuffle=True, random_state=0)


@cache
def people():
    """Enough people for a FAR of 0.02 within every group of a fold: X and labels."""
    data = faces(90)
    return data.X, face_labels(data.y, data.sensitive_features)


@cache
def search(pipeline=False):
    """Several scores of several levels, chosen by a trade-off."""
    estimator = make_pipeline(Stretch()) if pipeline else Stretch()
    grid = {("stretch__" if pipeline else "") + n: v for n, v in GRID.items()}
    return GridSearchCV(
        estimator,
        grid,
        scoring=fairness_scores(LEVELS, ratio=("male", "female")),
        cv=FOLDS,
        refit=BestTradeOff(("bfar@5e-2", "frr_at_far@5e-2")),
        error_score="raise",
    ).fit(*people())


@cache
def one_level():
    return GridSearchCV(
        Stretch(),
        GRID,
        scoring=fairness_scores(0.05, ratio=("male", "female")),
        cv=FOLDS,
        refit=BestTradeOff(),
        error_score="raise",
    ).fit(*people())


@cache
def baseline():
    """The scores of the embeddings as they are."""
    scoring = fairness_scores(LEVELS)
    return cross_validate(FunctionTransformer(), *people(), scoring=scoring, cv=FOLDS)
