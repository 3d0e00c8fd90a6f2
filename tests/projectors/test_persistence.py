"""What is saved comes back: tensors and JSON, no pickle, and clear errors."""

import json
import struct

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_array_equal
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.base import clone

from skfairfr import EthicalModule, TripletProjector
from tests.projectors.faces import (
    IDENTITY,
    X,
    Y,
    assert_same_bits,
    module,
    without_groups,
)


def there_and_back(fitted, path):
    fitted.save(path, include_people=True)
    return EthicalModule.load(path)


@pytest.mark.parametrize(
    "fitted",
    [
        without_groups().fit(X, IDENTITY),
        module(
            kappas={"male": 20.0, "female": np.float64(9)},
            groups=None,
            device=torch.device("cpu"),
        ).fit(X, Y),
        module().set_output(transform="pandas").fit(pd.DataFrame(X).add_prefix("f"), Y),
    ],
    ids=["no groups", "kappas", "frame"],
)
def test_other_fits_come_back(tmp_path, fitted):
    again = there_and_back(fitted, tmp_path / "module")
    assert_array_equal(again.get_feature_names_out(), fitted.get_feature_names_out())
    rows = X
    if hasattr(fitted, "feature_names_in_"):
        rows = pd.DataFrame(X, columns=fitted.feature_names_in_)
    found, expected = again.transform(rows), fitted.transform(rows)
    assert type(found) is type(expected)
    assert_array_equal(found, expected)
    assert again.kappa_ == fitted.kappa_


def test_parameters_without_a_json_form_are_left_out_with_a_warning(tmp_path):
    options = {"random_state": np.random.RandomState(0), "kappas": lambda age: 20.0}
    fitted = module(**options, groups=None).fit(X, IDENTITY, IDENTITY % 7)
    with pytest.warns(UserWarning, match=r"\['kappas', 'random_state'\].*None") as seen:
        fitted.save(tmp_path / "module")
    assert seen[0].filename == __file__
    again = EthicalModule.load(tmp_path / "module")
    assert again.kappas is None and again.random_state is None
    assert again.kappa_ == fitted.kappa_
    assert_array_equal(again.transform(X), fitted.transform(X))


def test_a_loaded_module_can_be_fitted_and_goes_on_warm(tmp_path):
    fitted = module(warm_start=True).fit(X, Y)
    again = there_and_back(fitted, tmp_path / "module")
    assert_same_bits(again.fit(X, Y), fitted.fit(X, Y))
    assert_same_bits(clone(again).fit(X, Y), module().fit(X, Y))


def test_the_file_holds_tensors_and_json_alone(tmp_path):
    module().fit(X, Y).save(tmp_path / "module", include_people=True)
    content = (tmp_path / "module").read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    json.loads(header.pop("__metadata__")["skfairfr"])
    assert {"head_.hidden.weight", "centroids_", "identities_"} <= set(header)
    ends = [tensor["data_offsets"][1] for tensor in header.values()]
    assert len(content) == 8 + size + max(ends)


class OtherModule(EthicalModule):
    """A class of the caller's."""


def test_a_class_of_the_caller_s_is_not_written(tmp_path):
    fitted = module().fit(X, Y)
    fitted.__class__ = OtherModule
    with pytest.raises(ValueError, match=r"OtherModule is no estimator of.*Pickle"):
        fitted.save(tmp_path / "module")
    assert not list(tmp_path.iterdir())


def test_another_class_is_refused(tmp_path):
    module().fit(X, Y).save(tmp_path / "module")
    with pytest.raises(
        ValueError, match=r"path .* contains EthicalModule, not Triplet.*call load"
    ):
        TripletProjector.load(tmp_path / "module")


@pytest.mark.parametrize("content", ["others", "text", 100, -1])
def test_what_is_no_such_file_or_damaged_is_refused(tmp_path, content):
    path = tmp_path / "module"
    module().fit(X, Y).save(path)
    if content == "others":
        save_file({"a": np.zeros(3)}, path, metadata={"by": "somebody"})
    elif content == "text":
        path.write_text("Embeddings of one person.\n" * 20)
    else:
        path.write_bytes(path.read_bytes()[:content])
    with pytest.raises(
        ValueError, match=r"module' is no file.*save the projector again"
    ):
        EthicalModule.load(path)


def test_people_are_left_out_unless_asked_for(tmp_path):
    fitted = module(warm_start=True).fit(X, Y)
    fitted.save(tmp_path / "module")
    with safe_open(tmp_path / "module", framework="np") as file:
        assert all(name.startswith("head_.") for name in file.keys())
    again = EthicalModule.load(tmp_path / "module")
    assert_array_equal(again.transform(X), fitted.transform(X))
    for name in ("centroids_", "identities_"):
        with pytest.raises(AttributeError, match=f"{name} is missing.*include_people"):
            getattr(again, name)
        with pytest.raises(AttributeError, match=name):
            getattr(module(), name)
    # A warm start goes on with the head; everybody starts from their mean.
    again.fit(X, Y)
    assert len(again.history_) == 6 and again.identities_.size == 40
