"""SimilarityROC: from a caller's arrays to pairs, and from a question to an estimate.

Ten words are enough for the engine:

people : labels as integers, and the group of each image
images : float32 rows, whose inner product (perhaps adjusted) is the score of a pair
tile : the products of two blocks of images; it proposes pairs, which are scored once more
pairs : (score, left, right), sorted by score; of a scope: all, a group, or two groups
tail : the impostor pairs at or above a floor; below it a uniform sample stands for them
weights : how often a person or an image is drawn; the data are the draw of ones
totals : numbers and weights of all pairs of a scope, in closed form from people
rates : weights before a threshold over totals, in the data and in every resample
evidence : errors by person, of which intervals without resamples and tests are made
estimate : a value with its interval, or why there is none

``fit`` makes pairs (``_inputs``, ``_core._pair_tiles``, ``_core._pairs``). A method of
``_similarity_roc`` makes a question of its arguments, which ``_engine`` answers: pairs and
weights become rates (``_core._bootstrap``), rates or evidence (``_evidence``,
``_core._error_counts``, ``_core._few_errors``) become an estimate (``_estimates``). Two
systems on the same images, and two directions of one, are compared in ``_paired``.
"""
