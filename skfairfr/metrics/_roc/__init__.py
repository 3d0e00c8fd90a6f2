"""SimilarityROC: its inputs, its engine and the records that it returns.

The class (``_similarity_roc``) keeps what a fit made and passes on what is asked. ``fit`` turns
a caller's arrays into pairs by group (``_inputs``). A method checks its arguments once, as a
question (``_question``), which the engine answers (``_engine``): ``_core`` makes a table of
rates, in the data and in every resample, and ``_estimates`` makes a value with its interval of
it. Intervals and tests without resamples start from the errors of each person (``_evidence``);
so do two systems on the same images, and two directions of one (``_paired``). What comes back
is a record (``_records``).
"""
