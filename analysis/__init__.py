"""Reads result directories and nothing else: tables, intervals, figures, the report."""
