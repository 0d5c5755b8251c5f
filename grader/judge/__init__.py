"""Runs the checks on a submission, compares, and explains."""
