"""Displays: arrays that :class:`~skfairfr.metrics.SimilarityROC` answered, and drawings.

A display is built by ``from_roc`` or ``from_estimator``, which ask the questions, or from
arrays; ``plot`` computes nothing and imports matplotlib. The public names live in
``skfairfr.metrics``, which resolves them when first used.
"""
