"""Flipwise: large-scale binary optimisation by discrete principal coordinate descent.

Importing this package is light: a name's module is loaded when the name is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipwise.lazy import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from flipwise.constraints import Cardinality as Cardinality
    from flipwise.constraints import ColumnCounts as ColumnCounts
    from flipwise.constraints import Free as Free
    from flipwise.constraints import GroupCounts as GroupCounts
    from flipwise.dpcd.tuning import tune_alpha as tune_alpha
    from flipwise.errors import FlipwiseError as FlipwiseError
    from flipwise.errors import FlipwiseWarning as FlipwiseWarning
    from flipwise.errors import IncompatibleObjective as IncompatibleObjective
    from flipwise.errors import InvalidFile as InvalidFile
    from flipwise.errors import InvalidInput as InvalidInput
    from flipwise.errors import MissingDependency as MissingDependency
    from flipwise.errors import NotEnoughMemory as NotEnoughMemory
    from flipwise.graphs.cuts import CutResult as CutResult
    from flipwise.graphs.cuts import bisect as bisect
    from flipwise.graphs.cuts import maxcut as maxcut
    from flipwise.graphs.cuts import partition as partition
    from flipwise.graphs.densest import densest_subgraph as densest_subgraph
    from flipwise.graphs.densest_result import DensestSubgraph as DensestSubgraph
    from flipwise.graphs.densest_result import DensityProfile as DensityProfile
    from flipwise.graphs.graph import Graph as Graph
    from flipwise.graphs.read import read_graph as read_graph
    from flipwise.graphs.read import save_graph as save_graph
    from flipwise.interop.autodiff import from_jax as from_jax
    from flipwise.interop.autodiff import from_torch as from_torch
    from flipwise.minimization import minimize as minimize
    from flipwise.objectives.check import check_objective as check_objective
    from flipwise.objectives.protocol import Objective as Objective
    from flipwise.objectives.quadratic import Quadratic as Quadratic
    from flipwise.objectives.smooth import Smooth as Smooth
    from flipwise.objectives.terms import LowRank as LowRank
    from flipwise.qubo.formats import read_model as read_model
    from flipwise.qubo.formats import write_model as write_model
    from flipwise.qubo.models import QuadraticModel as QuadraticModel
    from flipwise.qubo.solve import solve_ising as solve_ising
    from flipwise.qubo.solve import solve_qubo as solve_qubo
    from flipwise.result import Result as Result
    from flipwise.result import Status as Status
    from flipwise.result import Trace as Trace
    from flipwise.run import Progress as Progress
    from flipwise.solvers.registry import methods as methods
    from flipwise.warming import warm_up as warm_up

_HOMES = {
    "Cardinality": "constraints",
    "ColumnCounts": "constraints",
    "Free": "constraints",
    "GroupCounts": "constraints",
    "tune_alpha": "dpcd.tuning",
    "FlipwiseError": "errors",
    "FlipwiseWarning": "errors",
    "IncompatibleObjective": "errors",
    "InvalidFile": "errors",
    "InvalidInput": "errors",
    "MissingDependency": "errors",
    "NotEnoughMemory": "errors",
    "from_jax": "interop.autodiff",
    "from_torch": "interop.autodiff",
    "CutResult": "graphs.cuts",
    "bisect": "graphs.cuts",
    "maxcut": "graphs.cuts",
    "partition": "graphs.cuts",
    "Graph": "graphs.graph",
    "read_graph": "graphs.read",
    "save_graph": "graphs.read",
    "densest_subgraph": "graphs.densest",
    "DensestSubgraph": "graphs.densest_result",
    "DensityProfile": "graphs.densest_result",
    "warm_up": "warming",
    "minimize": "minimization",
    "check_objective": "objectives.check",
    "Objective": "objectives.protocol",
    "Quadratic": "objectives.quadratic",
    "Smooth": "objectives.smooth",
    "LowRank": "objectives.terms",
    "read_model": "qubo.formats",
    "write_model": "qubo.formats",
    "QuadraticModel": "qubo.models",
    "solve_ising": "qubo.solve",
    "solve_qubo": "qubo.solve",
    "Result": "result",
    "Status": "result",
    "Progress": "run",
    "methods": "solvers.registry",
    "Trace": "result",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES, "__version__")
