"""Unit rows in, unit rows out: what the transformers of this package share.

No row that is transformed depends on the rows beside it.
"""

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from skfairfr._core._pair_tiles import unit_rows
from skfairfr.comparators._rows import unit_rows_of
from skfairfr.utils._validation import validate_rows


class UnitRowTransformer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Linear map of embeddings between encoder and matcher.

    ``fit`` of a subclass reads its data by ``_read``; ``_map(rows)`` maps unit rows to rows
    of any length.
    """

    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012

    def _read(self, X, reset=True):
        """X as unit rows, float32 (n_samples, n_features)."""
        floats = (np.float32, np.float64, np.float16)
        least = 2 if reset else 1
        return unit_rows_of(
            validate_rows(self, X, reset=reset, dtype=floats, ensure_min_features=least)
        )

    def transform(self, X):
        """Map embeddings.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings of the same encoder as in ``fit``, rows of any length.

        Returns
        -------
        Z : ndarray of float32, shape (n_samples, n_features)
            Unit rows: their dot products are cosines.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            If X has another number of features, values that are not finite, or a row
            without direction, before or after the map.
        """
        check_is_fitted(self)
        return unit_rows(self._map(self._read(X, reset=False)), "cosine")

    @property
    def _n_features_out(self):
        return self.n_features_in_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
