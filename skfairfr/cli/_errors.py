"""Errors of public functions in the words of the command: flags, in one line."""

import re
from functools import partial

# What the command calls an argument of Python whose flag has another name, or that has none.
FLAGS = {
    **{"X": "embedding", "y": "identity", "path": "file", "random_state": "--seed"},
    **{"folder": "--out"},
    "log": "log",
    **dict.fromkeys(("attributes", "columns", "sensitive_features"), "--attribute"),
    **{"sensitive_features_1": "--attribute", "y_score": "--score"},
    **{"before": "BEFORE", "after": "AFTER", "others": "--other"},
    **dict.fromkeys(("galleries", "y_gallery"), "--gallery"),
    **{"far": "--fmr", "frr": "--fnmr", "far_max": "--fmr"},
    **{
        "n_groups": "--groups",
        "n_splits": "--splits",
        "metrics": "--metric",
        "curves": "--curve",
        "covariates": "--covariate",
        "explain_by": "--covariate",
    },
    "interactions": "--interaction",
    **{"names": "--search", "scores": "--candidates"},
}


def in_flags(error, **flags):
    """The message of an error, which begins with the flag of the argument that it is about."""
    from skfairfr._text._words import outside_quotes

    name, message = getattr(error, "argument", None), str(error)
    if name is None:
        return message
    if name == "methods" and not isinstance(error.value, str):
        name, message = "method", message.removeprefix(name)  # one of the caller's
    of_arguments = r"(?<![\w/.-])(identity_[12]|image_[12]|y_true)(?!\.?[\w/=])"
    in_flags = partial(re.sub, of_arguments, lambda found: flag_of(found[0]))
    return flag_of(name, flags) + outside_quotes(message.removeprefix(name), in_flags)


def flag_of(name, flags=()):
    """Flag of the command for an argument of Python."""
    return (FLAGS | dict(flags)).get(name, "--" + name.replace("_", "-"))


def one_line(error):
    from skfairfr._text._words import outside_quotes

    return outside_quotes(error, partial(re.sub, r"\s+", " ")).strip()
