"""Mutation check: small faults put into `dpcd`, `constraints` and `certify`, one at a time; the tests must notice.

    python benchmarks/mutation.py                # 160 mutants drawn with a fixed seed
    python benchmarks/mutation.py --again        # once more those that the stored run lists as survivors

A mutant changes one expression or statement inside a function: a comparison, an operator, a number, a condition, a
call of min or max, a returned value. Messages, annotations, assertions and the module-level constants that only tune
speed are left alone. The tests of the mutant's own room run in a forked process until one fails. Results go to
results/robustness-mutation.json; `robustness_page.py` says why a survivor is no gap in the tests.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from recording import RESULTS, ROOT, Recorder

ROOMS = {
    "dpcd": ["tests/dpcd", "tests/test_minimize.py"],
    "constraints": ["tests/constraints", "tests/dpcd", "tests/test_minimize.py"],
    "certify": ["tests/certify", "tests/solvers/test_relaxations.py", "tests/qubo/test_solve.py"],
}
"""Where the tests of each room are."""
SLOW = "not nearly_always_optimal"
"""Statistical tests of minutes are left out: what only they would catch counts as survived."""
MOST_CPU = 120
"""Processor seconds after which a mutant hangs, which the tests' own limits would notice."""
NAME = "robustness-mutation"

_COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.FloorDiv: ast.Mod, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_CALLED = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}
_CALLED |= {"argmin": "argmax", "argmax": "argmin", "zeros": "ones", "ones": "zeros", "floor": "ceil", "ceil": "floor"}


class Mutant(NamedTuple):
    """A changed file and what was changed in it."""

    file: str
    line: int
    before: str
    after: str
    source: str


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """What a node may be replaced by."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
        yield ast.Compare(node.left, [_COMPARED[type(node.ops[0])](), *node.ops[1:]], node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        yield ast.BinOp(node.left, _COMPUTED[type(node.op)](), node.right)
    elif isinstance(node, ast.AugAssign) and type(node.op) in _COMPUTED:
        yield ast.AugAssign(node.target, _COMPUTED[type(node.op)](), node.value)
        yield ast.Pass()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _CALLED:
            changed = copy.deepcopy(node.func)
            setattr(changed, "attr" if isinstance(changed, ast.Attribute) else "id", _CALLED[name])
            yield ast.Call(changed, node.args, node.keywords)
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        test = ast.UnaryOp(ast.Not(), node.test)
        fields = {name: value for name, value in ast.iter_fields(node) if name != "test"}
        yield type(node)(test=test, **fields)
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Continue):
        yield ast.Break()


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """(parent, field, index) of every node inside functions that may be changed."""

    def walk(node: ast.AST, inside: bool) -> Iterator[tuple[ast.AST, str, int | None]]:
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "type_comment"):
                continue
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(child, ast.AST) or isinstance(child, ast.Raise | ast.Assert | ast.JoinedStr):
                    continue
                if isinstance(child, ast.FunctionDef) and child.name in ("__repr__", "__str__"):
                    continue
                if inside:
                    yield node, field, index
                yield from walk(child, inside or isinstance(child, ast.FunctionDef))

    yield from walk(tree, False)


def mutants(path: Path) -> Iterator[Mutant]:
    """Every mutant of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for parent, field, index in list(places(tree)):
        held = getattr(parent, field)
        node = held if index is None else held[index]
        for changed in variants(node):
            ast.copy_location(changed, node)
            _put(parent, field, index, changed)
            source = ast.unparse(ast.fix_missing_locations(tree))
            _put(parent, field, index, node)
            before, after = (ast.unparse(each).splitlines()[0] for each in (node, changed))
            yield Mutant(path.relative_to(ROOT).as_posix(), node.lineno, before, after, source)


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def outcome(copied: Path, mutant: Mutant) -> tuple[str, str | None]:
    """("caught" or "survived", the test that noticed)."""
    path = copied / mutant.file
    whole = path.read_text(encoding="utf-8")
    room = mutant.file.split("/")[2]
    log = copied / "log"
    path.write_text(mutant.source, encoding="utf-8")
    try:
        child = os.fork()
        if child == 0:
            _test(copied, [mutant.file, *ROOMS[room]], log)
        _, ended = os.waitpid(child, 0)
    finally:
        path.write_text(whole, encoding="utf-8")
    if ended == 0:
        return "survived", None
    if os.WIFSIGNALED(ended):
        return "caught", "the limit of time"
    failed = [line for line in log.read_text(encoding="utf-8").splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "caught", failed[0].split(" ")[1] if failed else f"exit code {os.waitstatus_to_exitcode(ended)}"


def _test(copied: Path, tests: list[str], log: Path) -> None:
    """In the child: run the tests until one fails; the exit code is pytest's."""
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU, MOST_CPU))
    os.chdir(copied)
    sys.path.insert(0, str(copied / "src"))
    sys.path.insert(0, str(copied))
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    import pytest

    code = 99
    try:
        code = pytest.main(
            [
                "-x",
                "-q",
                "-p",
                "no:cacheprovider",
                "--hypothesis-seed=0",
                "-k",
                SLOW,
                "--tb=line",
                "--timeout=600",
                *tests,
            ]
        )
    finally:
        sys.stdout.flush()
        os._exit(int(code))


def main() -> int:
    """Draw, test, store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=160)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="only the survivors of the stored run")
    arguments = parser.parse_args()
    files = [path for room in ROOMS for path in sorted((ROOT / "src" / "flipwise" / room).glob("*.py"))]
    everything = [mutant for path in files for mutant in mutants(path)]
    stored = json.loads((RESULTS / f"{NAME}.json").read_text())["rows"] if arguments.again else []
    drawn = random.Random(arguments.seed).sample(everything, min(arguments.count, len(everything)))
    if arguments.again:
        known = {(row["file"], row["before"], row["after"]) for row in stored if row["outcome"] == "survived"}
        drawn = [mutant for mutant in everything if (mutant.file, mutant.before, mutant.after) in known]
    import numba  # noqa: F401  the forked processes begin with these loaded
    import scipy.sparse.linalg  # noqa: F401

    recorder = Recorder(NAME)
    recorder.record["mutants"] = len(everything)
    for row in stored:
        if row["outcome"] == "caught":
            recorder.add(**row)
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder)
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, copied / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copied)
        os.environ["NUMBA_CACHE_DIR"] = str(copied / "kernels")
        for room, tests in ROOMS.items():
            untouched = ROOT / "src" / "flipwise" / room / "__init__.py"
            same = Mutant(untouched.relative_to(ROOT).as_posix(), 0, "", "", untouched.read_text(encoding="utf-8"))
            found = outcome(copied, same)
            if found != ("survived", None):
                print(f"{room}: the tests {tests} fail without any mutant: {found[1]}")
                return 2
        for mutant in drawn:
            result, test = outcome(copied, mutant)
            survived += result == "survived"
            row = {"file": mutant.file, "line": mutant.line, "before": mutant.before, "after": mutant.after}
            recorder.add(**row, outcome=result, test=test)
            print(
                f"{result} {mutant.file}:{mutant.line}  {mutant.before}  ->  {mutant.after}   {test or ''}", flush=True
            )
    rows = recorder.record["rows"]
    caught = sum(row["outcome"] == "caught" for row in rows)
    print(f"{caught} of {len(rows)} caught")
    return 0 if caught >= 0.85 * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
