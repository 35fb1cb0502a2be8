"""A result in about five lines: what was solved, the answer, why the run ended, what is proven, what to try next."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from flipwise.engine.limits import Status
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.tables import html_facts

if TYPE_CHECKING:
    from flipwise.engine.result import Result

WIDTH = 80
ROUNDING = 1e-8
"""A gap as small as this comes from rounding alone."""
LATE = 0.5
"""A best point that came after this share of the time says that more time may well bring a better one."""

_MORE = {
    Status.TARGET: "A harder `target`, or none, lets the search go on",
    Status.GAP: "A smaller `gap`, if this is not close enough",
    Status.PATIENCE: "A larger `patience`, or a `time_limit` in its place",
    Status.ITERATION_LIMIT: "A larger `max_iterations`, or a `time_limit` in its place",
    Status.EVALUATION_LIMIT: "A larger `max_evaluations`",
    Status.EFFORT: "`effort=10`, or a `time_limit`, searches on",
    Status.INTERRUPTED: "Let it run on: with `checkpoint=` the next call goes on where this one was stopped",
    Status.CALLBACK: "Let it run on: with `checkpoint=` the next call goes on where this one was stopped",
    Status.CYCLE: "Another `seed`, or `restarts=50`",
}
"""What helps beyond the reason for which a run has ended."""


class Explanation(str):
    """A text of a few lines that shows itself as it is, in a terminal and in a notebook."""

    __slots__ = ("lines",)
    lines: list[tuple[str, str]]

    @classmethod
    def of(cls, lines: list[tuple[str, str]]) -> Explanation:
        """Names and sentences, wrapped to a terminal."""
        width = max(len(name) for name, _ in lines) + 2
        text = "\n".join(
            textwrap.fill(
                sentence, WIDTH, initial_indent=f"{name:<{width}}", subsequent_indent=" " * width,
                break_long_words=False, break_on_hyphens=False,
            )
            for name, sentence in lines
        )  # fmt: skip
        made = cls(text)
        made.lines = lines
        return made

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_facts("Explanation", self.lines)


def explain(result: Any) -> Explanation:
    """Say in about five lines what was solved, what was found, what is proven and what to try next.

    Parameters
    ----------
    result
        What any function of flipwise has returned, or a fitted hashing estimator.

    Examples
    --------
    >>> import flipwise
    >>> flipwise.explain(flipwise.maxcut((3, [[0, 1], [1, 2], [2, 0]]), seed=0)).splitlines()[3]
    'Proven  optimal: no cut is larger'
    """
    if hasattr(result, "result_") and hasattr(result, "n_bits"):
        return Explanation.of(_of_codes(result))
    if not hasattr(result, "explanation"):
        raise InvalidInput(
            "`result` must be what a function of flipwise has returned, or a fitted hashing estimator, "
            f"got {type(result).__name__}."
        )
    return Explanation.of(result.explanation())


def explanation_of(result: Result) -> list[tuple[str, str]]:
    """The lines of one result; `Result.explanation` is this."""
    return [
        ("Solved", result.subject()),
        ("Answer", _answer_in_words(result)),
        ("Ended", result.message),
        ("Proven", proven_in_words(result)),
        ("Next", " ".join(f"{sentence}." for sentence in _next_steps(result))),
    ]


def seconds_to_best(result: Result) -> float | None:
    """When the best point was found; None where the trace does not say."""
    records = result.trace.records
    if not records:
        return None
    last = records[-1].best
    return next(record.seconds for record in records if record.best == last)


def proven_in_words(result: Result) -> str:
    """What the bound says."""
    better, point = ("above", "larger") if result.is_maximum else ("below", "smaller")
    if result.optimal:
        return f"optimal: no {result.measure} is {point}"
    if result.bound is None or result.gap is None:
        return "nothing: " + ("no bound was asked for" if result.offers_bound() else "no bound is known for this kind")
    if result.gap <= ROUNDING:
        return f"no {result.measure} is {better} {result.bound:.12g}: optimal but for rounding"
    share = f"{100 * result.gap:.3g} %" if result.gap < 10 else "a multiple of it"
    return f"no {result.measure} is {better} {result.bound:.10g}: {share} at most is missing"


def _answer_in_words(result: Result) -> str:
    """What was found, by what, in which time."""
    said = f"{result.measure} {result.value:.10g}, by {result.method} in {_duration_in_words(result.seconds)}"
    when = seconds_to_best(result)
    details = [f"{result.iterations:,} iteration{'s' if result.iterations != 1 else ''}"]
    if when is not None and result.iterations > 1:
        details.append(f"the last gain after {_duration_in_words(when)}")
    said += f" ({', '.join(details)})"
    if result.pool is not None and len(result.pool) > 1:
        said += f"; {len(result.pool):,} answers in the pool, the last {result.pool.values[-1]:.10g}"
    return said


def _duration_in_words(seconds: float) -> str:
    """Seconds in as many digits as matter."""
    if seconds < 0.01:
        return "less than 0.01 s"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:,.0f} s"


def _next_steps(result: Result) -> list[str]:
    """One or two sentences without their full stop."""
    if result.optimal:
        more = result.other_answers() if result.pool is None else None
        return ["Nothing: this is the best there is", *([more] if more else [])]
    if result.gap is not None and result.gap <= ROUNDING:
        return ["Nothing: what is left is rounding"]
    steps = [_search_on(result)]
    if result.bound is None:
        if result.offers_bound():
            steps.append('`bound="auto"` proves how far from the best it can be')
    elif result.may_close_gap() and result.status is not Status.GAP:
        steps.append('`bound="best"` goes on to close the gap')
    return steps


def _search_on(result: Result) -> str:
    """How a better answer may be found."""
    status, when = result.status, seconds_to_best(result)
    if status in _MORE:
        return _MORE[status]
    if status is Status.TIME_LIMIT:
        if when is None or when >= LATE * result.seconds:
            return "More time: the last gain came late, there is probably more to find"
        return "A longer `time_limit` may bring little: the last gain came early; try another `seed`, too"
    return result.search_further()


def _of_codes(estimator: Any) -> list[tuple[str, str]]:
    """The lines of a fitted hashing estimator."""
    result = estimator.result_
    rows = len(estimator.codes_.packed) if hasattr(estimator, "codes_") else result.x.shape[0]
    steps = {
        Status.TIME_LIMIT: "A longer `time_limit` makes more rounds.",
        Status.INTERRUPTED: "Fit again: with `checkpoint=` the fit goes on where it was stopped.",
        Status.ITERATION_LIMIT: "More rounds: a larger `max_iterations`.",
    }
    return [
        ("Solved", f"codes of {estimator.n_bits} bits for {rows:,} rows, by {type(estimator).__name__}"),
        ("Answer", _answer_in_words(result)),
        ("Ended", result.message),
        ("Proven", "nothing: no bound is known for the loss of codes"),
        (
            "Next",
            steps.get(result.status, "Fewer or more bits, or another `hash_function`.")
            + " What counts is retrieval on rows that were kept aside: see flipwise.hashing.mean_average_precision.",
        ),
    ]
