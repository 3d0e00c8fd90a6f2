"""What a plain install promises, step by step; each step fails where a promise is broken.

    python -m tests.install.measuring

Prints the name of each step that passed, in an environment without torch.
"""

import importlib
import pydoc
import sys

TRAINING = ("torch", "skorch")
MEASURING = ("utils", "datasets", "metrics", "model_selection", "report")
WEIGHTS = ["adjusted_weights", "dynamic_weights", "equal_weights", "natural_weights"]
NEED_AN_EXTRA = [
    *("skfairfr EthicalModule", "skfairfr.projectors EthicalModule"),
    *("skfairfr FPRPenaltyProjector", "skfairfr.projectors FPRPenaltyProjector"),
    *("skfairfr TripletProjector", "skfairfr.projectors TripletProjector"),
    "skfairfr.projectors AdversarialProjector",
    "skfairfr.projectors CentroidFairnessProjector",
    *("skfairfr.losses CentroidFairnessLoss", "skfairfr.losses GroupAdversaryLoss"),
    *("skfairfr.losses FairVMFLoss", "skfairfr.losses FPRPenaltyLoss"),
    *("skfairfr.losses TripletLoss", "skfairfr.losses semi_hard_negatives"),
    "skfairfr.samplers GroupWeightedSampler",
    "skfairfr.samplers HomogeneousBatchSampler",
]


def must_raise(error, function, *parts):
    """Fail unless ``function()`` raises ``error`` with all of ``parts`` in its message."""
    try:
        function()
    except error as raised:
        lacking = [part for part in parts if part not in str(raised)]
        assert not lacking, f"{raised} lacks {lacking}"
    else:
        raise AssertionError(f"no {error.__name__}")


def libraries_that_train_are_absent():
    for name in TRAINING:
        must_raise(ImportError, lambda name=name: importlib.import_module(name))


def star_imports_bring_what_can_be_had():
    import skfairfr

    top = {}
    exec("from skfairfr import *", top)
    assert {"SimilarityROC", "bfar_scorer", "face_labels"} <= set(top)
    assert not {"EthicalModule", "FPRPenaltyProjector", "TripletProjector"} & set(top)
    assert set(skfairfr.__all__) <= set(top)
    for package, names in {"losses": [], "projectors": [], "samplers": WEIGHTS}.items():
        found = {}
        exec(f"from skfairfr.{package} import *", found)
        assert sorted(set(found) - {"__builtins__"}) == names, package


def every_measuring_name_is_there():
    for package in ("skfairfr", *(f"skfairfr.{name}" for name in MEASURING)):
        module = importlib.import_module(package)
        listed = dir(module)
        for name in module.__all__:
            assert getattr(module, name) is not None
            assert name in listed
            assert pydoc.render_doc(f"{package}.{name}")
        assert module.__all__[0] in pydoc.render_doc(package)


def other_names_tell_the_extra():
    for entry in NEED_AN_EXTRA:
        package, name = entry.split()
        remedy = 'pip install "skfairfr[mitigate]"'
        module = importlib.import_module(package)
        must_raise(ImportError, lambda: getattr(module, name), name, "torch", remedy)  # noqa: B023
        statement = f"from {package} import {name}"
        must_raise(ImportError, lambda: exec(statement, {}), name, "torch", remedy)  # noqa: B023
        assert name not in dir(module)
        assert not hasattr(module, "no_such_name")


def nothing_that_trains_was_imported():
    assert not set(TRAINING) & set(sys.modules)


STEPS = (
    libraries_that_train_are_absent,
    star_imports_bring_what_can_be_had,
    every_measuring_name_is_there,
    other_names_tell_the_extra,
    nothing_that_trains_was_imported,
)


if __name__ == "__main__":
    for step in STEPS:
        step()
        print(step.__name__, flush=True)
