"""SimilarityROC on a device: the same answers, and errors that name the remedy.

A stand-in for the device runs the pass on the CPU's tensors; one test asks for a real one.
"""

from dataclasses import fields

import pytest
from numpy.testing import assert_array_equal

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core import _pair_tiles, _pairs
from skfairfr.metrics._roc import _similarities

FACES = make_face_embeddings(n_identities=150, n_features=32, random_state=0)
LEVELS = [1e-3, 1e-2]
QUESTIONS = (
    {},
    {"rate": "far", "group": "female"},
    {"rate": "far", "how": "max_min", "operating_point": "worst_group"},
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
]


@pytest.fixture
def stand_in(monkeypatch):
    """The CPU's tensors in place of a device; gives the device and kind of every pass."""
    pytest.importorskip("torch")
    passes = []
    names = {"collect_tail_on_device": 3}

    def on_the_cpu(name, place, function):
        def called(*arguments):
            passes.append((name, arguments[place]))
            return function(*arguments[:place], "cpu", *arguments[place + 1 :])

        return called

    for name, place in names.items():
        function = getattr(_pair_tiles, name)
        monkeypatch.setattr(_pair_tiles, name, on_the_cpu(name, place, function))
    for module in (_pair_tiles, _similarities):
        monkeypatch.setattr(module, "is_available", lambda device: device != "cpu")
    return passes


def fitted(monkeypatch, device="cpu", faces=FACES, **options):
    """A fit whose tail is not simply everything."""
    monkeypatch.setattr(_pairs, "WHOLE", 0)
    monkeypatch.setattr(_pairs, "WHOLE_GROUP", 0)
    options = {"n_resamples": 5, "random_state": 0, "far_max": 2e-2, **options}
    roc = SimilarityROC(device=device, **options)
    return roc.fit(faces.X, faces.y, faces.sensitive_features)


def assert_same_answers(one, other, levels=LEVELS):
    for question in QUESTIONS:
        found = [roc.estimate(levels, **question) for roc in (one, other)]
        for name in (f.name for f in fields(found[0])):
            assert_array_equal(*(getattr(record, name) for record in found))
        replicates = [roc.resamples(levels, **question) for roc in (one, other)]
        assert_array_equal(*replicates)


@pytest.mark.slow
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_a_device_gives_the_answers_of_the_cpu(similarity, stand_in, monkeypatch):
    cpu = fitted(monkeypatch, similarity=similarity)
    assert stand_in == []
    there = fitted(monkeypatch, "cuda:1", similarity=similarity)
    assert stand_in == [("collect_tail_on_device", "cuda:1")]
    held = [roc._engine.pairs.compared.tail() for roc in (cpu, there)]
    assert 100 < held[0].scores.size < cpu._engine.pairs.count(None) / 10
    for name in ("scores", "left", "right"):
        assert_array_equal(*(getattr(sequence, name) for sequence in held))
    assert_same_answers(cpu, there)


def fit(device):
    return SimilarityROC(device=device).fit(FACES.X, FACES.y)


@pytest.mark.parametrize(
    "device", ["tpu", "meta", "auto", "", "cuda:", "cuda:-1", "cpu:0"]
)
def test_unknown_devices_are_errors(device):
    with pytest.raises(ValueError, match="'cpu', 'cuda' or 'cuda:' with an index, got"):
        fit(device)


@pytest.mark.parametrize("device", ["cuda", "cuda:7"])
def test_a_device_that_is_not_there_is_an_error(device, monkeypatch):
    monkeypatch.setattr(_similarities, "missing", lambda names: [])
    monkeypatch.setattr(_similarities, "is_available", lambda device: False)
    message = f"device '{device}' .* device='cpu'"
    with pytest.raises(ValueError, match=message):
        fit(device)


def test_a_missing_torch_names_the_extra(monkeypatch):
    monkeypatch.setattr(_similarities, "missing", list)
    message = r"device='cuda' needs torch.*skfairfr\[mitigate\].*device='cpu'"
    with pytest.raises(ImportError, match=message):
        fit("cuda")
    assert fit("cpu").n_features_in_ == 32


def test_a_card_gives_the_answers_of_the_cpu(monkeypatch):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    assert_same_answers(fitted(monkeypatch), fitted(monkeypatch, "cuda"))
