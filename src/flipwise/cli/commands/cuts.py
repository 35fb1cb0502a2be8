"""`flipwise maxcut` and `flipwise bisect`: cuts of a graph in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import flipwise
from flipwise.cli.exits import exit_code
from flipwise.cli.options import (
    Bounds,
    CountList,
    Share,
    answer_file,
    certificate_option,
    checkpoint_option,
    explain_option,
    fixed_option,
    fixed_sides,
    fixed_values,
    graph_options,
    input_argument,
    output_options,
    pool_options,
    run_options,
    stop_options,
)
from flipwise.cli.outputs import check_outputs, write_certificate, write_values
from flipwise.cli.terminal import answers_record, number, percent, print_answers, print_facts, print_json, progress
from flipwise.foundation.interrupts import guarded_interrupts

if TYPE_CHECKING:
    from flipwise.cli.inputs import Reading
    from flipwise.graphs.graph import Graph


@click.command("maxcut")
@input_argument()
@fixed_option
@click.option("--bound", type=Bounds, default="auto", show_default=True, help="What to prove.")
@pool_options
@answer_file("the side of each node (name, 0 or 1)")
@graph_options
@run_options
@stop_options
@checkpoint_option
@certificate_option
@explain_option
@output_options
def maxcut(
    file: str,
    fixed: tuple[tuple[str, int], ...],
    bound: str,
    answers: dict[str, Any],
    output: str | None,
    reading: Reading,
    seed: int,
    limits: dict[str, Any],
    explained: bool,
    time_limit: float | None,
    threads: int | None,
    checkpoint: str | None,
    certificate: str | None,
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
      $ flipwise maxcut graph.txt --time-limit 1 --gap 1% --fix 3=1 --pool 10 --distance 3 --explain
      $ flipwise maxcut graph.txt --time-limit 2 --checkpoint run.npz -v
      $ flipwise maxcut graph.txt --time-limit 2 --certificate proof.cert
      $ cat graph.txt | flipwise maxcut - --time-limit 1 --json
    """
    check_outputs([file], {"-o": output, "--checkpoint": checkpoint, "--certificate": certificate})
    graph = reading.graph(file, quiet=quiet)
    with guarded_interrupts():  # Ctrl-C after the search still writes the answer
        with progress("maximum cut", quiet=quiet or verbose, time_limit=time_limit) as tell:
            result = flipwise.maxcut(
                graph,
                fixed=fixed_sides(fixed, graph.names),
                bound=bound,  # type: ignore[arg-type]
                seed=seed,
                time_limit=time_limit,
                threads=threads,
                callback=lambda now: tell(f"cut {-now.best:.9g}"),
                verbose=verbose,
                checkpoint=checkpoint,
                **limits,
                **answers,
            )
        write_certificate(certificate, result)
        return _show_cut(f"Maximum cut of {file}", "upper bound", graph, result, seed, output, as_json, explained)


@click.command("bisect")
@input_argument()
@click.option("--sizes", type=CountList(), help="Parts of exactly these sizes instead of halves, such as 50,30,20.")
@click.option("--imbalance", type=Share(), help="By what share a part may be larger than its size (with --sizes).")
@fixed_option
@click.option("--bound", type=Bounds, default="none", show_default=True, help="What to prove (halves only).")
@pool_options
@answer_file("the part of each node (name, 0, 1, ...)")
@graph_options
@run_options
@stop_options
@checkpoint_option
@certificate_option
@explain_option
@output_options
def bisect(
    file: str,
    sizes: tuple[int, ...] | None,
    imbalance: float | None,
    fixed: tuple[tuple[str, int], ...],
    bound: str,
    answers: dict[str, Any],
    output: str | None,
    reading: Reading,
    seed: int,
    limits: dict[str, Any],
    explained: bool,
    time_limit: float | None,
    threads: int | None,
    checkpoint: str | None,
    certificate: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Split the nodes of FILE in two exact halves (or parts of given sizes) with least edge weight between them.

    With an odd number of nodes one half has one node more. Sizes are exact, unless --imbalance allows more.

    \b
    Examples:
      $ flipwise bisect graph.txt --time-limit 2
      $ flipwise bisect graph.txt --sizes 100,50,50 --time-limit 2 -o parts.txt
      $ flipwise bisect graph.txt --sizes 100,100 --imbalance 3% --time-limit 1 --fix 3=0 --pool 5 --explain
      $ flipwise bisect graph.txt --time-limit 2 --checkpoint run.npz -v
      $ cat graph.txt | flipwise bisect - --time-limit 1 --json
    """
    if sizes and (bound != "none" or limits["gap"] is not None):
        raise click.UsageError("--bound and --gap are for halves: leave out --sizes, or these.")
    if imbalance is not None and not sizes:
        raise click.UsageError("--imbalance is for parts of given sizes: give --sizes, too.")
    check_outputs([file], {"-o": output, "--checkpoint": checkpoint, "--certificate": certificate})
    graph = reading.graph(file, quiet=quiet)
    run: dict[str, Any] = {"seed": seed, "time_limit": time_limit, "threads": threads, "verbose": verbose}
    run |= {**answers, **limits}
    with guarded_interrupts():  # Ctrl-C after the search still writes the answer
        with progress("bisection", quiet=quiet or verbose, time_limit=time_limit) as tell:
            run |= {"checkpoint": checkpoint, "callback": lambda now: tell(f"cut {now.best:.9g}")}
            if sizes:
                del run["gap"]
                run["fixed"] = fixed_values(fixed, graph.names)
                result = flipwise.partition(graph, list(sizes), imbalance=imbalance or 0.0, **run)
            else:
                run |= {"bound": bound, "fixed": fixed_sides(fixed, graph.names)}
                if bound == "none" and limits["gap"] is not None:  # the default of the option, not a wish
                    run["bound"] = "auto"
                result = flipwise.bisect(graph, **run)
        write_certificate(certificate, result)
        return _show_cut(f"Smallest cut of {file}", "lower bound", graph, result, seed, output, as_json, explained)


def _show_cut(
    title: str, kind: str, graph: Graph, result: Any, seed: int, output: str | None, as_json: bool, explained: bool
) -> int:
    """Write the parts and show the cut; returns the exit code."""
    write_values(output, graph.n, graph.names, result.parts)
    sizes = result.sizes.tolist()
    if as_json:
        record = {"nodes": graph.n, "edges": graph.n_edges, "cut": result.value, "bound": result.bound}
        record |= {"gap": result.gap, "sizes": sizes, "status": result.status.name.lower(), "message": result.message}
        record |= {"seed": seed, "seconds": round(result.seconds, 4), "peak_memory": result.peak_memory}
        print_json({**record, "parts": result.parts, **answers_record(result, explained=explained)})
    else:
        facts = [("cut", number(result.value))]
        if result.bound is not None:
            facts.append((kind, f"{number(result.bound)} (gap {percent(result.gap)})"))
        facts += [("sizes", " + ".join(f"{size:,}" for size in sizes)), ("status", result.message)]
        print_facts(title, [*facts, ("time", f"{result.seconds:.2f} s")], err=output == "-")
        print_answers(result, explained=explained, err=output == "-")
    return exit_code(result)
