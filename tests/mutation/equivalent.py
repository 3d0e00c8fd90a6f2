"""Mutants that no test can kill, each with the reason, as the command prints them."""

EQUIVALENT = {}
