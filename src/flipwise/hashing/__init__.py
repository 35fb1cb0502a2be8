"""Learning to hash: binary codes for retrieval, as scikit-learn estimators.

Names load on first use. Codes, search and metrics need the core packages only; the estimators need scikit-learn:
`pip install "flipwise[hashing]"`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipwise.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from flipwise.hashing.codes import Codes as Codes
    from flipwise.hashing.estimators.additive import AdditiveQuantizer as AdditiveQuantizer
    from flipwise.hashing.estimators.are import ARE as ARE
    from flipwise.hashing.estimators.fasthash import FastHash as FastHash
    from flipwise.hashing.estimators.itq import ITQ as ITQ
    from flipwise.hashing.estimators.sadh import SADH as SADH
    from flipwise.hashing.estimators.sdh import FSDH as FSDH
    from flipwise.hashing.estimators.sdh import SDH as SDH
    from flipwise.hashing.files import load as load
    from flipwise.hashing.files import save as save
    from flipwise.hashing.formats import export_codes as export_codes
    from flipwise.hashing.formats import import_codes as import_codes
    from flipwise.hashing.index import Index as Index
    from flipwise.hashing.metrics import mean_average_precision as mean_average_precision
    from flipwise.hashing.metrics import neighbour_recall as neighbour_recall
    from flipwise.hashing.metrics import precision_at as precision_at
    from flipwise.hashing.metrics import precision_within_radius as precision_within_radius
    from flipwise.hashing.metrics import recall_at as recall_at
    from flipwise.hashing.onnx_model import export_onnx as export_onnx
    from flipwise.hashing.recommendation import Measured as Measured
    from flipwise.hashing.recommendation import Recommendation as Recommendation
    from flipwise.hashing.recommendation import recommend as recommend
    from flipwise.hashing.search import Neighbours as Neighbours
    from flipwise.hashing.search import asymmetric_search as asymmetric_search
    from flipwise.hashing.search import hamming_search as hamming_search
    from flipwise.hashing.search import rerank as rerank

_HOMES = {
    "Codes": "codes",
    "AdditiveQuantizer": "estimators.additive",
    "ARE": "estimators.are",
    "FastHash": "estimators.fasthash",
    "FSDH": "estimators.sdh",
    "ITQ": "estimators.itq",
    "SADH": "estimators.sadh",
    "SDH": "estimators.sdh",
    "load": "files",
    "save": "files",
    "export_codes": "formats",
    "import_codes": "formats",
    "Index": "index",
    "mean_average_precision": "metrics",
    "neighbour_recall": "metrics",
    "precision_at": "metrics",
    "precision_within_radius": "metrics",
    "recall_at": "metrics",
    "export_onnx": "onnx_model",
    "Measured": "recommendation",
    "Recommendation": "recommendation",
    "recommend": "recommendation",
    "Neighbours": "search",
    "asymmetric_search": "search",
    "hamming_search": "search",
    "rerank": "search",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
