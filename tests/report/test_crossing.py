"""Every cell is counted, the empty and the unknown ones too."""

import numpy as np

from skfairfr.report._crossing import cross
from skfairfr.report._data import Faces, ScoredPairs

Y = np.array([1, 1, 2, 3, 3])
COLUMNS = {
    "gender": np.array(["f", "f", "m", "m", "m"]),
    "origin": np.array(["x", "x", "y", "y", None], dtype=object),
}


def test_people_and_images_in_each_cell():
    crossing = cross(Faces(np.eye(5), Y, COLUMNS), ("gender", "origin"))
    found = {c.groups: (c.n_identities, c.n_images) for c in crossing.cells}
    assert found == {
        ("f", "x"): (1, 2),
        ("f", "y"): (0, 0),
        ("f", None): (0, 0),
        ("m", "x"): (0, 0),
        ("m", "y"): (2, 2),
        ("m", None): (1, 1),
    }


def test_scored_pairs_count_each_person_once():
    pairs = {"g": (["f", "f"], ["f", "m"]), "h": (["x", "x"], ["x", "x"])}
    data = ScoredPairs([0.9, 0.1], ([1, 1], [1, 2]), pairs)
    cells = cross(data, ("g", "h")).cells
    assert [(c.n_identities, c.n_images) for c in cells] == [(1, None), (1, None)]
