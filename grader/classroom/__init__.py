"""A class: finds what was handed in, grades it in parallel, stores each result at once, and writes the reports."""
