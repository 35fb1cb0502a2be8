"""`flipwise maxcut`, `flipwise bisect` and `flipwise qubo`: binary quadratic problems from files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import flipwise
from flipwise.cli.cluster import connected
from flipwise.cli.exits import INTERRUPTED, OK
from flipwise.cli.inputs import MODEL_FORMATS, load_graph, load_model, write_lines
from flipwise.cli.options import (
    Counts,
    answer_file,
    checkpoint_option,
    cluster_option,
    graph_options,
    input_argument,
    output_options,
    run_options,
)
from flipwise.cli.terminal import number, percent, print_facts, print_json, progress, result_record

if TYPE_CHECKING:
    from flipwise.graphs.graph import Graph

BOUNDS = click.Choice(["auto", "sdp", "spectral", "simple", "none"])


@click.command("maxcut")
@input_argument()
@click.option("--bound", type=BOUNDS, default="auto", show_default=True, help="What to prove.")
@answer_file("the side of each node (name, 0 or 1)")
@graph_options
@run_options
@checkpoint_option
@output_options
def maxcut(
    file: str,
    bound: str,
    output: str | None,
    file_format: str | None,
    symmetrise: str,
    unweighted: bool,
    seed: int,
    time_limit: float | None,
    threads: int | None,
    checkpoint: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Split the nodes of FILE in two sides with as much edge weight between them as possible.

    Weights may be negative (spin glasses). The upper bound is proven: no cut exceeds it.

    \b
    Examples:
      $ flipwise maxcut graph.txt --time-limit 2
      $ flipwise maxcut graph.txt --time-limit 2 -o sides.txt
      $ flipwise maxcut graph.txt --time-limit 2 --checkpoint run.npz -v
      $ cat graph.txt | flipwise maxcut - --time-limit 1 --json
    """
    graph = load_graph(file, file_format, symmetrise, unweighted, quiet=quiet)
    with progress("maximum cut", quiet=quiet or verbose, time_limit=time_limit) as tell:
        result = flipwise.maxcut(
            graph,
            bound=bound,  # type: ignore[arg-type]
            seed=seed,
            time_limit=time_limit,
            threads=threads,
            callback=lambda now: tell(f"cut {-now.best:.9g}"),
            verbose=verbose,
            checkpoint=checkpoint,
        )
    return _show_cut(f"Maximum cut of {file}", "upper bound", graph, result, seed, output, as_json)


@click.command("bisect")
@input_argument()
@click.option("--sizes", type=Counts(), help="Parts of exactly these sizes instead of halves, such as 50,30,20.")
@click.option("--bound", type=BOUNDS, default="none", show_default=True, help="What to prove (halves only).")
@answer_file("the part of each node (name, 0, 1, ...)")
@graph_options
@run_options
@checkpoint_option
@output_options
def bisect(
    file: str,
    sizes: tuple[int, ...] | None,
    bound: str,
    output: str | None,
    file_format: str | None,
    symmetrise: str,
    unweighted: bool,
    seed: int,
    time_limit: float | None,
    threads: int | None,
    checkpoint: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Split the nodes of FILE in two exact halves (or parts of given sizes) with least edge weight between them.

    With an odd number of nodes one half has one node more. Sizes are exact, never "within 3 %".

    \b
    Examples:
      $ flipwise bisect graph.txt --time-limit 2
      $ flipwise bisect graph.txt --sizes 100,50,50 --time-limit 2 -o parts.txt
      $ flipwise bisect graph.txt --time-limit 2 --checkpoint run.npz -v
      $ cat graph.txt | flipwise bisect - --time-limit 1 --json
    """
    if sizes and bound != "none":
        raise click.UsageError("--bound is for halves: leave out --sizes or --bound.")
    if sizes and checkpoint:
        raise click.UsageError("--checkpoint is for halves: leave out --sizes or --checkpoint.")
    graph = load_graph(file, file_format, symmetrise, unweighted, quiet=quiet)
    with progress("bisection", quiet=quiet or verbose, time_limit=time_limit) as tell:
        if sizes:
            result = flipwise.partition(
                graph, list(sizes), seed=seed, time_limit=time_limit, threads=threads, verbose=verbose
            )
        else:
            result = flipwise.bisect(
                graph,
                bound=bound,  # type: ignore[arg-type]
                seed=seed,
                time_limit=time_limit,
                threads=threads,
                callback=lambda now: tell(f"cut {now.best:.9g}"),
                verbose=verbose,
                checkpoint=checkpoint,
            )
    return _show_cut(f"Smallest cut of {file}", "lower bound", graph, result, seed, output, as_json)


def _show_cut(title: str, kind: str, graph: Graph, result: Any, seed: int, output: str | None, as_json: bool) -> int:
    """Write the parts and show the cut; returns the exit code."""
    _write_values(output, graph.n, graph.names, result.parts)
    sizes = result.sizes.tolist()
    if as_json:
        record = {"nodes": graph.n, "edges": graph.n_edges, "cut": result.value, "bound": result.bound}
        record |= {"gap": result.gap, "sizes": sizes, "status": result.status.name.lower(), "message": result.message}
        record |= {"seed": seed, "seconds": round(result.seconds, 4), "peak_memory": result.peak_memory}
        print_json({**record, "parts": result.parts})
    else:
        facts = [("cut", number(result.value))]
        if result.bound is not None:
            facts.append((kind, f"{number(result.bound)} (gap {percent(result.gap)})"))
        facts += [("sizes", " + ".join(f"{size:,}" for size in sizes)), ("status", result.message)]
        print_facts(title, [*facts, ("time", f"{result.seconds:.2f} s")], err=output == "-")
    return _exit_code(result)


@click.command("qubo")
@input_argument()
@click.option(
    "--format", "file_format", type=click.Choice(MODEL_FORMATS), help="The format of FILE, by its name as a rule."
)
@click.option("--count", type=click.IntRange(min=0), help="Exactly so many variables at 1, without any penalty.")
@click.option("--method", default="portfolio", show_default=True, help="A name that `flipwise methods` lists.")
@click.option("--bound", type=BOUNDS, default="auto", show_default=True, help="What to prove.")
@answer_file("the value of each variable (name, value)")
@run_options
@checkpoint_option
@cluster_option
@output_options
def qubo(
    file: str,
    file_format: str | None,
    count: int | None,
    method: str,
    bound: str,
    output: str | None,
    seed: int,
    time_limit: float | None,
    threads: int | None,
    checkpoint: str | None,
    cluster: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Minimise the QUBO or Ising model in FILE.

    Formats: qbsolv .qubo, OR-Library .bqp, BQPJSON, BiqMac, rudy / Gset, MatrixMarket, dimod .coo and .bqm.
    The lower bound is proven: no assignment has less energy.

    \b
    Examples:
      $ flipwise qubo model.qubo --time-limit 2
      $ flipwise qubo model.qubo --count 10 --time-limit 2 -o x.txt
      $ flipwise qubo model.qubo --time-limit 2 --checkpoint run.npz -v
      $ flipwise qubo model.qubo --time-limit 2 --cluster local:2
      $ cat model.qubo | flipwise qubo - --format qubo --time-limit 1 --json
    """
    if cluster and (method != "portfolio" or checkpoint):
        raise click.UsageError(
            "--cluster runs the portfolio without a checkpoint: leave out --method and --checkpoint."
        )
    model = load_model(file, file_format)
    solve: Any = flipwise.solve_qubo if model.variables == "binary" else flipwise.solve_ising
    with progress("energy", quiet=quiet or verbose, time_limit=time_limit) as tell:

        def watch(now: Any) -> None:
            tell(f"{now.best:.9g}")

        shared: dict[str, Any] = {"count": count, "bound": bound, "seed": seed, "time_limit": time_limit}
        if cluster:
            from flipwise.distributed import solve_model

            with connected(cluster) as client:
                result = solve_model(model, client=client, **shared)
        else:
            own = {"method": method, "threads": threads, "verbose": verbose, "checkpoint": checkpoint}
            result = solve(model, callback=watch, **shared, **own)
    _write_values(output, model.n, model.labels, result.x)
    if as_json:
        labels = None if model.labels is None else [str(label) for label in model.labels]
        print_json({"file": file, **result_record(result), "x": result.x, "labels": labels})
    else:
        ones = int((result.x > 0).sum())
        facts = [("energy", number(result.value, 12))]
        if result.bound is not None:
            facts.append(("lower bound", f"{number(result.bound, 9)} (gap {percent(result.gap)})"))
        facts += [("variables", f"{model.n:,}, {ones:,} at 1"), ("status", result.message)]
        print_facts(f"Least energy of {file}", [*facts, ("time", f"{result.seconds:.2f} s")], err=output == "-")
    return _exit_code(result)


def _write_values(output: str | None, n: int, names: Any, values: Any) -> None:
    """A line a node or variable: its name (its number where it has none) and its value."""
    if output:
        write_lines(output, (f"{name}\t{value}" for name, value in zip(range(n) if names is None else names, values)))


def _exit_code(result: Any) -> int:
    return INTERRUPTED if result.status.name == "INTERRUPTED" else OK
