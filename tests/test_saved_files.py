"""Files of every format that was ever written are read, or say why not.

A folder of ``tests/saved`` holds files of one format. A new format has a folder of its own,
made by ``python -c "from tests.test_saved_files import write; write('tests/saved/3')"``;
the others stay as they are.
"""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr import face_labels, make_face_embeddings
from skfairfr.comparators import WithinClassWhitening
from skfairfr.model_selection import load_mitigation, save_mitigation
from skfairfr.utils._json_form import check_format, digest_of

FACES = make_face_embeddings(20, 3, 4, random_state=0)
LABELS = face_labels(FACES.y, FACES.sensitive_features)
SAVED = Path(__file__).parent / "saved"
FORMATS = sorted(folder.name for folder in SAVED.iterdir() if folder.is_dir())


def whitening():
    return WithinClassWhitening(shrinkage=0.5).fit(FACES.X, LABELS)


def projector(**options):
    """Two epochs; files are a few kilobytes."""
    from skfairfr import EthicalModule

    fixed = {"hidden_dim": 4, "max_epochs": 2, "random_state": 0}
    return EthicalModule(**fixed, **options).fit(FACES.X, LABELS)


def write(folder):
    """Files of the present format."""
    folder = Path(folder)
    save_mitigation(whitening(), folder / "mitigation")
    projector().save(folder / "head.safetensors")
    projector(checkpoint_dir=folder, callbacks=[copying(folder)])


def copying(folder):
    """A callback that keeps the first epoch's checkpoint, which ends with the fit."""
    from skorch.callbacks import Callback

    class Copying(Callback):
        def on_epoch_begin(self, net, **kwargs):
            for path in folder.glob("EthicalModule-*.pt"):
                shutil.copyfile(path, folder / "checkpoint.pt")

    return Copying()


@pytest.mark.parametrize("number", FORMATS)
def test_a_mitigation_of_each_format_is_read(number):
    found = load_mitigation(SAVED / number / "mitigation")
    assert_allclose(found.transform(FACES.X), whitening().transform(FACES.X), rtol=1e-5)


@pytest.mark.parametrize("number", FORMATS)
def test_a_head_of_each_format_is_read(number, tmp_path):
    torch = pytest.importorskip("torch")
    from safetensors.numpy import load_file

    from skfairfr import EthicalModule

    path = SAVED / number / "head.safetensors"
    found = EthicalModule.load(path)
    stored = load_file(path)
    for name, weight in found.head_.state_dict().items():
        assert_array_equal(weight, torch.from_numpy(stored[f"head_.{name}"]))
    again = tmp_path / "head.safetensors"
    found.save(again)
    assert_array_equal(
        EthicalModule.load(again).transform(FACES.X), found.transform(FACES.X)
    )


@pytest.mark.parametrize("number", FORMATS)
def test_a_checkpoint_of_each_format_is_read(number, tmp_path):
    torch = pytest.importorskip("torch")
    from skfairfr.projectors._callbacks import read_checkpoint

    path = SAVED / number / "checkpoint.pt"
    assert len(json.loads(read_checkpoint(path)["history"])) == 1
    later = tmp_path / "later.pt"
    torch.save({**read_checkpoint(path), "format": 99}, later)
    with pytest.raises(ValueError, match=r"has format 99.*delete it to start anew"):
        read_checkpoint(later)


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


@pytest.mark.parametrize("number", FORMATS)
def test_a_flipped_bit_of_a_head_is_noticed(number, tmp_path):
    """Of the first format, where it stands in the header, if at all."""
    pytest.importorskip("torch")
    from skfairfr import EthicalModule

    data = (SAVED / number / "head.safetensors").read_bytes()
    path = tmp_path / "head.safetensors"
    for place in range(len(data) - 200, len(data), 7):
        flipped = data[place] ^ 1 << place % 8
        path.write_bytes(data[:place] + bytes([flipped]) + data[place + 1 :])
        if number == "1":
            EthicalModule.load(path)
            continue
        with pytest.raises(ValueError, match=r"head.safetensors' is damaged"):
            EthicalModule.load(path)


@pytest.mark.parametrize("number", FORMATS[2:])
def test_a_flipped_bit_of_a_checkpoint_is_noticed(number, tmp_path):
    """In its tensors and its history; not all of an archive is read."""
    pytest.importorskip("torch")
    from skfairfr.projectors._callbacks import read_checkpoint

    written = SAVED / number / "checkpoint.pt"
    with zipfile.ZipFile(written) as archive:
        names = [name for name in archive.namelist() if "/data/" in name]
        parts = [archive.read(name) for name in names]
    parts.append(read_checkpoint(written)["history"].encode())
    data, path = written.read_bytes(), tmp_path / "checkpoint.pt"
    found_once = [part for part in parts if data.count(part) == 1]
    assert len(found_once) > 10
    for part in found_once:
        for place in {0, len(part) // 2, len(part) - 1}:
            flipped = bytearray(data)
            flipped[data.index(part) + place] ^= 1
            path.write_bytes(flipped)
            with pytest.raises(ValueError, match=r"checkpoint.pt cannot be read"):
                read_checkpoint(path)


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
