"""A reader goes through few functions from a public name to the arithmetic.

``python -m tests.test_depth`` prints the deepest stack of our own functions for some public
names, numba's compiled ones included, and how many different ones a call runs. Work of threads runs in line, so that its functions
stand on those of the caller.
"""

import sys
import warnings
from functools import cache
from pathlib import Path
from unittest import mock

import pytest
from sklearn.preprocessing import FunctionTransformer

import skfairfr
from skfairfr import SimilarityROC, make_face_embeddings, metrics
from skfairfr._core import _parallel

PACKAGE = Path(skfairfr.__file__).parent
# Of SimilarityROC.estimate, itself included, where the pairs it needs are held.
DEEPEST_ESTIMATE = 11
# Of other calls on a tiny set: how many different functions each runs.
BROADEST = {
    "SimilarityROC.fit": 66,
    "estimate, worst group": 90,
    "bfar_scorer": 116,
    "audit": 370,
}
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
    found, functions = [], set()

    def look(frame, event, argument):
        nonlocal found
        if event == "call" and name_of(frame):
            functions.add(name_of(frame))
            stack = stack_of(frame)
            if len(stack) > len(found):
                found = stack

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
    options = {"n_resamples": 5, "random_state": 0} | options
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


@pytest.mark.filterwarnings("ignore::skfairfr.metrics.FewErrorsWarning")
@pytest.mark.parametrize("name", BROADEST)
def test_a_call_runs_few_functions(name):
    MEASURED[name](1)()
    _, functions = stack_and_functions(MEASURED[name](0))
    assert len(functions) <= BROADEST[name], "\n".join(sorted(functions))


def test_the_work_of_threads_stands_on_its_caller():
    tasks = [([0.1, 0.2], "max_min")]
    stack = deepest(
        lambda: _parallel.over_blocks(metrics.disparity, tasks, None, "rates")
    )
    names = [name.split(":")[1] for name in stack]
    assert names[0] == "over_blocks" and "disparity" in names


def test_nothing_of_ours_is_an_empty_stack():
    assert deepest(lambda: sorted([2, 1])) == []


def test_the_outermost_function_is_the_one_called():
    stack = deepest(lambda: metrics.disparity([0.1, 0.2]))
    assert stack[0].endswith(":disparity")
    assert all(name.startswith("skfairfr.") for name in stack)


def test_a_profile_set_before_stays():
    def profile(frame, event, argument):
        pass

    sys.setprofile(profile)
    try:
        deepest(dict)
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)


def estimating(asked, **options):
    """Function of a seed that makes an estimate ready to be counted."""

    def ready(seed):
        roc = fitted(seed, **options)
        return lambda: roc.estimate(0.05, **asked)

    return ready


def fitting(name, **options):
    """The same, of the fit of a projector."""
    options = {"max_epochs": 2, "device": "cpu", "random_state": 0} | options

    def ready(seed):
        data = make_face_embeddings(150, n_features=8, random_state=seed)
        projector = getattr(skfairfr, name)(**options)
        return lambda: projector.fit(data.X, data.y, data.sensitive_features)

    return ready


def auditing(seed):
    from skfairfr.report import audit

    data = make_face_embeddings(40, n_features=8, random_state=seed)
    given = (data.X, data.y, data.sensitive_features)
    return lambda: audit(*given, far=0.05, n_resamples=5)


def scoring(seed):
    data = make_face_embeddings(40, n_features=8, random_state=seed)
    features = {"sensitive_features": data.sensitive_features}
    *pairs, groups = metrics.all_pairs(data.X, data.y, **features)
    return lambda: metrics.bfar(*pairs, sensitive_features=groups, far=0.05)


def comparing(seed):
    data = make_face_embeddings(40, n_features=8, random_state=seed)
    return lambda: SimilarityROC().fit(data.X, data.y, data.sensitive_features)


def searching(seed):
    data = make_face_embeddings(40, n_features=8, random_state=seed)
    scorer = skfairfr.make_fairness_scorer(far=0.05)
    y = skfairfr.face_labels(data.y, data.sensitive_features)
    return lambda: scorer(FunctionTransformer(), data.X, y)


MEASURED = {
    "SimilarityROC.fit": comparing,
    "bfar_scorer": searching,
    **{f"estimate, {name}": estimating(asked) for name, asked in ESTIMATES.items()},
    "estimate, rate of impostors within groups": estimating({}, impostors="same_group"),
    "EthicalModule.fit": fitting("EthicalModule"),
    "EthicalModule.fit, people held out": fitting(
        "EthicalModule", validation_fraction=0.5, monitor="bfar"
    ),
    "TripletProjector.fit": fitting("TripletProjector"),
    "TripletProjector.fit, dynamic sampling": fitting(
        "TripletProjector", sampling="dynamic", validation_fraction=0.5, far=0.01
    ),
    "audit": auditing,
    "bfar": scoring,
}


def main():
    """Print the depth of a call, how many functions it runs, and its deepest stack."""
    for name, ready in MEASURED.items():
        ready(1)()
        first, functions = stack_and_functions(ready(0))
        print(f"{name}: {len(first)} deep, {len(functions)} functions")
        print("".join(f"  {function}\n" for function in first))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
