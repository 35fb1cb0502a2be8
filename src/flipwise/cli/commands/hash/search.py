"""`flipwise hash search`."""

from __future__ import annotations

import click


@click.command("search")
@click.argument("database", type=click.Path(dir_okay=False))
@click.argument("queries", type=click.Path(dir_okay=False))
@click.option("-k", type=click.IntRange(min=1), default=10, show_default=True, help="Neighbours for each query.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, allow_dash=True), help="Write a line a query there.")
@click.option("--threads", type=click.IntRange(min=1), help="Use at most so many threads.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def command(database: str, queries: str, k: int, output: str | None, threads: int | None, as_json: bool) -> None:
    """Find the k codes of DATABASE nearest to each of QUERIES, by Hamming distance, ties by number.

    A model in the place of DATABASE stands for the codes of its training data.

    \b
    Examples:
      $ flipwise hash search database.safetensors queries.safetensors -k 5
      $ flipwise hash search database.safetensors queries.safetensors -k 5 -o neighbours.tsv
      $ flipwise hash search model.safetensors queries.safetensors -k 3 --json
    """
    from flipwise.cli.arrays import read_codes
    from flipwise.cli.inputs import write_lines
    from flipwise.cli.terminal import print_json, print_table
    from flipwise.hashing.search import hamming_search
    from flipwise.kernels.jit import threads as limited_threads

    with limited_threads(threads):
        found = hamming_search(read_codes(queries), read_codes(database), k)
    if output:
        write_lines(output, ("\t".join(map(str, row)) for row in found.ids.tolist()))
    if as_json:
        print_json({"k": k, "ids": found.ids, "distances": found.values})
    elif not output:
        most = 20
        rows = [
            (str(query), " ".join(map(str, ids)), " ".join(map(str, distances)))
            for query, ids, distances in zip(range(most), found.ids.tolist(), found.values.tolist())
        ]
        more = len(found.ids) - most
        notes = [f"and {more:,} more queries: use --json or -o"] if more > 0 else []
        print_table("Nearest codes", ("query", "items", "distances"), rows, left=("items", "distances"), notes=notes)
