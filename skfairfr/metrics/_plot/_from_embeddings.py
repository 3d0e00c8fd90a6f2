"""Base of displays with one value for each image or each identity."""

from skfairfr.metrics._plot import _style
from skfairfr.utils._errors import plain
from skfairfr.utils._validation import is_among, transform_rows


class FromTransformedMixin:
    """Builds a display from a transformer, through its class's ``from_embeddings``."""

    @classmethod
    def from_estimator(cls, estimator, X, y, sensitive_features=None, **kwargs):
        """Transform embeddings, measure the result and draw it.

        Parameters
        ----------
        estimator : transformer
            Fitted; the result of its ``transform`` is measured.
        X : array-like, shape (n_samples, n_features)
            What the estimator transforms.
        y : array-like, shape (n_samples,), or frame
            As in ``from_embeddings``.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each row; None and NaN are unknown.
        **kwargs : dict
            Further arguments of ``from_embeddings``.

        Returns
        -------
        display : object of this class
            Already drawn.

        Raises
        ------
        ValueError
            If the estimator has no ``transform``, or numpy cannot read ``X``.
        """
        if not hasattr(estimator, "transform"):
            raise ValueError(
                f"estimator must have a transform method; got {estimator!r}. "
                "from_embeddings takes embeddings themselves."
            )
        return cls.from_embeddings(
            transform_rows(estimator, X),
            y,
            sensitive_features=sensitive_features,
            **kwargs,
        )


def values_of_groups(values, group_of, groups, unit):
    """Groups to draw, None standing for all, and the values of each.

    Parameters
    ----------
    values : ndarray, shape (n_units,)
    group_of : ndarray of labels, shape (n_units,)
        None where unknown.
    groups : sequence of labels, or None
        None takes every known group, or all units where no group is known.
    unit : str
        What has a value and a group, for messages.

    Returns
    -------
    groups : tuple
    parts : list of ndarrays
    """
    known = sorted({group for group in group_of if group is not None})
    chosen = tuple(known) or (None,)
    groups = chosen if groups is None else _style.given_groups(groups)
    for group in groups:
        if group is not None and not is_among(group, known):
            raise ValueError(
                f"groups has {plain(group)!r}, which no {unit} has; the groups are: "
                f"{', '.join(str(g) for g in known) or 'none'}."
            )
    return groups, [values if g is None else values[group_of == g] for g in groups]
