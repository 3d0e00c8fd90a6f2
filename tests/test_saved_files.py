"""Files of every format that was ever written are read, or say why not.

A folder of ``tests/saved`` holds files of one format. A new format has a folder of its own,
made by ``python -c "from tests.test_saved_files import write; write('tests/saved/3')"``;
the others stay as they are. Of a new class, the same command adds a file to the last folder,
and leaves what is there.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import Pipeline, make_pipeline

import skfairfr.comparators
import skfairfr.projectors
from skfairfr import face_labels, make_face_embeddings
from skfairfr.comparators import WithinClassWhitening
from skfairfr.model_selection import load_mitigation, save_mitigation
from skfairfr.utils._json_form import check_format, digest_of
from tests.metamorphic import surface

FACES = make_face_embeddings(20, 3, 4, random_state=0)
LABELS = face_labels(FACES.y, FACES.sensitive_features)
SAVED = Path(__file__).parent / "saved"
FORMATS = sorted(folder.name for folder in SAVED.iterdir() if folder.is_dir())


def whitening():
    return WithinClassWhitening(shrinkage=0.5).fit(FACES.X, LABELS)


# Of every class one that is small, and pipelines.
MITIGATIONS = {
    **{name.replace(" ", "-"): made for name, made in surface.COMPARATORS.items()},
    "lda": LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.5, n_components=3),
    "pca-cohort": make_pipeline(PCA(3), surface.COMPARATORS["cohort"]),
    "whitening-calibration": make_pipeline(
        WithinClassWhitening(), surface.COMPARATORS["calibration"]
    ),
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


def write(folder):
    """Files of the present format, and what each answers; what is there stays."""
    folder = Path(folder)
    if not (folder / "mitigation").exists():
        save_mitigation(whitening(), folder / "mitigation")
    for name, estimator in MITIGATIONS.items():
        if not (folder / "mitigations" / name).exists():
            fitted = fitted_on_faces(estimator)
            save_mitigation(fitted, folder / "mitigations" / name)
            record(fitted, folder / "mitigations" / name)
    for name, options in HEADS.items():
        path = folder / "heads" / name / "head.safetensors"
        if not path.exists():
            path.parent.mkdir(parents=True)
            usual = {"hidden_dim": 4, "max_epochs": 2, "random_state": 0}
            made = getattr(skfairfr.projectors, name)(**usual, **options)
            fitted = fitted_on_faces(made)
            fitted.save(path)
            record(fitted, path.parent)


def fitted_on_faces(estimator):
    columns = (FACES.y, FACES.sensitive_features)
    if type(estimator).__module__.startswith("sklearn"):
        columns = columns[:1]
    return clone(estimator).fit(FACES.X, *columns)


def record(fitted, folder):
    """Write some rows, and what is made of them, beside a file."""
    rows = FACES.X[::7].astype(np.float32)
    groups = FACES.sensitive_features[::7]
    found = answer(fitted, rows, groups)
    np.savez(folder / "answer.npz", rows=rows, groups=groups.astype(str), found=found)


def answer(fitted, rows, groups):
    """Scores of all pairs of rows, or transformed rows."""
    if isinstance(fitted, Pipeline) and not hasattr(fitted, "transform"):
        return surface.asked(fitted[-1], fitted[:-1].transform(rows), groups)
    return surface.asked(fitted, rows, groups)


def assert_answers_as_recorded(fitted, folder):
    """Sums of another machine round otherwise; a head's are of float32."""
    with np.load(folder / "answer.npz", allow_pickle=False) as told:
        found = answer(fitted, told["rows"], told["groups"])
        atol = 1e-5 * np.ptp(told["found"])
        assert np.ptp(told["found"]) > 0.1
        assert_allclose(found, told["found"], rtol=0, atol=atol)


@pytest.mark.parametrize("number", FORMATS)
def test_a_mitigation_of_each_format_is_read(number):
    found = load_mitigation(SAVED / number / "mitigation")
    assert_allclose(found.transform(FACES.X), whitening().transform(FACES.X), rtol=1e-5)


def saved(kind):
    """What folders of all formats hold of a kind."""
    return [
        pytest.param(path, id=f"{path.parts[-3]}-{path.name}")
        for number in FORMATS
        for path in sorted((SAVED / number / kind).glob("*"))
    ]


@pytest.mark.parametrize("folder", saved("mitigations"))
def test_a_mitigation_of_each_class_answers_as_recorded(folder):
    assert_answers_as_recorded(load_mitigation(folder), folder)


@pytest.mark.parametrize("folder", saved("heads"))
def test_a_head_of_each_class_answers_as_recorded(folder):
    pytest.importorskip("torch")
    made = getattr(skfairfr.projectors, folder.name)
    fitted = made.load(folder / "head.safetensors")
    assert type(fitted) is made
    assert_answers_as_recorded(fitted, folder)


def test_every_class_that_can_be_saved_has_a_file():
    """Whatever has a public name, has a fit, and is no abstract base."""
    pytest.importorskip("torch")
    folder = SAVED / FORMATS[-1]
    written = {path.name for path in (folder / "heads").iterdir()}
    for path in (folder / "mitigations").iterdir():
        index = json.loads((path / "system.json").read_text())
        written |= {step["class"] for step in index["steps"]}
    public = {
        name
        for package in (skfairfr.comparators, skfairfr.projectors)
        for name in package.__all__
        if hasattr(getattr(package, name), "fit")
    }
    assert len(public) > 10
    assert public - {"Comparator"} <= written


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(SAVED / FORMATS[-1] / "mitigation", tmp_path / "copy")


def change(folder, **changes):
    path = folder / "system.json"
    index = json.loads(path.read_text())
    step = index["steps"][0]
    for name, value in changes.items():
        (step if name in step else index)[name] = value
    index["sha256"] = digest_of(index)
    path.write_text(json.dumps(index))


@pytest.mark.parametrize("number", [0, 99, "one", None])
def test_a_later_format_says_so(folder, number):
    change(folder, format=number, version="9.9")
    with pytest.raises(ValueError, match=r"system.json' has format .*reads.*9\.9"):
        load_mitigation(folder)


def test_files_before_formats_were_numbered_are_read(folder):
    path = folder / "system.json"
    index = json.loads(path.read_text())
    del index["format"], index["version"], index["steps"][0]["sha256"], index["sha256"]
    path.write_text(json.dumps(index))
    assert load_mitigation(folder).transform(FACES.X).shape == FACES.X.shape
    check_format({}, 5, path)


def test_arrays_of_another_mitigation_are_not_read(folder):
    """A writer that is stopped in a folder of others may leave such two files."""
    other = WithinClassWhitening(shrinkage=0.4).fit(FACES.X, LABELS)
    save_mitigation(other, folder.parent / "other")
    (name,) = (path.name for path in folder.glob("*.npz"))
    shutil.copyfile(folder.parent / "other" / name, folder / name)
    with pytest.raises(ValueError, match="is not the file that"):
        load_mitigation(folder)


def test_a_changed_number_of_the_index_is_noticed(folder):
    path = folder / "system.json"
    text = path.read_text()
    assert text.count("0.5") == 1
    path.write_text(text.replace("0.5", "0.7"))
    with pytest.raises(ValueError, match=r"system.json' is damaged.*changed after"):
        load_mitigation(folder)


@pytest.mark.parametrize("name", ["../other.npz", "/etc/passwd", "missing.npz"])
def test_files_elsewhere_are_not_read(folder, name):
    change(folder, file=name)
    with pytest.raises(ValueError, match="is no file beside it"):
        load_mitigation(folder)


@pytest.mark.parametrize(
    "names",
    [
        # A function that starts a program, and a module that reads pickles.
        {"module": "sklearn.utils._testing", "class": "check_output"},
        {"module": "sklearn.datasets._covtype", "class": "joblib"},
        {"module": "sklearn.datasets", "class": "fetch_openml"},
        {"module": "sklearn.pipeline", "class": "Bunch"},
        {"module": "sklearn.decomposition", "class": "PCA"},
        {"module": "sklearn.base", "class": "NoSuchClass"},
    ],
)
def test_what_is_no_estimator_is_not_called(folder, names, tmp_path):
    ran = tmp_path / "ran"
    arguments = {"args": ["touch", str(ran)]}
    change(folder, parameters=arguments, **names)
    with pytest.raises(ValueError, match="is no estimator of this version"):
        load_mitigation(folder)
    assert not ran.exists()
