"""Hands feedback back: the archive that a platform takes, made from the folder of results."""
