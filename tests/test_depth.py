"""A reader goes through few functions from a public name to the arithmetic.

Work of threads runs in line, so that its functions stand on those of the caller.
"""

import sys
from functools import cache, partial
from pathlib import Path
from unittest import mock

import pytest
from sklearn.preprocessing import FunctionTransformer

import skfairfr
from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core import _parallel

PACKAGE = Path(skfairfr.__file__).parent
# Of SimilarityROC.estimate, itself included, where the pairs it needs are held.
DEEPEST_ESTIMATE = 11
ESTIMATES = {
    "rate": {},
    "disparity": {"rate": "far", "how": "max_min"},
    "worst group": {"how": "max_min", "operating_point": "worst_group"},
}
# Frames that are no function of their own; Python 3.12 makes none for most of them.
INNER = ("<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


class InLine:
    """A pool of threads that runs everything at once, in the caller's own thread."""

    def __init__(self, *_, **__):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        pass

    def map(self, function, *columns):
        return [function(*task) for task in zip(*columns, strict=True)]


def deepest(call):
    """Our functions in the deepest stack during a call, the outermost first.

    Parameters
    ----------
    call : callable
        Called without arguments, in this thread.

    Returns
    -------
    stack : list of str
        "module:function" of each.
    """
    return stack_and_functions(call)[0]


def stack_and_functions(call):
    """The deepest stack during a call, and all our functions that it runs, a set."""
    found, functions, depth = [], set(), 0

    def look(frame, event, argument):
        nonlocal found, depth
        if event not in ("call", "return") or not name_of(frame):
            return
        depth += 1 if event == "call" else -1
        if event == "call":
            functions.add(name_of(frame))
            if depth > len(found):
                found = stack_of(frame)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        with mock.patch.object(_parallel, "ThreadPoolExecutor", InLine):
            call()
    finally:
        sys.setprofile(before)
    return found, functions


def stack_of(frame):
    """Names of our functions from the outermost one to that of the frame."""
    names = []
    while frame is not None:
        names.append(name_of(frame))
        frame = frame.f_back
    return [name for name in reversed(names) if name]


def name_of(frame):
    """Module and function of a frame; empty where it is none of our functions."""
    module = module_at(frame.f_code.co_filename)
    if frame.f_code.co_name in INNER or not module:
        return ""
    return f"{module}:{frame.f_code.co_qualname}"


@cache
def module_at(path):
    """Name of our module in a file; empty where it is none of ours."""
    if not Path(path).is_relative_to(PACKAGE):
        return ""
    return ".".join(Path(path).relative_to(PACKAGE.parent).with_suffix("").parts)


def fitted(seed, **options):
    """A small fitted measurement; another seed makes other data."""
    data = make_face_embeddings(40, n_features=8, kappa=20.0, random_state=seed)
    options = {"random_state": 0, "n_resamples": 5} | options
    roc = SimilarityROC(**options)
    return roc.fit(data.X, data.y, data.sensitive_features)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore::skfairfr.metrics.EstimandWarning")
@pytest.mark.parametrize("resample", ["identities", "images", "both"])
@pytest.mark.parametrize("asked", ESTIMATES.values(), ids=ESTIMATES)
def test_an_estimate_is_near_its_arithmetic(asked, resample):
    fitted(1, resample=resample).estimate(0.05, **asked)
    roc = fitted(0, resample=resample)
    stack = deepest(lambda: roc.estimate(0.05, **asked))
    assert len(stack) <= DEEPEST_ESTIMATE, "\n".join(stack)


def faces(seed):
    """X, y and groups."""
    data = make_face_embeddings(40, n_features=8, random_state=seed)
    return data.X, data.y, data.sensitive_features


def fitting(seed):
    return partial(SimilarityROC().fit, *faces(seed))


def estimating(seed):
    return partial(fitted(seed).estimate, 0.05, **ESTIMATES["worst group"])


def scoring(seed):
    X, y, groups = faces(seed)
    scorer = skfairfr.make_fairness_scorer(far=0.05)
    return partial(scorer, FunctionTransformer(), X, skfairfr.face_labels(y, groups))


def auditing(seed):
    from skfairfr.report import audit

    return partial(audit, *faces(seed), far=0.05)


@pytest.mark.filterwarnings("ignore::skfairfr.metrics.FewErrorsWarning")
@pytest.mark.parametrize(
    ("of", "most"),
    [(fitting, 69), (estimating, 82), (scoring, 117), (auditing, 367)],
    ids=["fit", "estimate, worst group", "scorer", "audit"],
)
def test_a_call_runs_few_functions(of, most):
    """On a tiny set."""
    of(1)()
    _, functions = stack_and_functions(of(0))
    assert len(functions) <= most, "\n".join(sorted(functions))
