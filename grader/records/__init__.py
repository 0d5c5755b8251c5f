"""Plain data: what is handed in, and what a grading gives."""
