"""SimilarityROC: its inputs, its engine and the records that it returns."""
