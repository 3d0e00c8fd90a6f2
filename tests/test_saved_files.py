"""Files of the present format are read, and answer as recorded; others say why not.

``tests/saved/1`` holds a file of every class that can be saved, with what it answered, made
by ``python -c "from tests.test_saved_files import write; write()"``, which leaves what is there.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

import skfairfr.comparators
import skfairfr.projectors
from skfairfr import face_labels, make_face_embeddings
from skfairfr.comparators import WithinClassWhitening
from skfairfr.model_selection import load_mitigation, save_mitigation
from tests.metamorphic import surface

FACES = make_face_embeddings(20, 3, 4, random_state=0)
LABELS = face_labels(FACES.y, FACES.sensitive_features)
SAVED = Path(__file__).parent / "saved" / "1"
NAME = "system.safetensors"
# Of every class one that is small, and pipelines.
MITIGATIONS = {
    **{name.replace(" ", "-"): made for name, made in surface.COMPARATORS.items()},
    "lda": LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.5, n_components=3),
    "pca-cohort": make_pipeline(PCA(3), surface.COMPARATORS["cohort"]),
}
# Some heads of every kind.
HEADS = {
    "EthicalModule": {"head": "mlp", "output_dim": 3},
    "TripletProjector": {"validation_fraction": 0.0, "selection_size": 40},
    "CentroidFairnessProjector": {"head": "mlp"},
    "FPRPenaltyProjector": {"far": 0.1},
    "LossProjector": {"loss": "arcface"},
    "AdversarialProjector": {"discriminator_dim": 4, "discriminator_epochs": 1},
}
USUAL = {"hidden_dim": 4, "max_epochs": 2, "random_state": 0}


def fitted(name):
    """What ``tests/saved`` holds by this name, fitted anew."""
    if name in HEADS:
        pytest.importorskip("torch")
        made = getattr(skfairfr.projectors, name)(**USUAL, **HEADS[name])
    else:
        made = clone(MITIGATIONS[name])
    columns = (FACES.y, FACES.sensitive_features)
    if type(made).__module__.startswith("sklearn"):
        columns = columns[:1]
    return made.fit(FACES.X, *columns)


def write():
    """A file of each name, and what it answers."""
    for name in (*MITIGATIONS, *HEADS):
        if not (SAVED / name).exists():
            save_mitigation(made := fitted(name), SAVED / name)
            rows = FACES.X[::7].astype(np.float32)
            groups = FACES.sensitive_features[::7].astype(str)
            found = answer(made, rows, groups)
            kept = {"rows": rows, "groups": groups, "found": found}
            np.savez(SAVED / name / "answer.npz", **kept)


def answer(made, rows, groups):
    """Scores of all pairs of rows, or transformed rows."""
    if isinstance(made, Pipeline) and not hasattr(made, "transform"):
        return surface.asked(made[-1], made[:-1].transform(rows), groups)
    return surface.asked(made, rows, groups)


@pytest.mark.parametrize("name", (*MITIGATIONS, *HEADS))
def test_what_is_saved_answers_the_same_and_as_recorded(name, tmp_path):
    """Sums of another machine round otherwise; a head's are of float32."""
    save_mitigation(one := fitted(name), tmp_path)
    with np.load(SAVED / name / "answer.npz", allow_pickle=False) as told:
        rows, groups, expected = (told[key] for key in ("rows", "groups", "found"))
    again = load_mitigation(tmp_path)
    assert_array_equal(answer(again, rows, groups), answer(one, rows, groups))
    assert np.ptp(expected) > 0.1
    found = answer(load_mitigation(SAVED / name), rows, groups)
    assert_allclose(found, expected, rtol=0, atol=1e-5 * np.ptp(expected))


def test_every_class_that_can_be_saved_has_a_file():
    """Whatever has a public name, has a fit, and is no abstract base."""
    pytest.importorskip("torch")
    steps = [getattr(m, "steps", [(None, m)])[-1][1] for m in MITIGATIONS.values()]
    written = {type(step).__name__ for step in steps} | set(HEADS)
    public = {
        name
        for package in (skfairfr.comparators, skfairfr.projectors)
        for name in package.__all__
        if hasattr(getattr(package, name), "fit")
    }
    assert len(public) > 10
    assert public - {"Comparator"} <= written


def test_what_is_frozen_and_the_order_of_numbers_are_kept(tmp_path):
    pca = PCA(3).fit(FACES.X)
    pca.components_ = np.asfortranarray(pca.components_)
    save_mitigation(make_pipeline(FrozenEstimator(pca), "passthrough"), tmp_path)
    again = load_mitigation(tmp_path)
    assert isinstance(again[0], FrozenEstimator) and again[1] == "passthrough"
    assert again[0].components_.flags.f_contiguous
    assert_array_equal(again.transform(FACES.X), pca.transform(FACES.X))


def test_what_has_no_form_without_pickle_is_named(tmp_path):
    doubled = FunctionTransformer(np.add).fit(FACES.X)
    with pytest.raises(ValueError, match=r"1\.1\.func cannot be saved.*ickle"):
        save_mitigation(make_pipeline(PCA(3), doubled), tmp_path)
    assert not list(tmp_path.iterdir())


# ---- files that are not read ---------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    save_mitigation(WithinClassWhitening().fit(FACES.X, LABELS), tmp_path)
    return tmp_path


def change(folder, edit):
    """Edit the header of a saved file."""
    with safe_open(folder / NAME, framework="np") as file:
        header = json.loads(file.metadata()["skfairfr"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    edit(header)
    save_file(tensors, folder / NAME, metadata={"skfairfr": json.dumps(header)})


@pytest.mark.parametrize("number", [0, 99, "one", None])
def test_another_format_says_so(folder, number):
    change(folder, lambda header: header.update(format=number, version="9.9"))
    with pytest.raises(ValueError, match=r"system.*has format .*9\.9.*save the miti"):
        load_mitigation(folder)


@pytest.mark.parametrize(
    "names",
    [
        # A function that starts a program, and a module that reads pickles.
        ("sklearn.utils._testing", "check_output"),
        ("sklearn.datasets._covtype", "joblib"),
        ("sklearn.datasets", "fetch_openml"),
        ("sklearn.pipeline", "Bunch"),
        ("sklearn.decomposition._pca", "PCA"),
        ("sklearn.base", "NoSuchClass"),
        ("subprocess", "Popen"),
        ("os", "system"),
    ],
)
def test_what_is_no_estimator_is_not_called(folder, names, tmp_path):
    ran = tmp_path / "ran"
    arguments = {"pairs": [["args", ["touch", str(ran)]]]}
    estimator = {"estimator": [*names, arguments, {"pairs": []}]}
    change(folder, lambda header: header.update(value=estimator))
    with pytest.raises(ValueError, match="is no estimator of skfairfr or scikit-learn"):
        load_mitigation(folder)
    assert not ran.exists()


def test_a_damaged_file_and_a_folder_without_one_are_named(folder):
    whole = (folder / NAME).read_bytes()
    for content in (b"", whole[:100], whole[:-1]):
        (folder / NAME).write_bytes(content)
        with pytest.raises(ValueError, match=r"system.*damaged.*save the mitigation"):
            load_mitigation(folder)
    with pytest.raises(FileNotFoundError, match="elsewhere"):
        load_mitigation(folder / "elsewhere")


def test_a_mitigation_takes_the_place_of_another(folder):
    (folder / "note").write_text("")
    save_mitigation(PCA(2).fit(FACES.X), folder)
    assert isinstance(load_mitigation(folder), PCA)
    assert {path.name for path in folder.iterdir()} == {NAME, "note"}
