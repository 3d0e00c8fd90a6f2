"""Scorers for scikit-learn's searches: greater is better."""
