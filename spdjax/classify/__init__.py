"""Classifiers, as pure functions of arrays."""

from spdjax.classify.neighbours import nearest_neighbour

__all__ = ["nearest_neighbour"]
