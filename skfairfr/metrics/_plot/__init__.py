"""Displays: arrays of rates, disparities and other results, and their drawings.

Class methods such as ``from_roc`` and ``from_estimator`` compute the arrays and build a
display. ``plot`` computes none of them and imports matplotlib. The public names live in
``skfairfr.metrics``, which resolves them on first use.
"""
