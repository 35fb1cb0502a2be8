"""Discrete Principal Coordinate Descent: Algorithm 1 of Xiong et al. and its improvements."""

from flipwise.solvers.dpcd.algorithm import solve as solve
from flipwise.solvers.dpcd.options import PAPER_ALPHAS as PAPER_ALPHAS
from flipwise.solvers.dpcd.options import Options as Options
