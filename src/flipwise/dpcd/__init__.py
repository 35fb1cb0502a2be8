"""Discrete Principal Coordinate Descent: Algorithm 1 of Xiong et al. and its improvements."""

from flipwise.dpcd.algorithm import solve as solve
from flipwise.dpcd.options import PAPER_ALPHAS as PAPER_ALPHAS
from flipwise.dpcd.options import Options as Options
