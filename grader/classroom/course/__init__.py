"""The rules of a course, applied to results after they are graded: lateness, attempts, overrides, totals."""
