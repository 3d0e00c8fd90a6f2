"""Fuzzers: whatever is fed to the package is used, or refused in words that help.

A case is a damaged version of something that works: a file, a line of the command, a call.
``driver`` runs cases and counts how they end, ``mutation`` damages bytes, and ``files``,
``command`` and ``calls`` make cases. ``corpus`` keeps what once ended badly, and
``test_corpus.py`` runs it every day.

    python -m tests.fuzz --cases 100000
"""
