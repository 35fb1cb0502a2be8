"""Results that others published for special hardware, to stand beside ours; each with where it is from."""

from __future__ import annotations

DSB_MACHINE = "https://doi.org/10.1126/sciadv.abe7953"
"""Goto et al., Science Advances 7, 2021: discrete simulated bifurcation on an FPGA, with settings for each instance."""

DSB_MILLISECONDS = {
    "G1": 33.3, "G2": 239, "G4": 34.4, "G5": 58.6, "G6": 6.3, "G8": 11.9, "G9": 36, "G10": 47.7, "G11": 3.49,
    "G13": 11.9, "G14": 71_633, "G16": 347, "G17": 1631, "G18": 375, "G19": 17.8, "G20": 9.02, "G21": 260,
    "G22": 429, "G25": 2279, "G26": 476, "G27": 49.9, "G28": 87.2, "G29": 221, "G30": 439, "G31": 1201,
    "G32": 3622, "G34": 2057, "G35": 8_319_000, "G37": 27_343_457, "G38": 98_519, "G39": 56_013, "G40": 24_131,
    "G41": 10_585, "G42": 550_000, "G43": 5.86, "G45": 43.4, "G46": 16, "G47": 44.8, "G48": 0.824, "G50": 2.63,
    "G51": 12_209, "G53": 93_899, "G54": 2_307_235,
}  # fmt: skip
"""Milliseconds of that machine until it has met the best-known cut with a probability of 99 %.

As the authors of FEM list them for their own comparison (github.com/Fanerst/FEM, benchmarks/maxcut). G23 is left out:
two graphs go by that name.
"""
