"""Synthetic embeddings have the shapes, the groups and the disparities asked for."""

import mpmath
import numpy as np
import pytest

from skfairfr.datasets import make_face_embeddings
from skfairfr.utils import ArgumentError

TWO = {"a": 0.5, "b": 0.5}


def small(**changed):
    options = {"n_identities": 40, "n_features": 16, "random_state": 0} | changed
    return make_face_embeddings(**options)


def pairs(faces):
    """Scores of all pairs, whether genuine, and the groups and domains of both images."""
    i, j = np.triu_indices(len(faces.y), 1)
    scores = (faces.X @ faces.X.T)[i, j]
    a = faces.sensitive_features
    return scores, faces.y[i] == faces.y[j], a[i], a[j]


def mean_scores(faces, group):
    """Mean genuine and mean impostor score within a group."""
    scores, genuine, a_i, a_j = pairs(faces)
    within = (a_i == group) & (a_j == group)
    return scores[within & genuine].mean(), scores[within & ~genuine].mean()


def resultant(d, kappa):
    order = mpmath.mpf(d) / 2
    return float(mpmath.besseli(order, kappa) / mpmath.besseli(order - 1, kappa))


def assert_same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name])


# What a draw looks like


@pytest.mark.parametrize(("n_features", "n_domains"), [(2, 1), (16, 3)])
def test_shapes_and_types(n_features, n_domains):
    faces = small(n_features=n_features, n_domains=n_domains)
    n = len(faces.y)
    assert faces.X.shape == (n, n_features) and faces.X.dtype == np.float32
    assert faces.y.shape == faces.sensitive_features.shape == (n,)
    assert faces.y.dtype == np.int64
    assert faces.kappa.shape == faces.group_of_identity.shape == (40,)
    assert faces.centroids.shape == (40, n_features)
    assert (faces.domain is None) if n_domains == 1 else (faces.domain.shape == (n,))


@pytest.mark.parametrize(("kappa", "n_domains"), [(0, 1), (1, 2), (1e6, 2)])
def test_rows_are_unit(kappa, n_domains):
    faces = small(kappa=kappa, n_domains=n_domains)
    norms = np.linalg.norm(faces.X.astype(float), axis=1)
    np.testing.assert_allclose(norms, 1, rtol=2e-7)
    np.testing.assert_allclose(np.linalg.norm(faces.centroids, axis=1), 1, rtol=1e-14)


@pytest.mark.parametrize(
    ("shares", "n_identities", "counts"),
    [
        ({"male": 0.65, "female": 0.35}, 1000, [650, 350]),
        ({"a": 0.5, "b": 0.5}, 7, [4, 3]),
        ({"a": 0.29, "b": 0.71}, 50, [15, 35]),
        ({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}, 100, [34, 33, 33]),
        ({"a": 1}, 5, [5]),
    ],
)
def test_identities_are_apportioned_by_largest_remainder(shares, n_identities, counts):
    faces = small(groups=shares, n_identities=n_identities, images_per_identity=1)
    found = [(faces.group_of_identity == group).sum() for group in shares]
    assert found == counts


@pytest.mark.parametrize("labels", [("m", "f"), (0, 1), (2.5, 1.5), (True, False)])
def test_labels_keep_their_type(labels):
    faces = small(groups=dict(zip(labels, [0.5, 0.5], strict=True)))
    assert set(faces.sensitive_features.tolist()) == set(labels)
    assert {type(v) for v in faces.sensitive_features.tolist()} == {type(labels[0])}


@pytest.mark.parametrize("images", [1, 4, (1, 1), (2, 5), [3, 4]])
def test_number_of_images_covers_its_range(images):
    faces = small(n_identities=200, images_per_identity=images)
    low, high = (images, images) if isinstance(images, int) else images
    counts = np.bincount(faces.y, minlength=200)
    assert set(counts.tolist()) == set(range(low, high + 1))


def test_order_of_rows_and_identities_says_nothing():
    faces = small(n_identities=400, groups=TWO)
    n = len(faces.y)
    assert (np.diff(faces.y) == 0).sum() < 0.02 * n
    is_a = faces.group_of_identity == "a"
    # Under random order the mean position has this standard deviation.
    error = 400 / np.sqrt(12 * 400)
    assert abs(np.flatnonzero(is_a).mean() - 199.5) < 4.5 * error


# The parameters do what they say


@pytest.mark.parametrize(("d", "kappa"), [(3, 2.0), (16, 30.0), (128, 400.0)])
def test_mean_genuine_score_is_the_squared_resultant(d, kappa):
    faces = small(n_features=d, kappa=kappa, heterogeneity=0, n_identities=300)
    own = (faces.X * faces.centroids[faces.y]).sum(axis=1)
    a = resultant(d, kappa)
    assert abs(own.mean() - a) < 4.5 * own.std() / np.sqrt(own.size)
    scores, genuine, *_ = pairs(faces)
    # An identity's pairs are dependent: its sum of images gives its mean score.
    sums = np.zeros((300, d))
    np.add.at(sums, faces.y, faces.X)
    n = np.bincount(faces.y)
    of_identity = ((sums**2).sum(axis=1) - n) / (n * (n - 1))
    error = of_identity.std() / np.sqrt(300)
    assert abs(of_identity.mean() - a**2) < 4.5 * error
    assert scores[genuine].mean() == pytest.approx(a**2, abs=6 * error)


@pytest.mark.parametrize("h", [0, 0.3, 1])
def test_concentrations_are_log_normal_about_their_group(h):
    kappa = {"a": 50.0, "b": 7.0}
    faces = small(n_identities=2000, heterogeneity=h, kappa=kappa, groups=TWO)
    for group, centre in kappa.items():
        logs = np.log(faces.kappa[faces.group_of_identity == group] / centre)
        assert abs(logs.mean()) <= 4.5 * h / np.sqrt(1000) + 1e-14
        assert logs.std() == pytest.approx(h, rel=0.1, abs=1e-14)


@pytest.mark.parametrize("name", ["kappa", "crowding"])
def test_one_number_is_that_number_for_every_group(name):
    assert_same(small(**{name: 9}), small(**{name: {"male": 9.0, "female": 9.0}}))


def test_without_given_concentrations_the_last_group_is_worst():
    faces = small(groups={"x": 0.3, "y": 0.3, "z": 0.4}, heterogeneity=0)
    kappa = [faces.kappa[faces.group_of_identity == g][0] for g in "xyz"]
    assert kappa[0] > kappa[1] > kappa[2]
    faces = make_face_embeddings(n_identities=300, groups=TWO, random_state=1)
    genuine_a, impostor_a = mean_scores(faces, "a")
    genuine_b, impostor_b = mean_scores(faces, "b")
    assert genuine_b < genuine_a and impostor_b > impostor_a


# Domains


@pytest.mark.parametrize("n_domains", [2, 3])
def test_identities_with_two_images_have_two_domains(n_domains):
    faces = small(images_per_identity=(1, 5), n_domains=n_domains)
    assert set(faces.domain.tolist()) == {f"domain_{j}" for j in range(n_domains)}
    for k in range(40):
        own = faces.domain[faces.y == k]
        assert len(set(own.tolist())) == min(len(own), n_domains)


def test_domain_shift_adds_one_direction():
    one, two = small(), small(n_domains=2, domain_shift=0.7)
    moved = two.domain == "domain_1"
    np.testing.assert_array_equal(two.X[~moved], one.X[~moved])
    np.testing.assert_array_equal(two.y, one.y)
    # An enormous shift leaves nothing but its direction.
    direction = small(n_domains=2, domain_shift=1e9).X[moved][0].astype(float)
    expected = one.X[moved] + 0.7 * direction
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(two.X[moved], expected, atol=1e-6)


# Directions and nuisance


@pytest.mark.parametrize(("given", "people", "images"), [(5, 5, 5), ((3, 7), 3, 7)])
def test_people_and_images_vary_in_the_directions_given(given, people, images):
    faces = small(n_directions=given, n_identities=200)
    assert np.linalg.matrix_rank(faces.centroids) == people
    assert np.linalg.matrix_rank(faces.X.astype(float), rtol=1e-5) == images
    together = np.vstack([faces.centroids, faces.X])
    assert np.linalg.matrix_rank(together, rtol=1e-5) == images
    np.testing.assert_allclose(np.linalg.norm(faces.X, axis=1), 1, atol=1e-6)


def test_other_features_only_turn_the_directions():
    few, many = (small(n_directions=6, n_features=d) for d in (6, 80))
    np.testing.assert_array_equal(few.y, many.y)
    np.testing.assert_allclose(few.X @ few.X.T, many.X @ many.X.T, atol=1e-6)
    whole = small(n_features=6)
    np.testing.assert_allclose(few.X @ few.X.T, whole.X @ whole.X.T, atol=1e-6)


def test_nuisance_moves_images_along_one_direction_of_all_groups():
    plain, moved = small(), small(nuisance={"male": 0.5, "female": 1.5})
    # Enormous ones leave nothing but the direction, and its sign.
    signed = small(nuisance=1e9).X.astype(float)
    direction, signs = signed[0], np.sign(signed @ signed[0])
    np.testing.assert_allclose(signed, signs[:, None] * direction, atol=1e-6)
    # What is at right angles to it was only scaled.
    rest = [X - (X @ direction)[:, None] * direction for X in (plain.X, moved.X)]
    lengths = [np.linalg.norm(r, axis=1, keepdims=True) for r in rest]
    np.testing.assert_allclose(rest[0] / lengths[0], rest[1] / lengths[1], atol=1e-5)
    amount = (moved.X @ direction) / lengths[1][:, 0] * lengths[0][:, 0]
    amount -= plain.X @ direction
    for group, expected in (("male", 0.5), ("female", 1.5)):
        of_group = amount[plain.sensitive_features == group]
        error = expected / np.sqrt(2 * of_group.size)
        assert abs(of_group.std() - expected) < 4 * error
        assert abs(of_group.mean()) < 4 * expected / np.sqrt(of_group.size)


# Randomness


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: seed,
        np.random.RandomState,
        np.random.default_rng,
    ],
)
def test_same_random_state_same_data(make):
    draw = [small(random_state=make(s), n_domains=2) for s in (7, 7, 8)]
    assert_same(draw[0], draw[1])
    assert draw[0].X.shape != draw[2].X.shape or (draw[0].X != draw[2].X).any()


def test_no_random_state_draws_afresh_and_leaves_the_global_one_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = small(random_state=None), small(random_state=None)
    small(random_state=3)
    assert (first.centroids != second.centroids).any()
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize(
    "changed", [{"kappa": 3}, {"n_domains": 2}, {"domain_shift": 1}, {"nuisance": 1}]
)
def test_a_parameter_leaves_alone_what_does_not_depend_on_it(changed):
    plain, other = small(), small(**changed)
    np.testing.assert_array_equal(plain.centroids, other.centroids)
    np.testing.assert_array_equal(plain.y, other.y)
    np.testing.assert_array_equal(plain.sensitive_features, other.sensitive_features)


# Errors


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"n_identities": 10.0}, r"n_identities must be an integer .* got 10\.0"),
        ({"n_features": 1}, "n_features must be an integer from 2 .* got 1"),
        ({"n_domains": 0}, "n_domains must be an integer from 1 .* got 0"),
        ({"images_per_identity": (5, 2)}, r"low <= high.*got \(5, 2\)"),
        ({"images_per_identity": 2.5}, r"images_per_identity must be.*got 2\.5"),
        ({"groups": {}}, "groups must be a dict.*got {}"),
        ({"groups": {"a": 0.5, "b": 0.6}}, r"groups .* sum to 1.*1\.1\. Divide each"),
        (
            {"groups": {"a": 1.5, "b": -0.5}},
            r"groups\['b'\] must be above 0, got -0\.5",
        ),
        ({"groups": {("a", "b"): 1}}, r"single labels.*got \('a', 'b'\)"),
        ({"groups": {"a": 0.999, "b": 0.001}}, "groups leave b without any of the 40"),
        ({"kappa": -1}, "kappa must be a finite number of at least 0, got -1"),
        ({"kappa": {"male": 3}}, r"kappa must name exactly the groups \['male', 'fem"),
        ({"kappa": {"male": 3, "female": -2}}, r"kappa\['female'\] must be.*got -2"),
        ({"n_directions": 17}, "n_directions must be an integer .* to 16, got 17"),
        ({"n_directions": (8, 4)}, r"n_directions .*low <= high.*got \(8, 4\)"),
        ({"nuisance": None}, "nuisance must be a finite number.*got None"),
    ],
)
def test_bad_arguments_are_named(changed, words):
    with pytest.raises(ArgumentError, match=words):
        small(**changed)


# The statement in the docstring


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_rates_of_a_default_draw(seed):
    scores, genuine, a_i, a_j = pairs(make_face_embeddings(random_state=seed))
    threshold = np.quantile(scores[~genuine], 1 - 1e-3)
    frr = (scores[genuine] < threshold).mean()
    far_of, frr_of = {}, {}
    for group in ("male", "female"):
        within = (a_i == group) & (a_j == group)
        far_of[group] = (scores[within & ~genuine] >= threshold).mean()
        frr_of[group] = (scores[within & genuine] < threshold).mean()
    far_ratio = far_of["female"] / far_of["male"]
    frr_ratio = frr_of["female"] / frr_of["male"]
    print(f"frr {frr:.3f}, female / male: far {far_ratio:.2f}, frr {frr_ratio:.2f}")
    assert 0.046 <= round(frr, 3) <= 0.062
    assert 3.2 <= round(far_ratio, 1) <= 3.7
    assert 1.7 <= round(frr_ratio, 1) <= 2.8
