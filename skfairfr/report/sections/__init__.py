"""Sections of reports: each module holds the words, the table and the figure of one."""
