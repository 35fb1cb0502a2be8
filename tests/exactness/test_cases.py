"""Every public function with numbers in every container, against brute force in exact arithmetic."""

from __future__ import annotations

import os
import time

from tests.exactness.cases import run_case

SECONDS = float(os.environ.get("FLIPWISE_EXACT_SECONDS", "4"))
"""Processor time of the search for faults here; `benchmarks/exact_cases.py` has no limit."""
FIRST = int(os.environ.get("FLIPWISE_EXACT_FIRST", "0"))
"""The number of the first case."""


def test_random_cases_against_exact_arithmetic() -> None:
    """No wrong value, no bound on the wrong side, no false optimum, no infeasible answer, no raw exception."""
    end = time.process_time() + SECONDS
    number = FIRST
    while time.process_time() < end:
        try:
            run_case(number)
        except Exception as error:
            error.add_note(f"case {number}: tests.exactness.cases.run_case({number})")
            raise
        number += 1
    assert number > FIRST
