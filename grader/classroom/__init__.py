"""A class: find what was handed in, grade it in parallel, never lose a result, and write the reports."""
