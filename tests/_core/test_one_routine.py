"""Quantiles of intervals are taken in one module; others take those of power, or draw axes."""

import re
from pathlib import Path

import skfairfr

PACKAGE = Path(skfairfr.__file__).parent
# Names of quantile functions of t and of normal numbers.
QUANTILES = re.compile(r"\b(stdtrit|ndtri|log_ndtr|ppf|isf|NormalDist)\b")
ALLOWED = {
    "_core/_jackknife.py",  # of all intervals and p-values
    "model_selection/_bench_text.py",  # how large a change is found with a probability
    "report/_checks.py",  # people needed, with a probability
    "metrics/_plot/_curves.py",  # normal deviates as the scale of an axis
}


def test_no_other_module_takes_quantiles_of_t_or_of_normal_numbers():
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if QUANTILES.search(path.read_text("utf-8"))
    }
    assert found == ALLOWED
