"""The audit: error rates of a system by group, their differences, and how certain they are.

An audit collects a fixed set of estimates of :class:`~skfairfr.metrics.SimilarityROC` in one
record, which is written as text, a page and JSON. :func:`audit` and :func:`audit_pairs` audit
arrays in one call. :func:`read_data` and
:func:`audit_data` are what the command ``skfairfr audit`` calls. :func:`compare_systems`
compares the rates of each group between systems. ``skfairfr compare`` calls it.
:func:`identify` audits searches of a gallery (1:N), as ``skfairfr identify`` does by
:func:`identify_data`, and :func:`compare_searches` compares those of several systems.
:func:`certify_data` finds a threshold that meets limits for every group, for
``skfairfr threshold``, and :func:`monitor_log` watches a log of decisions, for
``skfairfr monitor``.
"""

from skfairfr.report._audit import audit, audit_data, audit_decisions, audit_pairs
from skfairfr.report._certificate import Certificate, certify_data
from skfairfr.report._comparison import compare_decisions, compare_systems
from skfairfr.report._data import DecisionData, EmbeddingData, PairData
from skfairfr.report._explain import explain
from skfairfr.report._explained_errors import ExplainedErrors
from skfairfr.report._identification import (
    compare_searches,
    identify,
    identify_data,
    read_candidates,
)
from skfairfr.report._monitoring import Monitoring
from skfairfr.report._policy import Policy
from skfairfr.report._reading import read_data
from skfairfr.report._records import Audit, Change, DisparityChange
from skfairfr.report._report import Report, SystemsComparison
from skfairfr.report._watching import monitor_log

__all__ = [
    "Audit",
    "Certificate",
    "Change",
    "DecisionData",
    "DisparityChange",
    "EmbeddingData",
    "ExplainedErrors",
    "Monitoring",
    "PairData",
    "Policy",
    "Report",
    "SystemsComparison",
    "audit",
    "audit_data",
    "audit_decisions",
    "audit_pairs",
    "certify_data",
    "compare_decisions",
    "compare_searches",
    "compare_systems",
    "explain",
    "identify",
    "identify_data",
    "monitor_log",
    "read_candidates",
    "read_data",
]
