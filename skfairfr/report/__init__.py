"""The audit: which groups a system treats worse, by how much, and how sure that is.

An audit asks :class:`~skfairfr.metrics.SimilarityROC` a fixed set of questions and puts the
answers into one record, which becomes a table for a terminal and a JSON file.
"""

from skfairfr.report._audit import audit, audit_pairs
from skfairfr.report._record import Audit, Report
from skfairfr.report._text import to_text

__all__ = ["Audit", "Report", "audit", "audit_pairs", "to_text"]
