"""Finds what a class handed in: folders, archives, names."""
