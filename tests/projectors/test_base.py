"""What every transformer shares, asked of EthicalModule: data in, unit rows out."""

import tracemalloc
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skfairfr import face_labels
from skfairfr.utils import ArgumentError
from tests.projectors.faces import (
    GROUP,
    IDENTITY,
    MORE,
    Counting,
    X,
    Y,
    assert_same_bits,
    losses,
    module,
)


@cache
def trained():
    """A fit that many tests look at."""
    return module().fit(X, Y)


def test_rows_are_unit_float32():
    for dtype in (np.float16, np.float32, np.float64):
        Z = trained().transform(X.astype(dtype))
        assert Z.dtype == np.float32 and Z.shape == X.shape
        assert_allclose(np.linalg.norm(Z, axis=1), 1, atol=1e-6)
        assert_allclose(Z, trained().transform(X), atol=5e-3)
    assert_array_equal(
        trained().transform(X.astype(np.float64)), trained().transform(X)
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_a_memory_map_gives_the_same_bits(tmp_path, dtype):
    np.save(tmp_path / "x.npy", X.astype(dtype))
    on_disk = np.load(tmp_path / "x.npy", mmap_mode="r")
    options = {"validation_fraction": 0.3, "head": "residual"}
    mapped = module(**options).fit(on_disk, Y)
    in_memory = module(**options).fit(X.astype(dtype), Y)
    assert_same_bits(mapped, in_memory)
    assert_array_equal(mapped.transform(on_disk), in_memory.transform(on_disk))


def test_a_memory_map_is_not_copied_whole(tmp_path):
    shape = (20_000, 128)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal(shape)
    np.save(tmp_path / "x.npy", rows)
    del rows
    on_disk = np.load(tmp_path / "x.npy", mmap_mode="r")
    y = face_labels(np.arange(shape[0]) % 50, np.arange(shape[0]) % 50 % 2)
    tracemalloc.start()
    module(max_epochs=1, batch_size=1024, groups=None).fit(on_disk, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Labels and their codes are held: five numbers a row.
    assert peak < 0.5 * on_disk.nbytes


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_frames_in_and_the_history_out(library):
    rows = library.DataFrame({f"f{i}": X[:, i] for i in range(16)})
    labels = library.DataFrame({"identity": IDENTITY, "group": GROUP})
    fitted = module().fit(rows, labels)
    assert_array_equal(fitted.centroids_, trained().centroids_)
    assert isinstance(fitted.history_, library.DataFrame)
    assert fitted.feature_names_in_.tolist() == list(rows.columns)
    beside = module().fit(X, labels["identity"], labels["group"])
    assert isinstance(beside.history_, library.DataFrame)


def test_held_out_people_are_never_trained_on():
    seen = Counting()
    fitted = module(validation_fraction=0.3, callbacks=[seen]).fit(X, Y)
    assert fitted.identities_.size == 28
    own = np.isin(IDENTITY, fitted.identities_)
    trained = {row.tobytes() for x, _ in seen.batches for row in x.numpy()}
    assert trained == {row.tobytes() for row in X[own]}


def test_without_held_out_people_only_the_loss_can_be_watched():
    with pytest.raises(ValueError, match=r"monitor is 'bfar', .* validation people"):
        module(monitor="bfar").fit(X, Y)


def test_a_sampler_is_asked_with_the_people_trained_on():
    asked = []

    def sampler(identity, group, generator):
        asked.append((identity, group))
        return np.flatnonzero(group == 0)

    seen = Counting()
    options = {"sampler": sampler, "validation_fraction": 0.3}
    fitted = module(callbacks=[seen], **options).fit(X, Y)
    assert len(asked) == 3
    identity, group = asked[0]
    assert len(identity) == len(group) == 112
    # Codes of sorted labels: 0 is female, 1 is male.
    assert set(fitted.identities_[identity[group == 0]]) == set(
        IDENTITY[GROUP == "female"]
    ) & set(fitted.identities_)
    drawn = {int(k) for _, y in seen.batches for k in y}
    assert drawn == set(identity[group == 0].tolist())


def test_warm_start_goes_on_from_where_it_was():
    warm = module(warm_start=True)
    seen = Counting()
    warm.fit(X, Y).set_params(callbacks=[seen])
    first = warm.centroids_, warm.transform(X), losses(warm)["train_loss"]
    warm.fit(X, Y)
    assert losses(warm)["epoch"] == [1, 2, 3, 4, 5, 6]
    assert losses(warm)["train_loss"][:3] == first[2]
    assert losses(warm)["train_loss"][3] < first[2][2]
    # One tiny step more leaves all nearly where it was.
    still = module(warm_start=True).fit(X, Y).set_params(lr=1e-9).fit(X, Y)
    assert_allclose(still.centroids_, first[0], atol=1e-5)
    assert_allclose(still.transform(X), first[1], atol=1e-5)


def test_warm_start_keeps_the_people_it_knows():
    warm = module(warm_start=True).fit(X, Y)
    known = dict(zip(warm.identities_.tolist(), warm.centroids_, strict=True))
    some = IDENTITY < 30
    rows = np.r_[X[some], MORE.X]
    y = face_labels(
        np.r_[IDENTITY[some], 1000 + MORE.y],
        np.r_[GROUP[some], MORE.sensitive_features],
    )
    warm.set_params(lr=1e-9, max_epochs=1).fit(rows, y)
    assert warm.identities_.size == 30 + 120
    Z, found = (
        warm.transform(rows),
        dict(zip(warm.identities_, warm.centroids_, strict=True)),
    )
    for who in range(30):
        assert_allclose(found[who], known[who], atol=1e-5)
    mean = Z[y["identity"] == 1003].sum(0)
    assert_allclose(found[1003], mean / np.linalg.norm(mean), atol=1e-5)


@pytest.mark.parametrize(
    ("options", "rows", "asked"),
    [
        ({}, X[:, :8], r"\('mlp', 8, 16, 8\)"),
        ({"hidden_dim": 5}, X, r"\('mlp', 16, 5, 16\)"),
        ({"head": "residual"}, X, r"\('residual', 16, 32, 16\)"),
    ],
)
def test_warm_start_with_another_head_is_an_error(options, rows, asked):
    warm = module(warm_start=True).fit(X, Y).set_params(**options)
    with pytest.raises(ValueError, match=r"\('mlp', 16, 32, 16\).*ask for " + asked):
        warm.fit(rows, Y)


@pytest.mark.parametrize("head", ["mlp", "residual"])
def test_centroids_start_from_the_means_of_projected_images(head):
    options = {"head": head, "lr": 1e-9, "max_epochs": 1}
    fitted = module(init="means", **options).fit(X, Y)
    projected = fitted.transform(X)
    for who, centroid in zip(fitted.identities_, fitted.centroids_, strict=True):
        mean = projected[who == IDENTITY].sum(0)
        assert_allclose(centroid, mean / np.linalg.norm(mean), atol=1e-5)
    drawn = module(init="random", **options).fit(X, Y)
    assert np.abs(drawn.centroids_ - fitted.centroids_).max() > 0.5


@pytest.mark.parametrize(
    ("rows", "y", "message"),
    [
        (X[:, :1], Y, "1 feature.* minimum of 2"),
        (np.where(X > 0.5, np.nan, X), Y, "NaN"),
        (X[:100], Y, "y has 160 rows but X has 100"),
        (X, np.zeros(160), "one identity"),
    ],
)
def test_bad_data_are_errors(rows, y, message):
    with pytest.raises(ValueError, match=message):
        module().fit(rows, y)


def test_options_that_do_not_fit_the_data_or_diverge_are_named():
    with pytest.raises(ArgumentError, match=r"output_dim must be the 16 .*'mlp'"):
        module(head="residual", output_dim=8).fit(X, Y)
    diverging = module(lr=1e30, optimizer=torch.optim.SGD, max_epochs=9)
    with pytest.raises(ArgumentError, match=r"lr is too high: .* became"):
        diverging.fit(X, Y)


def test_the_same_seed_gives_the_same_bits():
    assert_same_bits(clone(trained()).fit(X, Y), trained())
    other = module(random_state=1).fit(X, Y)
    assert not np.array_equal(trained().transform(X), other.transform(X))
