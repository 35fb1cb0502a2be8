"""Flipwise: large-scale binary optimisation by discrete principal coordinate descent.

Importing this package is light: a name's module is loaded when the name is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipwise.foundation.lazy import lazy_names

__version__ = "0.2.0"

if TYPE_CHECKING:
    from flipwise.cuts.api import bisect as bisect
    from flipwise.cuts.api import maxcut as maxcut
    from flipwise.cuts.api import partition as partition
    from flipwise.cuts.result import CutResult as CutResult
    from flipwise.densest.api import densest_subgraph as densest_subgraph
    from flipwise.densest.block_api import densest_block as densest_block
    from flipwise.densest.block_api import densest_directed_subgraph as densest_directed_subgraph
    from flipwise.densest.block_result import DenseBlock as DenseBlock
    from flipwise.densest.block_result import DirectedSubgraph as DirectedSubgraph
    from flipwise.densest.decomposition import DenseDecomposition as DenseDecomposition
    from flipwise.densest.decomposition import DenseLevel as DenseLevel
    from flipwise.densest.decomposition import dense_decomposition as dense_decomposition
    from flipwise.densest.incremental import IncrementalGraph as IncrementalGraph
    from flipwise.densest.result import DensestSubgraph as DensestSubgraph
    from flipwise.densest.result import DensityProfile as DensityProfile
    from flipwise.densest.several import DenseSubgraphs as DenseSubgraphs
    from flipwise.engine.certificate import Certificate as Certificate
    from flipwise.engine.explanation import explain as explain
    from flipwise.engine.limits import Status as Status
    from flipwise.engine.pool import Pool as Pool
    from flipwise.engine.result import Result as Result
    from flipwise.engine.run import Progress as Progress
    from flipwise.engine.run import Run as Run
    from flipwise.engine.solver import Solver as Solver
    from flipwise.engine.trace import Record as Record
    from flipwise.engine.trace import Trace as Trace
    from flipwise.foundation.errors import FlipwiseError as FlipwiseError
    from flipwise.foundation.errors import FlipwiseWarning as FlipwiseWarning
    from flipwise.foundation.errors import IncompatibleObjective as IncompatibleObjective
    from flipwise.foundation.errors import InfeasibleAnswer as InfeasibleAnswer
    from flipwise.foundation.errors import InfeasibleModel as InfeasibleModel
    from flipwise.foundation.errors import InvalidCertificate as InvalidCertificate
    from flipwise.foundation.errors import InvalidFile as InvalidFile
    from flipwise.foundation.errors import InvalidInput as InvalidInput
    from flipwise.foundation.errors import MissingDependency as MissingDependency
    from flipwise.foundation.errors import NotEnoughMemory as NotEnoughMemory
    from flipwise.graphs.graph import Graph as Graph
    from flipwise.graphs.read import read_graph as read_graph
    from flipwise.graphs.write import write_graph as write_graph
    from flipwise.interop.autodiff import from_jax as from_jax
    from flipwise.interop.autodiff import from_torch as from_torch
    from flipwise.minimization import methods as methods
    from flipwise.minimization import minimize as minimize
    from flipwise.model.check import ObjectiveReport as ObjectiveReport
    from flipwise.model.check import check_objective as check_objective
    from flipwise.model.constraints import Cardinality as Cardinality
    from flipwise.model.constraints import ColumnCounts as ColumnCounts
    from flipwise.model.constraints import Constraint as Constraint
    from flipwise.model.constraints import Free as Free
    from flipwise.model.constraints import GroupCounts as GroupCounts
    from flipwise.model.counts import at_least as at_least
    from flipwise.model.counts import at_most as at_most
    from flipwise.model.objective import Objective as Objective
    from flipwise.model.polynomial import Polynomial as Polynomial
    from flipwise.model.problem import Problem as Problem
    from flipwise.model.quadratic import Quadratic as Quadratic
    from flipwise.model.rows import LinearConstraints as LinearConstraints
    from flipwise.model.smooth import Smooth as Smooth
    from flipwise.model.terms import LowRank as LowRank
    from flipwise.qubo.formats import read_model as read_model
    from flipwise.qubo.formats import write_model as write_model
    from flipwise.qubo.formats.programs import ConstrainedModel as ConstrainedModel
    from flipwise.qubo.formats.programs import read_constrained as read_constrained
    from flipwise.qubo.incremental import Incremental as Incremental
    from flipwise.qubo.models import QuadraticModel as QuadraticModel
    from flipwise.qubo.solve import solve_ising as solve_ising
    from flipwise.qubo.solve import solve_qubo as solve_qubo
    from flipwise.solvers.dpcd import DPCD as DPCD
    from flipwise.solvers.dpcd.momentum import CooledDPCD as CooledDPCD
    from flipwise.solvers.dpcd.momentum import MeanField as MeanField
    from flipwise.solvers.dpcd.momentum import MomentumDPCD as MomentumDPCD
    from flipwise.solvers.dpcd.tuning import Tuning as Tuning
    from flipwise.solvers.dpcd.tuning import tune_alpha as tune_alpha
    from flipwise.solvers.portfolio.algorithm import Portfolio as Portfolio
    from flipwise.solvers.registry import Method as Method
    from flipwise.verification.door import verify as verify
    from flipwise.warming import warm_up as warm_up

_HOMES = {
    "Cardinality": "model.constraints",
    "ColumnCounts": "model.constraints",
    "Free": "model.constraints",
    "GroupCounts": "model.constraints",
    "LinearConstraints": "model.rows",
    "at_least": "model.counts",
    "at_most": "model.counts",
    "Constraint": "model.constraints",
    "Solver": "engine.solver",
    "Polynomial": "model.polynomial",
    "Problem": "model.problem",
    "Run": "engine.run",
    "Record": "engine.trace",
    "Method": "solvers.registry",
    "ObjectiveReport": "model.check",
    "Tuning": "solvers.dpcd.tuning",
    "DPCD": "solvers.dpcd",
    "MomentumDPCD": "solvers.dpcd.momentum",
    "CooledDPCD": "solvers.dpcd.momentum",
    "MeanField": "solvers.dpcd.momentum",
    "Portfolio": "solvers.portfolio.algorithm",
    "tune_alpha": "solvers.dpcd.tuning",
    "FlipwiseError": "foundation.errors",
    "FlipwiseWarning": "foundation.errors",
    "IncompatibleObjective": "foundation.errors",
    "InfeasibleAnswer": "foundation.errors",
    "InfeasibleModel": "foundation.errors",
    "InvalidCertificate": "foundation.errors",
    "InvalidFile": "foundation.errors",
    "Certificate": "engine.certificate",
    "verify": "verification.door",
    "InvalidInput": "foundation.errors",
    "MissingDependency": "foundation.errors",
    "NotEnoughMemory": "foundation.errors",
    "from_jax": "interop.autodiff",
    "from_torch": "interop.autodiff",
    "CutResult": "cuts.result",
    "bisect": "cuts.api",
    "maxcut": "cuts.api",
    "partition": "cuts.api",
    "Graph": "graphs.graph",
    "read_graph": "graphs.read",
    "write_graph": "graphs.write",
    "densest_subgraph": "densest.api",
    "densest_block": "densest.block_api",
    "densest_directed_subgraph": "densest.block_api",
    "DenseBlock": "densest.block_result",
    "DirectedSubgraph": "densest.block_result",
    "IncrementalGraph": "densest.incremental",
    "dense_decomposition": "densest.decomposition",
    "DenseDecomposition": "densest.decomposition",
    "DenseLevel": "densest.decomposition",
    "DensestSubgraph": "densest.result",
    "DensityProfile": "densest.result",
    "DenseSubgraphs": "densest.several",
    "warm_up": "warming",
    "minimize": "minimization",
    "check_objective": "model.check",
    "Objective": "model.objective",
    "Quadratic": "model.quadratic",
    "Smooth": "model.smooth",
    "LowRank": "model.terms",
    "read_model": "qubo.formats",
    "write_model": "qubo.formats",
    "ConstrainedModel": "qubo.formats.programs",
    "read_constrained": "qubo.formats.programs",
    "QuadraticModel": "qubo.models",
    "Incremental": "qubo.incremental",
    "solve_ising": "qubo.solve",
    "solve_qubo": "qubo.solve",
    "Result": "engine.result",
    "explain": "engine.explanation",
    "Pool": "engine.pool",
    "Status": "engine.limits",
    "Progress": "engine.run",
    "methods": "minimization",
    "Trace": "engine.trace",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES, "__version__")
