"""Every stored run, one after another, at one commit: a quick tier in minutes, the full one in some hours.

    python benchmarks/all.py --quick       # the short form of each benchmark that has one; stored in results-quick/
    python benchmarks/all.py --full        # every figure that a document quotes, then the pages
    python benchmarks/all.py --full --only core proofs
    python benchmarks/all.py --list

A run that results hold already, whole and of this commit, is not made again, so an interrupted tier goes on where it
was; the program ends with 1 when a run failed. Real data are found through FLIPWISE_DATA; what needs them, or a package
that is not there, is named and left out. Seconds mean something on an idle machine only.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from recording import ROOT, commit

QUICK_RESULTS = Path(__file__).parent / "results-quick"
FINISHED = "all-finished.json"
"""Which commands have come to their end, beside the results: a file that grows row by row does not say so itself."""


@dataclass(frozen=True)
class Step:
    """A command of one topic, as it stands in the documents."""

    topic: str
    full: str
    quick: str | None = None
    needs: tuple[str, ...] = ()
    data: bool = False
    quick_data: bool = False

    def missing(self, quick: bool) -> str | None:
        """What it cannot run without."""
        lacking = [package for package in self.needs if find_spec(package) is None]
        if lacking:
            return f"needs {', '.join(lacking)}"
        if (self.quick_data if quick else self.data) and not os.environ.get("FLIPWISE_DATA"):
            return "needs FLIPWISE_DATA"
        return None


SAMPLERS = ("dimod", "dwave")
STEPS = (
    Step("core", "startup.py"),
    Step("core", "descent.py", "descent.py --quick"),
    Step("core", "local_search.py"),
    Step("core", "ablation.py", "ablation.py --quick"),
    Step("core", "variants.py", "variants.py --quick"),
    Step("core", "optima.py", "optima.py --quick"),
    Step("functions", "differentiable.py --seconds 1 --seeds 5 --record differentiable_one_second",
         needs=("torch", "jax", "sklearn")),
    Step("functions", "differentiable.py --seconds 10 --seeds 5 --record differentiable_ten_seconds",
         needs=("torch", "jax", "sklearn")),
    Step("functions", "differentiable.py --instance 1 --seconds 1 --seeds 5 --record differentiable_unseen",
         needs=("torch", "jax", "sklearn")),
    Step("functions", "differentiable.py --seconds 10 --seeds 2 --record differentiable_ten_seconds_flipwise "
         "--rivals flipwise", needs=("torch", "jax", "sklearn")),
    Step("functions", "differentiable.py --seconds 1 --seeds 1 --record differentiable_schemes --rivals "
         "'momentum, normalised' 'summed gradients' 'cooled noise' descents 'single moves' tabu momentum",
         needs=("torch", "jax", "sklearn")),
    Step("polynomials", "polynomials.py glasses --seconds 1 --seeds 3", needs=SAMPLERS),
    Step("polynomials", "polynomials.py labs --cap 60 --seeds 3"),
    Step("proofs", "exact_cases.py --cases 100000", "exact_cases.py --cases 2000 --name exact-cases"),
    Step("proofs", "proofs.py --processor --count 3 --most 60", needs=("highspy",)),
    Step("proofs", "proofs.py --processor --gset G11 G13 G32 G34 G57 G62 G66", needs=("highspy",), data=True),
    Step("proofs", "exact_rivals.py --seconds 20", needs=("ortools",)),
    Step("densest", "densest.py --effort 1.5", "densest.py --quick", data=True, quick_data=True),
    Step("densest", "densest_rivals.py --effort 0.1 --threads 1", "densest_rivals.py --quick", data=True,
         quick_data=True),
    Step("densest", "densest_proofs.py --processor", data=True),
    Step("densest", "densest_conditions.py", "densest_conditions.py --part small --count 20", data=True),
    Step("densest", "densest_scale.py --effort 0.02", "densest_scale.py --quick", data=True),
    Step("densest", "cpu_times.py --large", "cpu_times.py --quick", data=True),
    Step("densest", "neighbourhood.py --large", "neighbourhood.py --quick", data=True),
    Step("densest", "reading.py", "reading.py --quick", needs=("networkx", "igraph", "pyarrow")),
    Step("qubo", "structured.py", data=True),
    Step("qubo", "gset.py --processor", data=True),
    Step("qubo", "gset.py --go-on --processor --family gset palubeckis --smallest 1001 --seconds 10", data=True),
    Step("qubo", "sampler_reads.py", needs=SAMPLERS, data=True),
    Step("qubo", "qubo_peers.py --cores 1", needs=SAMPLERS, data=True),
    Step("qubo", "qubo_peers.py --cores 1 --go-on --seconds 1 10 60 --only p3000.1 p4000.1 p5000.1 p6000.1 p7000.1 "
         "--solvers dwave-sa dwave-sa-long dwave-tabu", needs=SAMPLERS, data=True),
    Step("qubo", "qubo_peers.py --cores 1 --go-on --tts 10 --seconds 1 --only G1 G11 G14 G22 G43 G48 bqp1000.1 p3000.1 "
         "--solvers dwave-sa dwave-tabu", needs=SAMPLERS, data=True),
    Step("qubo", "qubo_scale.py", "qubo_scale.py --quick"),
    Step("qubo", "maxcut_bounds.py", data=True),
    Step("qubo", "penalties.py", "penalties.py --quick", needs=SAMPLERS),
    Step("qubo", "dimod_conversion.py", "dimod_conversion.py --interactions 100000", needs=("dimod",)),
    Step("qubo", "pools.py", needs=SAMPLERS),
    Step("models", "constraint_cases.py"),
    Step("models", "rows.py --seconds 5"),
    Step("models", "cqm_examples.py --seconds 1 --seeds 3", needs=SAMPLERS),
    Step("densest", "densest_blocks.py"),
    Step("qubo", "solve_again.py"),
    Step("qubo", "bisection.py", needs=("pymetis", "kahip"), data=True),
    Step("qubo", "bisection.py --generated", needs=("pymetis", "kahip"), data=True),
    Step("hashing", "hashing_cifar.py --part optimisers", needs=("sklearn",), data=True),
    Step("hashing", "hashing_cifar.py --part tuning --quality --seeds 0 --bits 32", needs=("sklearn",), data=True),
    Step("hashing", "hashing_cifar.py --part best", needs=("sklearn",), data=True),
    Step("hashing", "hashing_tables.py", needs=("sklearn",), data=True),
    Step("hashing", "hashing_growth.py", needs=("sklearn",)),
    Step("hashing", "embedding_bytes.py --seeds 0 1 2 3 4", needs=("sklearn", "faiss"), data=True),
    Step("hashing", "embedding_compression.py", needs=("sklearn", "faiss"), data=True),
    Step("hashing", "recommendation.py", needs=("sklearn",), data=True),
    Step("hashing", "vector_search.py", needs=("faiss",)),
    Step("hashing", "index_scale.py", needs=("sklearn",)),
    Step("clusters", "distributed_graphs.py", "distributed_graphs.py --quick", needs=("distributed",), data=True),
    Step("clusters", "distributed_graphs.py --scaling", needs=("distributed",)),
    Step("clusters", "distributed_hashing.py", needs=("distributed", "pyarrow")),
    Step("clusters", "distributed_hashing.py --scaling", needs=("distributed", "pyarrow")),
    Step("clusters", "out_of_core.py"),
    Step("robustness", "interrupts.py --store"),
    Step("robustness", "robustness.py kills"),
    Step("robustness", "robustness.py kills --signal SIGTERM"),
    Step("robustness", "cluster_faults.py", needs=("distributed",)),
    Step("robustness", "soak.py", "soak.py --quick"),
    Step("robustness", "mutation.py"),
    Step("robustness", "robustness.py fuzz"),
    Step("first use", "first_use.py", data=True),
    Step("studies", "studies.py --run quick"),
    Step("studies", "studies.py --run full", data=True),
)  # fmt: skip
PAGES = ("render.py", *sorted(path.name for path in Path(__file__).parent.glob("*_page.py")), "studies.py")


def run(steps: list[Step], quick: bool) -> int:
    """Make what is not finished; the number of failures."""
    results = QUICK_RESULTS if quick else Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    now = commit()
    environment = {**os.environ, "FLIPWISE_BENCHMARK_RESULTS": str(results)}
    failures = 0
    for step in steps:
        command = step.quick if quick else step.full
        if command is None:
            continue
        lacking = step.missing(quick)
        if lacking:
            print(f"{command:70} left out: {lacking}", flush=True)
            continue
        finished = _finished(results)
        if finished.get(command) == now and not str(now).endswith("-dirty"):
            print(f"{command:70} stored, of this commit", flush=True)
            continue
        began = time.perf_counter()
        log = results / f"{command.split('.')[0]}.log"
        with log.open("w") as output:
            done = subprocess.run(
                [sys.executable, *shlex.split(f"benchmarks/{command}")],
                cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
        seconds = time.perf_counter() - began
        if done.returncode:
            failures += 1
            print(f"{command:70} FAILED after {seconds:.0f} s: {log.relative_to(ROOT)}", flush=True)
            continue
        log.unlink()
        (results / FINISHED).write_text(json.dumps({**finished, command: now}, indent=1) + "\n", encoding="utf-8")
        print(f"{command:70} {seconds:6.0f} s", flush=True)
    return failures


def _finished(results: Path) -> dict[str, str]:
    """Command -> the commit at which it came to its end."""
    path = results / FINISHED
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def write_pages() -> int:
    """Every page from the stored runs; the number of failures."""
    return sum(
        subprocess.run([sys.executable, f"benchmarks/{page}"], cwd=ROOT, check=False).returncode != 0 for page in PAGES
    )


def main() -> int:
    """Run a tier."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tier = parser.add_mutually_exclusive_group(required=True)
    tier.add_argument("--quick", action="store_true", help="the short forms")
    tier.add_argument("--full", action="store_true", help="every figure, then the pages")
    tier.add_argument("--list", action="store_true", help="only say what there is")
    topics = list(dict.fromkeys(step.topic for step in STEPS))
    parser.add_argument("--only", nargs="+", choices=topics, default=topics, help="some topics")
    given = parser.parse_args()
    steps = [step for step in STEPS if step.topic in given.only]
    if given.list:
        for step in steps:
            print(f"{step.topic:12} {step.full:90} {step.quick or '-'}")
        return 0
    failures = run(steps, given.quick)
    if given.full:
        failures += write_pages()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
