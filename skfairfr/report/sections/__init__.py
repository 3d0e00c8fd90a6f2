"""Sections of reports: each module contains the words, the table and the figure of one."""
