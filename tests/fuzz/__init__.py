"""Fuzzers: whatever is fed to the package is used, or refused in words that help.

A case is a damaged version of something that works: a file, a line of the command, a call.
``driver`` runs a case and names how it ends; ``files`` and ``command`` make them.
``misread`` makes lists that can be read: as they are meant, or they are refused.
``corpus`` keeps files that once ended badly, and ``test_fuzz.py`` reads them every day.
"""
