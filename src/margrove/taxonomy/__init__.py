"""What the classes are: the graph, its formats, the costs of confusing classes, the attributes they share."""

from margrove.taxonomy import attributes, costs
from margrove.taxonomy.graph import Taxonomy

__all__ = ["Taxonomy", "attributes", "costs"]
