"""`flipwise qubo`: a QUBO or Ising model in a file."""

from __future__ import annotations

from typing import Any

import click

import flipwise
from flipwise.cli.cluster import connected
from flipwise.cli.conditions import Named
from flipwise.cli.exits import exit_code
from flipwise.cli.inputs import MODEL_FORMATS, load_model
from flipwise.cli.options import (
    Bounds,
    CountRange,
    answer_file,
    certificate_option,
    checkpoint_option,
    cluster_option,
    explain_option,
    fixed_option,
    fixed_values,
    input_argument,
    output_options,
    pool_options,
    run_options,
    stop_options,
)
from flipwise.cli.outputs import check_outputs, write_certificate, write_values
from flipwise.cli.terminal import (
    answers_record,
    number,
    percent,
    print_answers,
    print_facts,
    print_json,
    progress,
    result_record,
)
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.qubo.formats.programs import is_program
from flipwise.qubo.models import QuadraticModel


@click.command("qubo")
@input_argument()
@click.option(
    "--format", "file_format", type=click.Choice(MODEL_FORMATS), help="The format of FILE, by its name as a rule."
)
@click.option("--count", type=CountRange(), help="So many variables at 1: 10, or a range 5:10, :10, 5:. No penalty.")
@fixed_option
@click.option("--include", multiple=True, metavar="A,B", help="Variables at 1.")
@click.option("--exclude", multiple=True, metavar="A,B", help="Variables at 0 (of an Ising model at -1).")
@click.option("--method", default="portfolio", show_default=True, help="A name that `flipwise methods` lists.")
@click.option("--bound", type=Bounds, default="auto", show_default=True, help="What to prove.")
@pool_options
@answer_file("the value of each variable (name, value)")
@run_options
@stop_options
@checkpoint_option
@certificate_option
@cluster_option
@explain_option
@output_options
def qubo(
    file: str,
    file_format: str | None,
    count: Any,
    fixed: tuple[tuple[str, int], ...],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    method: str,
    bound: str,
    answers: dict[str, Any],
    output: str | None,
    seed: int,
    limits: dict[str, Any],
    explained: bool,
    time_limit: float | None,
    threads: int | None,
    checkpoint: str | None,
    certificate: str | None,
    cluster: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Minimise the QUBO or Ising model in FILE.

    Formats: qbsolv .qubo, OR-Library .bqp, QOBLIB .qs, BQPJSON, BiqMac, rudy / Gset, MatrixMarket, dimod .coo and
    .bqm; .lp, .mps and .qplib files of binary variables, whose linear constraints are kept (a maximum is the minimum of
    the negated energy).
    The lower bound is proven: no assignment has less energy.

    \b
    Examples:
      $ flipwise qubo model.qubo --time-limit 2
      $ flipwise qubo model.qubo --count 10 --time-limit 2 -o x.txt
      $ flipwise qubo model.qubo --count :10 --include 3,4 --exclude 7 --time-limit 2
      $ flipwise qubo model.qubo --time-limit 1 --gap 1% --patience 20 --pool 10 --distance 2 --explain
      $ flipwise qubo model.qubo --time-limit 2 --checkpoint run.npz -v
      $ flipwise qubo model.qubo --time-limit 2 --cluster local:2
      $ flipwise qubo program.lp --time-limit 2
      $ cat model.qubo | flipwise qubo - --format qubo --time-limit 1 --json
    """
    held = [*fixed, *include, *exclude]
    own = [method != "portfolio", checkpoint, held, isinstance(count, tuple), answers["pool"], *limits.values()]
    if cluster and any(own):
        raise click.UsageError(
            "--cluster runs the portfolio without a checkpoint, with exact counts: leave out --method, --checkpoint, "
            "--fix, --include, --exclude, ranges of --count, --pool and all limits but --time-limit."
        )
    check_outputs([file], {"-o": output, "--checkpoint": checkpoint, "--certificate": certificate})
    given, model = _read_problem(file, file_format)
    if cluster and given is not model:
        raise click.UsageError("--cluster does not keep the constraints of a program: leave it out.")
    solve: Any = flipwise.solve_qubo if model.variables == "binary" else flipwise.solve_ising
    with guarded_interrupts():  # Ctrl-C after the search still writes the answer
        with progress("energy", quiet=quiet or verbose, time_limit=time_limit) as tell:

            def watch(now: Any) -> None:
                tell(f"{now.best:.9g}")

            shared: dict[str, Any] = {"count": count, "bound": bound, "seed": seed, "time_limit": time_limit}
            if cluster:
                from flipwise.distributed import solve_model

                with connected(cluster) as client:
                    result = solve_model(model, client=client, **shared)
            else:
                shared["fixed"] = fixed_values(fixed, model.labels)
                named = Named(model.n, model.labels, "variable of the model")
                shared["include"] = named.all_of(include, "--include") or None
                shared["exclude"] = named.all_of(exclude, "--exclude") or None
                shared |= {"method": method, "threads": threads, "verbose": verbose, "checkpoint": checkpoint}
                result = solve(given, callback=watch, **shared, **limits, **answers)
        write_certificate(certificate, result)
        write_values(output, model.n, model.labels, result.x)
        if as_json:
            labels = None if model.labels is None else [str(label) for label in model.labels]
            print_json(
                {"file": file, **result_record(result), "x": result.x, "labels": labels}
                | answers_record(result, explained=explained)
            )
        else:
            ones = int((result.x > 0).sum())
            facts = [("energy", number(result.value, 12))]
            if result.bound is not None:
                facts.append(("lower bound", f"{number(result.bound, 9)} (gap {percent(result.gap)})"))
            facts += [("variables", f"{model.n:,}, {ones:,} at 1"), ("status", result.message)]
            print_facts(f"Least energy of {file}", [*facts, ("time", f"{result.seconds:.2f} s")], err=output == "-")
            print_answers(result, explained=explained, err=output == "-")
        return exit_code(result)


def _read_problem(file: str, file_format: str | None) -> tuple[Any, QuadraticModel]:
    """What is solved, and its objective: of an LP or MPS file they differ."""
    if file_format is None and file != "-" and is_program(file):
        program = flipwise.read_constrained(file)
        return program, program.model
    model = load_model(file, file_format)
    return model, model
