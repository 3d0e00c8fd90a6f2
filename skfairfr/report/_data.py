"""What an audit is of: embeddings, or scored pairs, with columns of labels.

Both kinds fit a SimilarityROC and tell who stands behind the pairs: one row for each image
of embeddings, two for each scored pair.
"""

from dataclasses import dataclass, field

import numpy as np

from skfairfr.utils._labels import Labels, encode, to_column

NO_FRR = (
    ", so that there is no genuine pair and no FRR can be measured: this is an audit of the "
    "FAR alone. Do the identities name people, and not their images?"
)


@dataclass(frozen=True)
class Faces:
    """Embeddings.

    Attributes
    ----------
    X : array-like, shape (n_samples, n_features)
    y : array-like, shape (n_samples,)
        Identities.
    columns : dict of str -> array-like, shape (n_samples,)
        Attributes; None and NaN are unknown.
    domain : array-like, shape (n_samples,), default=None
        With two values, only pairs across them are compared.
    """

    X: object
    y: object
    columns: dict = field(default_factory=dict)
    domain: object = None

    def fit(self, roc, attributes=()):
        """Fit a SimilarityROC, with the groups of these attributes if there are any."""
        groups = _as_array(self.groups(attributes)) if attributes else None
        return roc.fit(self.X, self.y, groups, domain=self.domain)

    def groups(self, attributes):
        """Labels of the combinations of attributes, one for each row."""
        return _encode([self.columns[name] for name in attributes], attributes)

    def people(self):
        """Codes of the identities, (n_samples,)."""
        return encode(self.y, "y").codes

    def images(self):
        """Codes of the images, (n_samples,)."""
        return np.arange(len(self.X))

    def genuine_pairs(self):
        """Number of genuine pairs of each identity, (n_identities,)."""
        by_side = self._images_by_side()
        if len(by_side) == 2:
            return by_side[0] * by_side[1]
        return by_side[0] * (by_side[0] - 1) // 2

    def lack_of_genuine(self):
        """What there is to say where no FRR can be measured; empty if one can."""
        if self.genuine_pairs().any():
            return ""
        lacking = "No person has two images"
        if self.domain is not None:
            lacking = "No person has an image in each domain"
        return f"{lacking}{NO_FRR}"

    def others_to_draw(self):
        """Why no other photographs can be drawn of these people; empty if they can."""
        if self._images_by_side().max() > 1:
            return ""
        where = "" if self.domain is None else " in each domain"
        return f"every person has one image{where}, so that there are no others to draw"

    def _images_by_side(self):
        people = self.people()
        size = people.max() + 1
        if self.domain is None:
            return np.bincount(people)[None]
        side = encode(self.domain, "domain").codes
        return np.array(
            [np.bincount(people[side == s], minlength=size) for s in (0, 1)]
        )


@dataclass(frozen=True)
class ScoredPairs:
    """Scored pairs of images.

    Attributes
    ----------
    y_score : array-like, shape (n_pairs,)
        Larger meaning more alike.
    identities : tuple of two array-likes, shape (n_pairs,)
    columns : dict of str -> tuple of two array-likes, shape (n_pairs,)
        Attributes of both images.
    image_names : tuple of two array-likes, shape (n_pairs,), or of two Nones
    """

    y_score: object
    identities: tuple
    columns: dict = field(default_factory=dict)
    image_names: tuple = (None, None)

    def fit(self, roc, attributes=()):
        """As of Faces."""
        groups = (None, None)
        if attributes:
            groups = np.split(_as_array(self.groups(attributes)), 2)
        return roc.fit_pairs(
            self.y_score,
            *self.identities,
            sensitive_features_1=groups[0],
            sensitive_features_2=groups[1],
            image_1=self.image_names[0],
            image_2=self.image_names[1],
        )

    def groups(self, attributes):
        """As of Faces, (2 * n_pairs,): the first images of all pairs, then the second."""
        columns = [_stacked(self.columns[name], name) for name in attributes]
        return _encode(columns, attributes)

    def people(self):
        """Codes of the identities, (2 * n_pairs,)."""
        return encode(_stacked(self.identities, "identity"), "identity").codes

    def images(self):
        """Codes of the images, (2 * n_pairs,); None where they are not named."""
        if self.image_names[0] is None:
            return None
        return encode(_stacked(self.image_names, "image"), "image").codes

    def genuine_pairs(self):
        """As of Faces."""
        people = self.people()
        left, right = np.split(people, 2)
        return np.bincount(left[left == right], minlength=people.max() + 1)

    def lack_of_genuine(self):
        """As of Faces."""
        if self.genuine_pairs().any():
            return ""
        return f"No pair is of two images of one person{NO_FRR}"

    def others_to_draw(self):
        """As of Faces."""
        images = self.images()
        if images is None:
            return "the pairs do not name their images (image_1 and image_2)"
        if np.unique(images).size > np.unique(self.people()).size:
            return ""
        return "every person has one image, so that there are no others to draw"


def _encode(columns, attributes):
    name = " & ".join(attributes)
    if len(columns) == 1:
        return encode(columns[0], name, allow_unknown=True)
    plain = [
        to_column(c, a).astype(object) for c, a in zip(columns, attributes, strict=True)
    ]
    return encode(np.stack(plain, axis=1), name, allow_unknown=True)


def _as_array(labels: Labels):
    """Labels by row again, None where unknown."""
    array = np.full(labels.codes.size, None, dtype=object)
    known = labels.codes >= 0
    array[known] = labels.values[labels.codes[known]]
    return array if not known.all() else labels.values[labels.codes]


def _stacked(both, name):
    columns = [to_column(column, name) for column in both]
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
    return np.concatenate(columns)
