"""The feasible sets: free, an exact number of ones, one number for each column or group."""

from flipwise.constraints.counts import Cardinality as Cardinality
from flipwise.constraints.counts import ColumnCounts as ColumnCounts
from flipwise.constraints.counts import GroupCounts as GroupCounts
from flipwise.constraints.free import Free as Free
from flipwise.constraints.protocol import Constraint as Constraint
