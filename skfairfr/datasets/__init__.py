"""Data from files, and synthetic data whose truth is known."""

from skfairfr.datasets._candidates import load_candidates
from skfairfr.datasets._decisions import load_decisions
from skfairfr.datasets._embeddings import load_embeddings
from skfairfr.datasets._metadata import join_metadata
from skfairfr.datasets._scored_pairs import load_pairs
from skfairfr.datasets._synthetic import make_face_embeddings
from skfairfr.datasets._trials import load_score_matrix, load_trials

__all__ = [
    "join_metadata",
    "load_candidates",
    "load_decisions",
    "load_embeddings",
    "load_pairs",
    "load_score_matrix",
    "load_trials",
    "make_face_embeddings",
]
