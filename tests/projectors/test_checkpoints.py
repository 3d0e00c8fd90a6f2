"""Which file a fit that was broken off goes on from, and what it makes of a bad one."""

import numpy as np
import pytest

from skfairfr import face_labels
from tests.projectors.faces import (
    GROUP,
    IDENTITY,
    NOISY,
    NOISY_LR,
    Breaking,
    Counting,
    Stop,
    X,
    Y,
    assert_same_bits,
    every_other_twice,
    module,
)


def break_off(directory, epoch, at, X=X, y=Y, **options):
    with pytest.raises(Stop):
        module(
            checkpoint_dir=directory, callbacks=[Breaking(epoch, at=at)], **options
        ).fit(X, y)


def go_on(directory, X=X, y=Y, **options):
    """The fit again, and how many epochs it ran."""
    seen = Counting()
    options = {"checkpoint_dir": directory, "callbacks": [seen], **options}
    return module(**options).fit(X, y), seen.n_begun


def test_after_patience_ended_nothing_is_trained(tmp_path):
    options = {"validation_fraction": 0.3, "lr": NOISY_LR}
    options |= {"patience": 2, "max_epochs": 12}
    whole = module(**options).fit(NOISY, Y)
    break_off(tmp_path, len(whole.history_), "epoch", NOISY, **options)
    resumed, n_run = go_on(tmp_path, NOISY, **options)
    assert n_run == 0 and len(whole.history_) < options["max_epochs"]
    assert_same_bits(resumed, whole)


@pytest.mark.parametrize(
    "options",
    [
        {"random_state": 1},
        {"kappas": {"male": 25.0, "female": 16.0}},
        {"max_epochs": 4},
        {"sampler": every_other_twice},
        {"validation_fraction": 0.3},
    ],
)
def test_other_options_are_another_fit(tmp_path, options):
    break_off(tmp_path, 2, "epoch")
    _, n_run = go_on(tmp_path, **options)
    assert n_run == options.get("max_epochs", 3)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.where(np.arange(160)[:, None] == 80, 0.1, X), Y),
        (X, face_labels(IDENTITY[::-1], GROUP[::-1])),
        (X, face_labels(IDENTITY.astype(str), GROUP)),
        (X[:-4], Y[:-4]),
    ],
)
def test_other_data_are_another_fit(tmp_path, X, y):
    break_off(tmp_path, 2, "epoch")
    assert go_on(tmp_path, X, y)[1] == 3


@pytest.mark.parametrize("content", [b"not a checkpoint", None])
def test_a_broken_file_is_named(tmp_path, content):
    break_off(tmp_path, 2, "epoch")
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:500] if content is None else content)
    with pytest.raises(ValueError, match=f"{path.name}' is no file.*delete it"):
        go_on(tmp_path)


def test_a_directory_is_made(tmp_path):
    go_on(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
