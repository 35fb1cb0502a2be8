"""`flipwise hash evaluate`."""

from __future__ import annotations

import click


@click.command("evaluate")
@click.argument("database", type=click.Path(dir_okay=False))
@click.argument("queries", type=click.Path(dir_okay=False))
@click.option("-y", "--labels", required=True, type=click.Path(dir_okay=False), help="Labels of the database.")
@click.option("-z", "--query-labels", required=True, type=click.Path(dir_okay=False), help="Labels of the queries.")
@click.option("--at", type=click.IntRange(min=1), default=100, show_default=True, help="Precision and recall at N.")
@click.option("--radius", type=click.IntRange(min=0), default=2, show_default=True, help="Precision within a radius.")
@click.option("--threads", type=click.IntRange(min=1), help="Use at most so many threads.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def command(
    database: str, queries: str, labels: str, query_labels: str, at: int, radius: int, threads: int | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Judge codes by retrieval: an item is relevant when it shares a label with the query.

    With a model as DATABASE the learned training codes are ranked (protocol "learned B"); with codes from
    `encode`, hashed ones ("h(X)"). The two give different figures; say which you quote.

    \b
    Examples:
      $ flipwise hash evaluate database.safetensors queries.safetensors -y labels.npy -z query_labels.npy
      $ flipwise hash evaluate model.safetensors queries.safetensors -y labels.npy -z query_labels.npy --json
    """
    from flipwise import hashing
    from flipwise.cli.arrays import read_codes, read_labels
    from flipwise.cli.terminal import print_facts, print_json
    from flipwise.kernels.jit import threads as limited_threads

    asked, stored = read_codes(queries), read_codes(database)
    given = (asked, stored, read_labels(query_labels), read_labels(labels))
    at = min(at, len(stored))
    with limited_threads(threads):
        record = {
            "MAP": hashing.mean_average_precision(*given),
            f"precision@{at}": hashing.precision_at(*given, at),
            f"recall@{at}": hashing.recall_at(*given, at),
            f"precision within {radius}": hashing.precision_within_radius(*given, radius),
        }
    if as_json:
        print_json({"bits": stored.n_bits, "queries": len(asked), "database": len(stored), **record})
    else:
        title = f"{len(asked):,} queries against {len(stored):,} codes of {stored.n_bits} bits"
        print_facts(title, [(name, f"{value:.4f}") for name, value in record.items()])
