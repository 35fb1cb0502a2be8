"""One small estimator of each kind."""

from __future__ import annotations

from flipwise.hashing import ARE, FSDH, ITQ, SADH, SDH, FastHash

ESTIMATORS = [
    SDH(16, random_state=0),
    FSDH(16, random_state=0),
    FastHash(16, hash_options={"rounds": 3}, random_state=0),
    ITQ(16, random_state=0),
    ARE(16, updates=3, random_state=0),
    SADH(16, updates=3, random_state=0),
]
