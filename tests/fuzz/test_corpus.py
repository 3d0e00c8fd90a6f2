"""What once ended badly: files under corpus/<reader>, calls and lines of the command."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
from tests.fuzz import calls, driver, files, values

CORPUS = Path(__file__).with_name("corpus")
# Names of files are <number>-<name of the file that is damaged>.
KEPT = sorted(path for path in CORPUS.glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", KEPT, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_files(path):
    name, file = path.parent.name, path.name.partition("-")[2]
    if name not in files.able():
        pytest.skip(f"{name} needs {files.READERS[name].needs}")
    outcome, text = driver.judged(files.case(name, file, path.read_bytes()))
    assert outcome == "clean", text


def no_text(valid):
    return values.SURROGATE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameter", "change"),
    [
        ("SimilarityROC.fit", "X", "tensor"),
        ("SimilarityROC.far_asymmetry", "far", [[0.1], [0.1, 0.2]]),
        ("SimilarityROC.far_matrix", "threshold", [[0.1], [0.1, 0.2]]),
        ("SimilarityROC.curve", "far", [[0.1], [0.1, 0.2]]),
        ("GroupFARDisplay.from_roc", "threshold", [[0.1], [0.1, 0.2]]),
        ("inequity_rate", "fmr", "a list inside"),
        ("garbe", "fmr", "ragged"),
        ("DisparityCurveDisplay.from_roc", "rate", None),
        ("DisparityCurveDisplay.from_roc", "rate", np.array("far", dtype=object)),
        ("GroupRatesDisplay.plot", "rates", [0.1, 0.2]),
        ("InstanceFARDisplay.from_instance_far", "groups", "lazy polars"),
        ("IdentityInertiaDisplay.from_inertias", "groups", "structured"),
        ("IdentityInertiaDisplay.from_inertias", "groups", "no columns"),
        ("KappaGridDisplay.plot", "ax", "lazy polars"),
        ("GroupRatesDisplay.plot", "ax", ["x", "y"]),
        ("GroupRatesDisplay.plot", "ax", "a list inside"),
        ("GroupRatesDisplay.plot", "rates", "none"),
        ("ErrorRateDisplay.from_roc", "operating_thresholds", "tuples"),
        ("instance_far", "far", np.array(0.1)),
        ("make_fairness_scorer", "far", np.array(0.1)),
        ("GroupWeightedSampler", "groups", "matrix"),
        ("GroupWeightedSampler", "groups", np.array("f")),
        ("load_pairs", "columns", "dates"),
        ("load_pairs", "identity_1", [1]),
        ("load_embeddings", "columns", "3-dimensional"),
        ("read_data", "attributes", [[1]]),
        ("InstanceFARDisplay.from_estimator", "X", "tensor with gradient"),
        ("ErrorRateDisplay.from_roc", "threshold", [0.1]),
        ("roc_over_splits", "X", None),
        ("Report.save", "date", no_text),
        ("SystemsComparison.save", "version", no_text),
        ("SimilarityROCDisplay.from_roc", "groups", "no columns"),
        ("ScoreHistogramDisplay.from_roc", "groups", "dates"),
        ("IdentityInertiaDisplay.from_inertias", "groups", "3-dimensional"),
        ("IdentityInertiaDisplay.from_inertias", "groups", "none"),
        ("ScoreHistogramDisplay.from_roc", "edges", "unhashable"),
        ("GroupFARDisplay.from_roc", "name", no_text),
        ("GroupRatesDisplay.from_roc", "threshold", "tensor with gradient"),
        ("equal_error_rate", "y_true", "tensor with gradient"),
        ("audit_data", "random_state", None),
        ("compare_systems", "average", None),
        ("EmbeddingData.fit", "attributes", None),
        ("EmbeddingData.groups", "attributes", ["x"]),
        ("PairData.fit", "attributes", ["x"]),
        ("PairData.groups", "attributes", None),
        ("AdversarialProjector", "n_discriminators", 10**30),
        ("make_face_embeddings", "n_identities", 10**30),
        ("make_face_embeddings", "n_domains", 2**31),
        ("plan_test", "groups", 2**31),
        ("plan_test", "images_per_person", 2**63 - 1),
        ("equal_weights", "n_groups", 2**31),
        ("IdentityInertiaDisplay.plot", "bins", 2**31),
        ("worst_group_rate", "random_state", np.int8(-1)),
        *(
            pytest.param("compare_mitigations", *changed, marks=pytest.mark.slow)
            for changed in (
                ("metrics", "no columns"),
                ("methods", [["x"]]),
                ("n_jobs", [0.1]),
                ("n_jobs", np.float16(0.1)),
            )
        ),
    ],
)
def test_calls(name, parameter, change):
    known = values.ARRAYS | values.NUMERIC
    is_known = isinstance(change, str)
    if is_known and change not in known:
        pytest.skip(f"no library has {change}")
    made = known[change] if is_known else lambda valid: change
    made = change if callable(change) else made
    outcome, text = driver.judged(calls.case(name, [(parameter, change, made)]))
    assert outcome not in driver.FAILURES, text
