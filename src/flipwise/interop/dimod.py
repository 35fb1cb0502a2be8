"""dimod: a sampler that is a drop-in for others, also for constrained models, whose constraints it keeps.

from flipwise.interop.dimod import FlipwiseSampler
sampleset = FlipwiseSampler().sample(bqm, num_reads=10, time_limit=1.0, seed=0)
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.engine.limits import Clock, Limits
from flipwise.engine.solve import solve
from flipwise.foundation.checks import as_generator
from flipwise.foundation.errors import MissingDependency
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.interop.cqm import problem_of
from flipwise.interop.dimod_polynomials import EFFORT_OF_A_READ, PolynomialSampling
from flipwise.kernels.compile_time import working_time
from flipwise.kernels.jit import thread_count
from flipwise.kernels.jit import threads as use_threads
from flipwise.model.constraints import Constraint
from flipwise.model.problem import Problem, as_problem
from flipwise.model.reduction import Fixed, by_index
from flipwise.qubo.formats.bqm import model_from_bqm
from flipwise.solvers.portfolio.algorithm import Portfolio
from flipwise.solvers.portfolio.reads import Reads

try:
    import dimod
except ImportError:
    raise MissingDependency("dimod", "dimod", "the dimod sampler") from None


class FlipwiseSampler(dimod.Sampler, PolynomialSampling, dimod.Initialized):  # type: ignore[misc]
    """A dimod sampler: every read is an independent anneal or, where `time_limit` leaves the time, a whole search.

    Ctrl-C returns the reads that are there.

    Examples
    --------
    >>> import dimod
    >>> from flipwise.interop.dimod import FlipwiseSampler
    >>> bqm = dimod.BinaryQuadraticModel.from_ising({}, {("a", "b"): 1.0, ("b", "c"): -1.0})
    >>> float(FlipwiseSampler().sample(bqm, seed=0).first.energy)
    -2.0
    """

    parameters: dict[str, list[str]] = None  # type: ignore[assignment]
    properties: dict[str, Any] = None  # type: ignore[assignment]

    def __init__(self) -> None:
        names = "num_reads initial_states initial_states_generator seed time_limit threads effort constraint fixed"
        self.parameters = {name: [] for name in names.split()}
        self.properties = {}

    def sample(
        self,
        bqm: dimod.BinaryQuadraticModel,
        *,
        num_reads: int | None = None,
        initial_states: Any = None,
        initial_states_generator: str = "random",
        seed: int | None = None,
        time_limit: float | None = None,
        threads: int | None = None,
        effort: float = 1.0,
        constraint: Constraint | None = None,
        fixed: Fixed | None = None,
        **unknown: Any,
    ) -> dimod.SampleSet:
        """Sample a binary quadratic model.

        Parameters
        ----------
        bqm
            The model.
        num_reads
            Number of samples; as many as initial states, or 1.
        initial_states, initial_states_generator
            Where the reads begin, as in dimod's other samplers ("none", "tile" or "random").
        seed
            The same integer gives the same samples when no time limit is set.
        time_limit
            Seconds for all reads together. Where it leaves much more than an anneal for each, each is a whole search.
        threads
            The most threads to use.
        effort
            The length of a read: 1 is an anneal of three thousand sweeps.
        constraint
            `flipwise.Cardinality(count)` or another count, exact or a range, over the BQM's variables in their order.
        fixed
            Variables with one value in every sample: {label: value}.
        """
        started = working_time()
        self.remove_unknown_kwargs(**unknown)
        model = model_from_bqm(bqm)
        converted = working_time()
        if model.n == 0:
            empty = np.empty((num_reads or 1, 0), dtype=np.int8)
            return dimod.SampleSet.from_samples_bqm((empty, []), bqm, info=_timing_info(started, converted, 0.0))
        rng = as_generator(seed)
        given = initial_states is not None or num_reads is not None
        parsed = self.parse_initial_states(
            bqm,
            num_reads=num_reads,
            initial_states=initial_states,
            initial_states_generator=initial_states_generator,
            seed=int(rng.integers(2**31)),
        )
        reads = parsed.num_reads if given else 1
        starts = _in_order(parsed.initial_states, bqm)
        search_started = working_time()
        problem = as_problem(model.objective(), None, constraint, None, by_index(fixed, list(bqm.variables)))
        limits = Limits(time_limit=None if time_limit is None else max(0.0, time_limit - (search_started - started)))
        with use_threads(threads):
            samples, iterations = _draw_reads(
                problem, starts if problem.given is problem and constraint is None else None, reads, effort, limits, rng
            )
        info = _timing_info(started, converted, working_time() - search_started)
        info["iterations"] = iterations
        return dimod.SampleSet.from_samples_bqm((samples, list(bqm.variables)), bqm, info=info)

    def sample_cqm(
        self,
        cqm: dimod.ConstrainedQuadraticModel,
        *,
        num_reads: int = 1,
        seed: int | None = None,
        time_limit: float | None = None,
        threads: int | None = None,
        effort: float = 1.0,
        fixed: Fixed | None = None,
        **unknown: Any,
    ) -> dimod.SampleSet:
        """Sample a constrained quadratic model; every sample keeps all constraints.

        Parameters
        ----------
        cqm
            Binary, spin and bounded integer variables; constraints with <=, >= and ==, which may overlap, leave
            variables free and have products of variables. Exact counts are kept natively, other constraints as
            `flipwise.LinearConstraints`, both without penalties of the model's own. Real variables and soft
            constraints are refused by name; `flipwise.InfeasibleModel` says which constraints conflict.
        num_reads, seed, time_limit, threads, effort, fixed
            As in `sample`; `fixed` has values of the model's own variables.
        """
        started = working_time()
        self.remove_unknown_kwargs(**unknown)
        problem, encoding = problem_of(cqm, fixed)
        converted = working_time()
        rng = as_generator(seed)
        limits = Limits(time_limit=None if time_limit is None else max(0.0, time_limit - (converted - started)))
        with use_threads(threads):
            samples, iterations = _draw_reads(problem, None, num_reads, effort, limits, rng)
        full = dimod.SampleSet.from_samples_cqm((encoding.decoded(samples), encoding.labels), cqm)
        full.info.update(_timing_info(started, converted, working_time() - converted), iterations=iterations)
        return full


def _draw_reads(
    problem: Problem,
    starts: npt.NDArray[np.int8] | None,
    count: int,
    effort: float,
    limits: Limits,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.int8], int]:
    """The reads, as many as there are before Ctrl-C, and the sweeps or iterations made.

    An anneal each; where a time limit leaves much more for each, or there is nothing to anneal, a whole search each.
    """
    samples = np.empty((count, problem.given.n), dtype=np.int8)
    anneals = Reads.of(problem, effort)
    clock = Clock(limits.time_limit, began=limits.began)
    iterations = 0
    workers = thread_count()
    own = rng.spawn(count)

    def anneal(k: int) -> None:
        assert anneals is not None
        start = problem.constraint.random(problem.shape, own[k]) if starts is None else problem.start(starts[k])
        samples[k] = problem.to_user(anneals.read(start, own[k], clock).reshape(problem.shape).astype(np.float64))

    with guarded_interrupts() as interrupts, ThreadPoolExecutor(max_workers=workers) as pool:
        k = 0
        while k < count and not (interrupts.requested and k > 0):
            if anneals is not None and (limits.time_limit is None or anneals.are_hurried(clock, count - k)):
                batch = range(k, min(count, k + workers))
                with interrupts.held(clock.stop):
                    for _ in pool.map(anneal, batch) if workers > 1 else map(anneal, batch):
                        pass
                k += len(batch)
                iterations += len(batch) * anneals.sweeps
                continue
            share = None if limits.time_limit is None else max(0.0, clock.seconds_left) / (count - k)
            try:
                result = solve(
                    problem,
                    Portfolio(effort * EFFORT_OF_A_READ),
                    limits=Limits(time_limit=share),
                    start=None if starts is None else starts[k],
                    seed=own[k],
                )
            except KeyboardInterrupt:
                if k == 0:
                    raise
                break
            samples[k] = result.x
            k += 1
            iterations += result.iterations
    return samples[:k], iterations


def _in_order(initial: dimod.SampleSet, bqm: dimod.BinaryQuadraticModel) -> npt.NDArray[np.int8]:
    """The initial states as rows in the order of the BQM's variables."""
    columns = [initial.variables.index(v) for v in bqm.variables]
    return np.ascontiguousarray(initial.record.sample[:, columns], dtype=np.int8)


def _timing_info(started: float, converted: float, search: float) -> dict[str, Any]:
    """The seconds of a sampling by their kind."""
    total = working_time() - started
    return {"timing": {"conversion_s": converted - started, "search_s": search, "total_s": total}}
