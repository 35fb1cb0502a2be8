"""The page of the hashing benchmarks from their stored cells; no figure is typed by hand.

python benchmarks/hashing_page.py
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable
from typing import Any

from render import table, write_page

Record = dict[str, Any]
Cell = dict[str, Any]
OURS = "flipwise additive"
BEST = "ITQ by DPCD, whitening auto"
RIVALS = ("sign", "faiss LSH", "faiss ITQ", "ITQ by DPCD")


def cells(record: Record, kind: str) -> list[Cell]:
    """The rows of a kind with their keys spread out."""
    return [{**row["key"], **row} for row in record["rows"] if row["kind"] == kind]


def chosen(rows: Iterable[Cell], /, **wanted: Any) -> list[Cell]:
    """The rows with these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def values(rows: Iterable[Cell], name: str) -> list[float]:
    return [row[name] for row in rows if row.get(name) is not None]


def spread(found: list[float], form: str = ".4f") -> str:
    """Mean and standard deviation over the seeds."""
    if not found:
        return "-"
    mean = format(statistics.mean(found), form)
    return f"{mean} ± {format(statistics.stdev(found), form)}" if len(found) > 1 else mean


def seconds(found: list[float]) -> str:
    """Mean and spread of times in a unit that fits."""
    if found and statistics.mean(found) < 0.1:
        return spread([1000.0 * value for value in found], ".3f") + " ms"
    return spread(found, ".2f") + " s" if found else "-"


def unique(rows: Iterable[Cell], name: str) -> list[Any]:
    return list(dict.fromkeys(row[name] for row in rows))


def seeds_of(rows: list[Cell]) -> str:
    count = len(unique(rows, "seed"))
    return f"{count} seed{'s' if count > 1 else ''}"


def cifar(record: Record) -> str:
    """The six optimisers on the SDH loss."""
    quality, timed = cells(record, "quality"), cells(record, "time")
    names = [name for name in unique(quality, "optimiser") if name != "dpcd, refined"]
    text = (
        "## CIFAR-10, GIST-384: the SDH loss by six optimisers\n\n"
        f"{quality[0]['rows']:,} training rows, which are the database, 1,000 queries, {seeds_of(quality)}, linear "
        "hash function, mean ± standard deviation. *Learned*: the database holds the learned codes B; *hashed*: it is "
        "re-encoded by h(X). MAP is tie-aware over the whole list. `dpcd, refined` is the library's default (code "
        "words separated further, W eliminated), the others run the paper's loop.\n\n"
    )
    for distinct, title in ((False, "All rows, as in the paper"), (True, "Distinct label sets, for all optimisers")):
        first, near, fastest, columns, times = 0, 0, 0, 0, 0
        body = []
        for bits in sorted(unique(quality, "bits")):
            here = chosen(quality, bits=bits, distinct=distinct)
            clock = chosen(timed, bits=bits, distinct=distinct)
            for metric in ("map_learned", "map_hashed", "precision_500"):
                means = {n: values(chosen(here, optimiser=n), metric) for n in names if chosen(here, optimiser=n)}
                if "dpcd" not in means:
                    continue
                top = max(statistics.mean(found) for found in means.values())
                own = statistics.mean(means["dpcd"])
                deviation = statistics.stdev(means["dpcd"]) if len(means["dpcd"]) > 1 else 0.0
                columns += 1
                first += own >= top
                near += own >= top - deviation
            b_steps = {n: values(chosen(clock, optimiser=n), "b_step_seconds") for n in names}
            known = {n: statistics.mean(found) for n, found in b_steps.items() if found}
            if "dpcd" in known:
                times += 1
                fastest += known["dpcd"] == min(known.values())
            for name in [*names, "dpcd, refined"] if distinct else names:
                mine, took = chosen(here, optimiser=name), chosen(clock, optimiser=name)
                body.append(
                    [str(bits), f"`{name}`"]
                    + [spread(values(mine, m)) for m in ("map_learned", "map_hashed", "precision_500")]
                    + [seconds(values(took, "b_step_seconds")), seconds(values(took, "total_seconds"))]
                )
        head = ["bits", "optimiser", "MAP, learned", "MAP, hashed", "precision@500", "B-step", "training"]
        text += (
            f"### {title}\n\n`dpcd` is first in {first} and within one standard deviation of first in {near} of "
            f"{columns} quality columns; its B-step is the fastest in {fastest} of {times}.\n\n"
            + table(head, body)
            + "\n"
        )
    return text


def best(record: Record) -> str:
    """The best supervised estimator."""
    quality, timed = cells(record, "quality"), cells(record, "time")
    body = []
    for name, bandwidth, ridge in sorted({(row["estimator"], row["bandwidth"], row["ridge"]) for row in quality}):
        same = {"estimator": name, "bandwidth": bandwidth, "ridge": ridge}
        for bits in sorted(unique(chosen(quality, **same), "bits")):
            mine, took = chosen(quality, bits=bits, **same), chosen(timed, bits=bits, **same)
            body.append(
                [name, f"{bandwidth:g}", f"{ridge:g}", str(bits), ", ".join(str(row["seed"]) for row in mine)]
                + [spread(values(mine, m)) for m in ("map_learned", "map_hashed", "precision_500")]
                + [seconds(values(took, "b_step_seconds")), seconds(values(took, "total_seconds"))]
            )
    head = ["estimator", "bandwidth", "ridge", "bits", "seeds", "MAP, learned", "MAP, hashed", "precision@500"]
    return (
        "## CIFAR-10, GIST-384: the best supervised estimator\n\n"
        f"The same rows and protocols; {quality[0]['anchors']:,} anchors, left-right symmetric kernel. Bandwidth and "
        "ridge are those that led the validation below when a seed was run. DCC runs on all rows with the same hash "
        "function, to compare training times.\n\n" + table([*head, "B-step", "training"], body) + "\n"
    )


def tuning(record: Record) -> str:
    """The validation that chose the settings."""
    quality = cells(record, "quality")
    bits = sorted(unique(quality, "bits"))
    body = []
    for bandwidth in sorted(unique(quality, "bandwidth")):
        for ridge in sorted(unique(quality, "ridge")):
            mine = chosen(quality, bandwidth=bandwidth, ridge=ridge)
            if mine:
                found = [spread(values(chosen(mine, bits=b), "map_learned")) for b in bits]
                body.append([f"{bandwidth:g}", f"{ridge:g}", *found])
    head = ["bandwidth", "ridge", *[f"MAP, learned, {b} bits" for b in bits]]
    return (
        f"### How its settings were chosen\n\n{len(body)} settings tried so far; MAP of 3,000 training "
        "rows that are queries of no seed, against 20,000 "
        f"others, {quality[0]['anchors']:,} anchors.\n\n" + table(head, body) + "\n"
    )


def originals(record: Record) -> str:
    """DPCD against the original optimiser of each loss."""
    quality, timed = cells(record, "quality"), cells(record, "time")
    body, level, near, compared = [], 0, 0, 0
    clocks = {"b_step_seconds": "comparisons of the optimiser alone", "total_seconds": "of whole training"}
    ahead: dict[str, list[bool]] = {column: [] for column in clocks}
    for loss in unique(quality, "loss"):
        for bits in sorted(unique(chosen(quality, loss=loss), "bits")):
            here, clock = chosen(quality, loss=loss, bits=bits), chosen(timed, loss=loss, bits=bits)
            for name, rows in dict.fromkeys((row["optimiser"], row["rows"]) for row in here):
                # on the same rows where DPCD has run on them
                same = rows if chosen(here, optimiser="dpcd", rows=rows) else "label sets"
                own, own_time = (chosen(part, optimiser="dpcd", rows=same) for part in (here, clock))
                mine = chosen(here, optimiser=name, rows=rows)
                took = chosen(clock, optimiser=name, rows=rows)
                metrics = ("map_learned", "map_hashed", "precision_500")
                if name != "dpcd":
                    for metric in metrics:
                        compared += 1
                        behind = statistics.mean(values(mine, metric)) - statistics.mean(values(own, metric))
                        level += behind <= 1e-9
                        near += behind <= max(1e-9, statistics.stdev(values(own, metric)))
                    for column in clocks if took and own_time else ():
                        won = statistics.mean(values(own_time, column)) < statistics.mean(values(took, column))
                        ahead[column].append(won)
                body.append(
                    [loss, str(bits), f"`{name}`, {rows}", *[spread(values(mine, m)) for m in metrics]]
                    + [seconds(values(took, column)) for column in clocks]
                )
    head = ["loss", "bits", "optimiser", "MAP, learned", "MAP, hashed", "precision@500", "optimiser alone", "training"]
    return (
        "## Every loss by DPCD and by its original optimiser\n\n"
        f"{quality[0]['n']:,} rows, 1,000 queries, {seeds_of(quality)}. SADH-L, ARE and ITQ: deep features of 100 "
        "classes of Tiny-ImageNet in 256 components; SDH, FSDH and FastHash: bags of visual words with 21 labels, "
        "relevant when one is shared. Supervised losses run on label sets and, as the originals' authors do, on all "
        f"items. DPCD is at least level in {level} of {compared} comparisons of quality and within a standard "
        f"deviation in {near}. Its time is ahead in "
        + " and ".join(f"{sum(ahead[column])} of {len(ahead[column])} {name}" for column, name in clocks.items())
        + ", most of which is the hash function, the same for both.\n\n"
        + table(head, body)
        + "\n"
    )


def compression(record: Record) -> str:
    """Recall at equal bytes."""
    quality = cells(record, "quality")
    metrics = (
        "hamming_10",
        "hamming_100",
        "hamming_10_of_100",
        "asymmetric_10",
        "asymmetric_100",
        "asymmetric_10_of_100",
    )
    text = (
        "## Embedding compression\n\n"
        f"Recall of the exact neighbours by cosine, {seeds_of(quality)}. *of 100*: the best 100 re-ranked by the "
        "original vectors. All methods but RaBitQ, which stores 8 bytes more a vector and has an estimator of its own, "
        "are scored alike.\n\n"
    )
    for data in unique(quality, "data"):
        here = chosen(quality, data=data)
        body, beats, compared = [], dict.fromkeys(RIVALS, 0), 0
        worst = dict.fromkeys(RIVALS, math.inf)
        for bits in sorted(unique(here, "bits")):
            means = {
                (name, metric): statistics.mean(found)
                for name in unique(here, "method")
                for metric in metrics
                if (found := values(chosen(here, bits=bits, method=name), metric))
            }
            for metric in metrics:
                if all((name, metric) in means for name in (BEST, *RIVALS)):
                    compared += 1
                    for rival in RIVALS:
                        beats[rival] += means[BEST, metric] > means[rival, metric]
                        worst[rival] = min(worst[rival], means[BEST, metric] - means[rival, metric])
            for name in unique(here, "method"):
                mine = chosen(here, bits=bits, method=name)
                if mine:
                    found = [spread(values(mine, m), ".3f") for m in metrics]
                    body.append([str(bits), name, str(mine[0]["bytes"]), *found])
        head = ["bits", "method", "bytes", "Hamming @10", "@100", "@10 of 100", "asymmetric @10", "@100", "@10 of 100"]
        says = ", ".join(f"{beats[rival]} times ahead of {rival} (least lead {worst[rival]:+.4f})" for rival in RIVALS)
        compared_with = f"In {compared} pairs of size and score, `{BEST}` is {says}.\n\n" if compared else ""
        text += f"### {data}, {here[0]['rows']:,} rows\n\n{compared_with}" + table(head, body) + "\n"
    return text


def equal_bytes(record: Record) -> str:
    """Recall of quantisers at equal bytes, database rows unseen in training."""
    quality = cells(record, "quality")
    body = []
    for data in unique(quality, "data"):
        for n_bytes in sorted(unique(chosen(quality, data=data), "bytes")):
            for name in unique(quality, "method"):
                mine = chosen(quality, data=data, bytes=n_bytes, method=name)
                if mine:
                    recalls = [spread(values(mine, m), ".3f") for m in ("recall_10", "recall_100", "recall_10_of_100")]
                    times = [seconds(values(mine, column)) for column in ("train_seconds", "encode_seconds")]
                    body.append([data, str(n_bytes), name, *recalls, *times])
    return (
        "## Quantisers at equal bytes\n\n"
        f"Recall of the exact neighbours by cosine, {seeds_of(quality)}, 500 queries. Half of the other rows, at most "
        "10,000, are learned from; the other half, unseen in training, is the database. Seconds are of the processor, "
        "one thread, for training and for encoding the database. *of 100*: the best 100 re-ranked by the original "
        "vectors. What is not in the table has not been measured yet.\n\n"
        + _best_at_equal_bytes(quality)
        + table(["data", "bytes", "method", "@10", "@100", "@10 of 100", "training", "encoding"], body)
        + "\n"
    )


def _best_at_equal_bytes(quality: list[Record]) -> str:
    """Recall@10, a line for each set and size and a column for each method, the first in bold."""
    names = [OURS, *(name for name in unique(quality, "method") if name != OURS)]
    body, first, faster, compared = [], 0, 0, 0
    for data in unique(quality, "data"):
        for n_bytes in sorted(unique(chosen(quality, data=data), "bytes")):
            here = chosen(quality, data=data, bytes=n_bytes)
            found = {name: values(chosen(here, method=name), "recall_10") for name in names}
            recalls = {name: statistics.mean(seeds) for name, seeds in found.items() if seeds}
            best = max(recalls.values())
            line = [f"{recalls[name]:.3f}" if name in recalls else "-" for name in names]
            line[[*map(recalls.get, names)].index(best)] = f"**{best:.3f}**"
            body.append([data, str(n_bytes), *line])
            spent = [values(chosen(here, method=name), "train_seconds") for name in (OURS, "faiss RQ")]
            if all(spent):
                compared += 1
                first += recalls[OURS] == best
                faster += statistics.mean(spent[0]) <= statistics.mean(spent[1])
    return (
        f"Recall@10: `{OURS}` is first in {first} of the {compared} cells that it shares with faiss RQ, and trains in "
        f"no more time than that in {faster} of them.\n\n" + table(["data", "bytes", *names], body) + "\n"
    )


def growth(record: Record) -> str:
    """Exponents and memory."""
    timed = cells(record, "time")
    sizes = sorted(unique(timed, "n"))
    body = []
    for name in unique(timed, "model"):
        mine = chosen(timed, model=name)
        line = []
        for n in sizes:
            found = chosen(mine, n=n)
            line.append(f"{seconds(values(found, 'total_seconds'))}, {spread(values(found, 'megabytes'), '.0f')} MB")
        exponents = [slope(chosen(mine, seed=seed)) for seed in unique(mine, "seed")]
        body.append([name, *line, spread([e for e in exponents if e is not None], ".2f")])
    head = ["model", *[f"n = {n:,}" for n in sizes], "exponent"]
    return (
        "## Growth with the number of rows\n\n64 features, 64 bits, float32 rows repeated with noise; memory is what a "
        "fit holds at most besides its input. The exponent is the slope of log(seconds) over log(n).\n\n"
        + table(head, body)
        + "\n"
    )


def slope(rows: list[Cell]) -> float | None:
    """Least squares in logarithms; None with fewer than two sizes."""
    points = [(math.log(row["n"]), math.log(row["total_seconds"])) for row in rows]
    if len({x for x, _ in points}) < 2:
        return None
    return statistics.linear_regression([x for x, _ in points], [y for _, y in points]).slope


def predictions(record: Record) -> str:
    """What `recommend` predicts beside what is measured."""
    rows = cells(record, "quality")
    body, near, covered = [], 0, 0
    for row in rows:
        near += abs(row["predicted"] - row["measured"]) <= 0.02
        covered += row["low"] <= row["measured"] <= row["high"]
        band = f"{row['low']:.3f}-{row['high']:.3f}"
        said = [f"{row[part]:.3f}" for part in ("predicted", "measured")]
        setting = [row["data"], row["estimator"], str(row["n_bits"]), str(row["oversampling"])]
        body.append([*setting, f"{row['searched']:,}", f"{row['rows']:,}", said[0], band, said[1]])
    return (
        "## Recall that `recommend` predicts\n\n"
        f"Recall@10, {seeds_of(rows)}; 1,000 queries for the prediction, 1,000 others for the measurement. Codes are "
        f"scored against float queries. {near} of {len(rows)} predictions are within 0.02 of what was measured, and "
        f"the band holds it in {covered}.\n\n"
        + table(
            ["data", "estimator", "bits", "oversampling", "searched", "predicted for", "predicted", "band", "measured"],
            body,
        )
        + "\n"
    )


def searches(record: Record) -> str:
    """Queries a second through all codes."""
    body = []
    for row in record["rows"]:
        first = next(iter(row["rates"].values()))
        added = f"{100 * row['added_bytes'] / row['code_bytes']:.1f} %"
        for name, rate in row["rates"].items():
            own = added if name in ("flipwise, own kernel", "flipwise, tables") else "-"
            body.append([row["kind"], f"{row['n']:,}", name, f"{rate:,.0f}", f"{rate / first:.2f}", own])
    return (
        "## Search through all codes\n\nQueries a second, 10 neighbours of 100 queries, one thread; codes of 256 bits "
        "or 32 bytes. *of the first*: the ratio to faiss. Memory: what a search adds to the process, of the codes.\n\n"
        + table(["search", "codes", "by", "queries a second", "of the first", "added memory"], body)
        + "\n"
    )


def scale(record: Record) -> str:
    """Large indexes in lists."""
    body = []
    for row in sorted(record["rows"], key=lambda row: row["n"]):
        for probes, recall in row["recall_10"].items():
            body.append(
                [
                    f"{row['n']:,}", str(row["lists"]), str(row["bytes"]), f"{row['seconds']['train']:.0f} s",
                    f"{row['rows_a_second']:,.0f}", f"{row['peak_bytes'] / 1e6:,.0f} MB", str(probes),
                    f"{1000 * row['seconds'][f'search_{probes}']:.1f} ms", f"{recall:.3f}",
                    f"{row['recall_10_in_100'][probes]:.3f}",
                ]
            )  # fmt: skip
    head = ["rows", "lists", "bytes", "training", "rows a second", "peak", "probes", "a query", "@10", "10 in 100"]
    return (
        "## A large index\n\nGenerated rows of 128 features, learned from 20,000 of them, encoded and put into lists, "
        "one thread; 100 queries, one at a time, truth by cosine among all rows. *10 in 100*: the share of the true 10 "
        "that is among the first 100, which re-ranking by the vectors would find.\n\n" + table(head, body) + "\n"
    )


SECTIONS: dict[str, Callable[[Record], str]] = {
    "hashing_cifar_optimisers": cifar,
    "hashing_cifar_best": best,
    "hashing_cifar_tuning": tuning,
    "hashing_tables": originals,
    "embedding_bytes": equal_bytes,
    "recommendation": predictions,
    "vector_search": searches,
    "index_scale": scale,
    "embedding_compression": compression,
    "hashing_growth": growth,
}


def main() -> None:
    """Write the page from the files that exist."""
    write_page("hashing", "Learning to hash", SECTIONS)


if __name__ == "__main__":
    main()
