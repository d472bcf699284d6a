"""Taxonomies that are learned from data, or drawn at random."""

from margrove.growing.random import RandomTaxonomy, random_taxonomy

__all__ = ["RandomTaxonomy", "random_taxonomy"]
