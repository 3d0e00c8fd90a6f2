"""Fuzzers: whatever is fed to the package is used, or refused in words that help.

A case is a damaged version of something that works: a file, a line of the command, a call.
``driver`` runs cases and counts how they end; ``files``, ``command`` and ``calls`` make them.
``misread`` makes lists that can be read: as they are meant, or they are refused.
``corpus`` keeps files that once ended badly, and ``test_fuzz.py`` reads them every day.

    python -m tests.fuzz --cases 100000
"""
