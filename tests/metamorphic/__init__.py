"""Changes of the data that change no answer, or change it in a known way.

Asked of the whole public surface: audits, comparisons of systems, benches, comparators and
policies. Of single metrics, and of SimilarityROC, such facts stand beside their other tests.
"""
