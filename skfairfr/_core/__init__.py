"""Functions of arrays: no estimators, no torch at import, no plotting."""
