"""Pairs of submissions that agree more than by chance, beyond what everybody was given, for a person to judge."""

from grader.classroom.similar.clusters import Cluster, clusters
from grader.classroom.similar.pairs import Agreement, Pair, pairs

__all__ = ["Agreement", "Cluster", "Pair", "clusters", "pairs"]
