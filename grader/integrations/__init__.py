"""Grading where others run it: Gradescope, CS50's Classroom 50, GitHub Actions."""
