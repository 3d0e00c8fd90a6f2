"""Two small extensions of Sphinx, for this site only."""
