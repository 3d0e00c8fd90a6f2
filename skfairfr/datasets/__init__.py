"""Data to learn and to test with: synthetic embeddings whose truth is known."""

from skfairfr.datasets._synthetic import make_face_embeddings

__all__ = ["make_face_embeddings"]
