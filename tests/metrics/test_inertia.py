"""Facts of the inertia of identities."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr import face_labels, make_face_embeddings
from skfairfr.metrics import identity_inertia

FACES = make_face_embeddings(
    n_identities=40, images_per_identity=(1, 6), n_features=8, random_state=0
)
GROUPS = FACES.sensitive_features


def loop_inertia(X, y, min_images=2):
    """Appendix E of EM22 as it is written, one identity and one image at a time."""
    found = {}
    for identity in sorted(set(y.tolist())):
        images = [x / np.linalg.norm(x) for x in np.float64(X[y == identity])]
        if len(images) < min_images:
            continue
        mean = sum(images) / len(images)
        centre = mean / np.linalg.norm(mean)
        squares = [np.linalg.norm(z - centre) ** 2 for z in images]
        found[identity] = sum(squares) / len(images)
    return found


@pytest.mark.parametrize("min_images", [2, 4])
def test_inertia_is_that_of_a_loop(min_images):
    expected = loop_inertia(FACES.X, FACES.y, min_images)
    found = identity_inertia(FACES.X, FACES.y, min_images=min_images)
    assert found.identities.tolist() == list(expected)
    assert_allclose(found.inertia, list(expected.values()), rtol=1e-12)
    assert found.n_images.tolist() == [(FACES.y == i).sum() for i in found.identities]
    assert found.n_images.min() >= min_images


def test_groups_may_travel_inside_y():
    expected = identity_inertia(FACES.X, FACES.y, sensitive_features=GROUPS)
    found = identity_inertia(FACES.X, face_labels(FACES.y, GROUPS))
    for field in dataclasses.fields(found):
        assert_array_equal(getattr(found, field.name), getattr(expected, field.name))
    true = FACES.group_of_identity[found.identities]
    assert found.groups.tolist() == true.tolist()


def test_the_group_is_what_the_known_labels_agree_on():
    y = np.repeat(["agreed", "disputed", "unknown"], 3)
    groups = ["f", None, "f", "f", "m", "f", None, None, None]
    X = np.random.default_rng(0).normal(size=(9, 3))
    with pytest.warns(UserWarning, match="1 identities disagree .* 'disputed'") as seen:
        found = identity_inertia(X, y, sensitive_features=groups)
    assert found.groups.tolist() == ["f", None, None]
    assert seen[0].filename == __file__


def test_the_frame_has_one_row_for_each_identity():
    found = identity_inertia(FACES.X, FACES.y, sensitive_features=GROUPS)
    frame = found.to_frame("polars")
    assert frame.columns == ["identity", "group", "inertia", "n_images"]
    assert frame["inertia"].to_list() == found.inertia.tolist()
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.inertia = None


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (FACES.X, FACES.y[1:], {}, "y has .* rows but X has"),
        (FACES.X, FACES.y, {"min_images": 1}, "min_images must be an integer from 2"),
        (FACES.X, FACES.y, {"min_images": 7}, "The most that one has is 6"),
        ([[0.0, 0.0], [1.0, 0.0]], [0, 0], {}, r"X has a zero row \(0"),
    ],
)  # fmt: skip
def test_refused(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        identity_inertia(X, y, **options)
