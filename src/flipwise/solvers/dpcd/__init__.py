"""Discrete Principal Coordinate Descent: Algorithm 1 of Xiong et al. and its improvements."""

from flipwise.solvers.dpcd.algorithm import DPCD as DPCD
