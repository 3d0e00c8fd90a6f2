"""Mutants of the code that measures: see __main__."""
