"""Metrics of given pairs or given rates: one function, one number (or curve)."""
