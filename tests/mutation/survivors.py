"""Mutants that could be killed and are not, each with the reason why that is accepted.

They count as survivors in the score; the reason is printed beside them. ``equivalent.py``
has those that no test can kill, which do not count.
"""

ACCEPTED = {}
