"""The feasible sets: free, an exact number of ones, one number for each column or group."""

from flipwise.constraints.counts import Cardinality, ColumnCounts, GroupCounts
from flipwise.constraints.protocol import Constraint, Free

__all__ = ["Cardinality", "ColumnCounts", "Constraint", "Free", "GroupCounts"]
