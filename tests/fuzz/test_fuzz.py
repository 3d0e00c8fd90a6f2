"""A few damaged files a day, and what once ended badly; ``python -m tests.fuzz`` draws many."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
from tests.fuzz import calls, driver, files, misread, values

# Files of corpus/<reader> are <number>-<name of the file that is damaged>.
CORPUS = sorted(Path(__file__).with_name("corpus").glob("*/*"))
# Of longer files only every eighth byte, but for the first and the last kilobyte.
LONG = 5000
SEPARATORS = {".csv": b",", ".tsv": b"\t", ".txt": b" ", "": b" "}


@pytest.mark.parametrize("name", files.able())
def test_damaged_files_are_read_or_refused(name):
    for case in files.cases(0, 0, 10 if files.WEIGHTS[name] > 3 else 3, [name]):
        outcome, text = driver.judged(case)
        assert outcome not in driver.FAILURES, text


def test_lists_that_mean_something_else_are_read_rightly_or_refused():
    for case in misread.cases(0, 0, 40):
        outcome, text = driver.judged(case)
        assert outcome in ("clean", "same"), (case.shown, text)


@pytest.mark.parametrize("path", CORPUS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_files_that_once_ended_badly_are_refused(path):
    file = path.name.partition("-")[2]
    case = files.case(path.parent.name, file, path.read_bytes())
    assert driver.judged(case)[0] == "clean"


def cuts(name):
    """File and what is left of it: all shorter ones, or of a long file many."""
    undamaged, _ = files.undamaged(name)
    for file, data in undamaged.items():
        if any(Path(file).match(pattern) for pattern in files.READERS[name].harm):
            n = len(data)
            for length in range(n):
                if n <= LONG or not 1000 < length < n - 1000 or length % 8 == 0:
                    yield file, data[:length]


def is_valid(suffix, left):
    """Whether text is valid as it is left: no cell of the last row, quote or value is cut."""
    if suffix == ".toml":
        return left.endswith((b"\n", b"}"))
    # A template may have fewer images, and the last group another name.
    if suffix in (".enrol", ".celeba"):
        return True
    if suffix == ".ark":
        return left.rstrip().endswith(b"]")
    if suffix == ".json":  # without the end of its last line it is whole
        return left.count(b"{") == left.count(b"}")
    if suffix not in SEPARATORS or not left:
        return False
    lines = left.splitlines()
    cells = [line.count(SEPARATORS[suffix]) for line in lines]
    return cells[-1] == cells[0] and lines[-1].count(b'"') != 1


@pytest.mark.slow
@pytest.mark.parametrize("name", files.able())
def test_files_cut_at_every_byte(name):
    for file, left in cuts(name):
        outcome, text = driver.judged(files.case(name, file, left))
        valid = ("clean", "same", "different")
        allowed = valid if is_valid(Path(file).suffix, left) else ("clean",)
        assert outcome in allowed, (file, len(left), text)


ODD_CALLS = (
    ("SimilarityROC.fit", "X", "tensor"),
    ("SimilarityROC.curve", "far", [[0.1], [0.1, 0.2]]),
    ("GroupFARDisplay.from_roc", "threshold", [[0.1], [0.1, 0.2]]),
    ("inequity_rate", "fmr", "a list inside"),
    ("garbe", "fmr", "ragged"),
    ("DisparityCurveDisplay.from_roc", "rate", np.array("far", dtype=object)),
    ("InstanceFARDisplay.from_instance_far", "groups", "lazy polars"),
    ("IdentityInertiaDisplay.from_inertias", "groups", "structured"),
    ("KappaGridDisplay.plot", "ax", "lazy polars"),
    ("GroupRatesDisplay.plot", "rates", "none"),
    ("ErrorRateDisplay.from_roc", "operating_thresholds", "tuples"),
    ("instance_far", "far", np.array(0.1)),
    ("GroupWeightedSampler", "groups", "matrix"),
    ("load_pairs", "columns", "dates"),
    ("load_embeddings", "columns", "3-dimensional"),
    ("read_data", "attributes", [[1]]),
    ("InstanceFARDisplay.from_estimator", "X", "tensor with gradient"),
    ("Report.save", "date", values.SURROGATE),
    ("SimilarityROCDisplay.from_roc", "groups", "no columns"),
    ("ScoreHistogramDisplay.from_roc", "edges", "unhashable"),
    ("equal_error_rate", "y_true", "tensor with gradient"),
    ("EmbeddingData.groups", "attributes", ["x"]),
    ("PairData.fit", "attributes", ["x"]),
    ("AdversarialProjector", "n_discriminators", 10**30),
    ("make_face_embeddings", "n_domains", 2**31),
    ("equal_weights", "n_groups", 2**31),
    ("IdentityInertiaDisplay.plot", "bins", 2**31),
    ("worst_group_rate", "random_state", np.int8(-1)),
    ("compare_mitigations", "metrics", "no columns"),
    ("compare_mitigations", "n_jobs", np.float16(0.1)),
)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameter", "change"), ODD_CALLS)
def test_calls_that_once_ended_badly_are_used_or_refused(name, parameter, change):
    made = values.ARRAYS.get(change) if isinstance(change, str) else None
    made = made or (lambda valid: change)
    outcome, text = driver.judged(calls.case(name, [(parameter, change, made)]))
    assert outcome not in driver.FAILURES, text
