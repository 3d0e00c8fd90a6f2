"""SimilarityROC: from a caller's arrays to pairs, and from a question to an estimate.

The ten words of the engine (people, images, tile, pairs, tail, weights, totals, rates,
evidence, estimate) are explained in ``skfairfr._core``.

``fit`` makes pairs (``_inputs``, ``_similarities``, ``_compared``, ``_core._pair_tiles``,
``_core._pairs``). A method of ``_similarity_roc`` makes a question of its arguments, which
``_engine`` answers: pairs and weights become rates (``_core._bootstrap``), rates or
evidence (``_evidence``, ``_core._error_counts``, ``_core._jackknife``) become an estimate
(``_estimates``). Two systems on the same images are compared in ``_paired``, two directions
of one in ``metrics._asymmetry``.
"""
