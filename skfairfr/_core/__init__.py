"""Functions of arrays: how pairs are scored, counted, resampled and judged.

A reader comes from ``SimilarityROC`` (``metrics/_roc``) or from an audit (``report``). What
they ask about is made here, and ten words are enough to follow it:

people
    Whom images show: labels as integers, with a group and a side each (``_resampling.Images``).
images
    Unit rows, float32, in the order in which they are compared (``_pair_tiles.Rows``).
tile
    One float32 product of two blocks of images. It proposes pairs. One loop in float64 scores
    them (``_pair_tiles``).
pairs
    Scores with both images, in order of score (``_pair_sequences``), by group
    (``_pairs``): all genuine pairs are stored, and a tail of the impostor pairs.
tail
    The impostor pairs at or above a lowest score. Below it a uniform sample of a million pairs
    answers, and is marked.
weights
    How often a person or an image is drawn in a resample. The data are the draw of ones
    (``_resampling``).
totals
    The weight of all pairs of a scope, in closed form (``_resampling``): no pair that no
    threshold accepts is ever visited again.
rates
    Weighted counts over totals, in the data and in every resample (``_bootstrap``), and what
    is made of them (``_rates``).
evidence
    Errors person by person (``_error_counts``): what intervals, tests and bounds without
    resamples are made of (``_jackknife``, ``_paired``, ``_planning``).
estimate
    A value with its interval, or why there is none (``_replicate_intervals``, ``_support``, with the records in
    ``metrics/_roc``).

A fit makes pairs. A question turns pairs and weights into rates. Evidence turns rates into an
estimate. In every module, a scope is None (all pairs), ``(g, g)`` (both images in group g) or
``(g, h)`` (one image in each).

Kinds of error, their keys and their words are in ``_kinds``.

Separate modules have the scores of comparators (``_adjustments``, ``_calibration``), the von Mises-Fisher normaliser and
draws (``_vmf``), and how work is spread and what memory it takes (``_parallel``). Searches of
a gallery are pairs of their own kind (``_searches``), pairs at equal covariates weigh by
strata (``_strata``), and bets follow the people of a log as they come (``_betting``).
"""
