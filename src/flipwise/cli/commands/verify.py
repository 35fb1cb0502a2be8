"""`flipwise verify`: a certificate, checked anew in exact arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import flipwise
from flipwise.cli.inputs import load_model
from flipwise.cli.options import graph_options, input_argument, json_option
from flipwise.cli.terminal import number, print_facts, print_json

if TYPE_CHECKING:
    from flipwise.cli.inputs import Reading

_CLAIMS = {
    "maxcut": "no cut has more weight than",
    "bisect": "no cut into halves has less weight than",
    "subgraph": "no so many nodes have a density above",
}


@click.command("verify")
@input_argument("problem")
@click.argument("certificate", type=click.Path(dir_okay=False))
@graph_options
@json_option
def verify(problem: str, certificate: str, reading: Reading, as_json: bool) -> None:
    """Recompute the proof in the file CERTIFICATE for the graph or model in the file PROBLEM, in exact arithmetic.

    Certificates are written by the option --certificate of `subgraph`, `maxcut`, `bisect` and `qubo`. The code that
    checks them shares nothing with the code that found them. Exit code 0: the bound holds. 2: it is refused, and the
    message says why.

    \b
    Examples:
      $ flipwise verify model.qubo proof.cert
      $ flipwise verify model.qubo proof.cert --json
    """
    held = flipwise.Certificate.load(certificate)
    given: Any
    if held.function in ("qubo", "ising"):
        given = load_model(problem, reading.file_format)
    else:
        given = reading.graph(problem, quiet=True)
    named = {name: held.problem[name] for name in ("offset", "count") if name in held.problem}  # is said below
    bound = flipwise.verify(given, held, **named)
    record = {"problem": problem, "function": held.function, "kind": held.kind, "bound": bound, "verified": True}
    beside = {name: held.problem[name] for name in ("k", "count", "offset") if held.problem.get(name)}
    if as_json:
        print_json({**record, **beside})
        return
    claimed = f"{_CLAIMS.get(held.function, 'no point has a value below')} {number(bound, 12)}"
    facts = [("verified", claimed), *((name, str(size)) for name, size in beside.items()), ("proof", held.kind)]
    print_facts(f"Certificate {certificate} of {problem}", facts)
