"""The solvers: DPCD, the portfolio, exact search, and the methods the paper compares with, one file each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipwise.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from flipwise.solvers.adm import ADM as ADM
    from flipwise.solvers.dcc import DCC as DCC
    from flipwise.solvers.dpcd import DPCD as DPCD
    from flipwise.solvers.dpcd.momentum import CooledDPCD as CooledDPCD
    from flipwise.solvers.dpcd.momentum import MeanField as MeanField
    from flipwise.solvers.dpcd.momentum import MomentumDPCD as MomentumDPCD
    from flipwise.solvers.exact import Exact as Exact
    from flipwise.solvers.l2box_admm import L2BoxADMM as L2BoxADMM
    from flipwise.solvers.l2box_nonseparable import L2BoxNonseparable as L2BoxNonseparable
    from flipwise.solvers.lp import LP as LP
    from flipwise.solvers.mpec_adm import MPECADM as MPECADM
    from flipwise.solvers.mpec_epm import MPECEPM as MPECEPM
    from flipwise.solvers.penalty_decomposition import PenaltyDecomposition as PenaltyDecomposition
    from flipwise.solvers.piecewise import Piecewise as Piecewise
    from flipwise.solvers.portfolio.algorithm import Portfolio as Portfolio
    from flipwise.solvers.sdp import SDP as SDP
    from flipwise.solvers.sgm import SGM as SGM
    from flipwise.solvers.spectral import Spectral as Spectral

_HOMES = {
    "DPCD": "dpcd",
    "MomentumDPCD": "dpcd.momentum",
    "CooledDPCD": "dpcd.momentum",
    "MeanField": "dpcd.momentum",
    "Portfolio": "portfolio.algorithm",
    "SGM": "sgm",
    "ADM": "adm",
    "DCC": "dcc",
    "LP": "lp",
    "Spectral": "spectral",
    "SDP": "sdp",
    "L2BoxADMM": "l2box_admm",
    "MPECEPM": "mpec_epm",
    "MPECADM": "mpec_adm",
    "PenaltyDecomposition": "penalty_decomposition",
    "L2BoxNonseparable": "l2box_nonseparable",
    "Piecewise": "piecewise",
    "Exact": "exact",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
