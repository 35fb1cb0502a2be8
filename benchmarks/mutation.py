"""Mutation check: small faults put into engine, DPCD, constraints and bounds, one at a time; the tests must notice.

    python benchmarks/mutation.py                # 160 mutants drawn with a fixed seed
    python benchmarks/mutation.py --room engine    # of one room only
    python benchmarks/mutation.py --again        # once more those that the stored run lists as survivors

A mutant changes one expression or statement inside a function: a comparison, an operator, a number, a condition, a
call of min or max, a returned value. Messages, annotations, assertions and the module-level constants that only tune
speed are left alone. Tests are collected once; for each mutant those of its own room run in a forked process, quickest
first, until one fails. Results go to results/robustness-mutation.json; `robustness_page.py` says why a survivor is no
gap in the tests.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import json
import os
import random
import resource
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from recording import RESULTS, ROOT, Recorder

ROOMS = {
    "engine": ["tests/engine", "tests/test_minimization.py"],
    "solvers/dpcd": ["tests/solvers/dpcd", "tests/test_minimization.py"],
    "model/constraints": ["tests/model", "tests/test_minimization.py"],
    "model/counts": ["tests/model", "tests/test_minimization.py", "tests/exactness"],
    "model/rows": ["tests/model", "tests/test_minimization.py", "tests/exactness"],
    "model/feasibility": ["tests/model", "tests/test_minimization.py", "tests/exactness"],
    "bounds": [
        *("tests/bounds", "tests/solvers/test_relaxed.py", "tests/qubo/test_solve.py"),
        *("tests/model/test_rows.py", "tests/exactness"),
    ],
}
"""Where the tests of each room are."""
SLOW = "not nearly_always_optimal"
"""Statistical tests of minutes are left out: what only they would catch counts as survived."""
SLOW_SECONDS = 5.0
"""So are single tests that take longer than this."""
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


def functions(namespace: dict[str, Any], module: str) -> dict[str, FunctionType]:
    """Every function and method that a module defines, by its qualified name."""
    found: dict[str, FunctionType] = {}

    def add(value: Any) -> None:
        value = getattr(value, "__func__", getattr(value, "fget", getattr(value, "func", value)))
        if isinstance(value, FunctionType) and value.__module__ == module:
            found[value.__qualname__] = value

    for value in namespace.values():
        add(value)
        if isinstance(value, type) and value.__module__ == module:
            for member in vars(value).values():
                add(member)
    return found


def put_into_effect(mutant: Mutant) -> None:
    """Give the functions of the loaded module the code of the mutant; whoever has imported them has the mutant."""
    name = mutant.file.removeprefix("src/").removesuffix(".py").replace("/", ".")
    module = importlib.import_module(name)
    scratch: dict[str, Any] = {"__name__": name, "__file__": module.__file__}
    sys.modules[name] = types.ModuleType(name)  # where dataclasses look for the names of their module
    sys.modules[name].__dict__.update(scratch)
    exec(compile(mutant.source, str(module.__file__), "exec"), sys.modules[name].__dict__)
    changed = functions(sys.modules[name].__dict__, name)
    sys.modules[name] = module
    for qualified, function in functions(vars(module), name).items():
        other = changed[qualified]
        function.__code__ = other.__code__
        function.__defaults__, function.__kwdefaults__ = other.__defaults__, other.__kwdefaults__


class Loop:
    """A pytest plugin: instead of once, the collected tests run for each mutant, in a process forked for it."""

    def __init__(self, drawn: list[Mutant], told: Callable[[Mutant, str, str | None], None]) -> None:
        self.drawn, self.told = drawn, told
        self.pipe, self.begun = -1, 0.0

    def pytest_runtestloop(self, session: Any) -> bool:
        seconds = self._measured(session)
        quick = sorted((item for item in session.items if item.nodeid in seconds), key=lambda i: seconds[i.nodeid])
        print(f"{len(quick)} tests, {sum(seconds.values()):.0f} s", flush=True)
        for mutant in self.drawn:
            room = next(room for room in ROOMS if mutant.file.startswith(f"src/flipwise/{room}"))
            paths = (mutant.file, *ROOMS[room])
            self.told(mutant, *self._outcome([item for item in quick if item.nodeid.startswith(paths)], mutant))
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        if self.pipe >= 0 and report.failed:
            os.write(self.pipe, f"failed {report.nodeid}\n".encode())
            os._exit(1)
        if self.pipe >= 0 and report.when == "call":
            os.write(self.pipe, f"{_spent() - self.begun} {report.nodeid}\n".encode())
        self.begun = _spent()

    def _measured(self, session: Any) -> dict[str, float]:
        """The seconds of every test without any mutant; all must pass. Two rounds: the first compiles."""
        for _ in range(2):
            ended, said = self._forked(session.items, None)
            bad = [line for line in said if line.startswith("failed")]
            if bad or ended != 0:
                raise SystemExit(f"without any mutant: {bad[0] if bad else 'ended early'}")
        rows = (line.split(" ", 1) for line in said)
        return {name: float(seconds) for seconds, name in rows if float(seconds) < SLOW_SECONDS}

    def _outcome(self, items: list[Any], mutant: Mutant) -> tuple[str, str | None]:
        ended, said = self._forked(items, mutant)
        if ended == 0:
            return "survived", None
        failed = [line.removeprefix("failed ") for line in said if line.startswith("failed")]
        return "caught", failed[0] if failed else "the limit of time" if os.WIFSIGNALED(ended) else "a crash"

    def _forked(self, items: list[Any], mutant: Mutant | None) -> tuple[int, list[str]]:
        """Run tests in a child until one fails; (how it ended, what it said)."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            self.pipe = writing
            try:
                if mutant is not None:
                    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU, MOST_CPU))
                    put_into_effect(mutant)
                for item, following in zip(items, [*items[1:], None]):
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            except BaseException as error:
                os.write(writing, f"failed {type(error).__name__}\n".encode())
                os._exit(1)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as lines:
            said = lines.read().splitlines()
        return os.waitpid(child, 0)[1], said


def _spent() -> float:
    """Processor seconds of this process and those that it has ended: a busy machine makes no test a slow one."""
    return sum(os.times()[:4])


def _files(room: str) -> list[Path]:
    """The modules of a room, which is a folder or a single module."""
    place = ROOT / "src" / "flipwise" / room
    return sorted(place.glob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def main() -> int:
    """Draw, test, store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=160)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--room", action="append", choices=sorted(ROOMS), help="only this room (may be repeated)")
    parser.add_argument("--again", action="store_true", help="only the survivors of the stored run")
    arguments = parser.parse_args()
    rooms = arguments.room or list(ROOMS)
    files = [path for room in rooms for path in _files(room)]
    everything = [mutant for path in files for mutant in mutants(path)]
    stored = json.loads((RESULTS / f"{NAME}.json").read_text())["rows"] if arguments.again else []
    drawn = random.Random(arguments.seed).sample(everything, min(arguments.count, len(everything)))
    if arguments.again:
        known = {(r["file"], r["line"], r["before"], r["after"]) for r in stored if r["outcome"] == "survived"}
        drawn = [mutant for mutant in everything if tuple(mutant)[:4] in known]
    recorder = Recorder(NAME)
    recorder.record["mutants"] = len(everything)
    for row in stored:
        if row["outcome"] == "caught":
            recorder.add(**row)

    def told(mutant: Mutant, result: str, test: str | None) -> None:
        row = {"file": mutant.file, "line": mutant.line, "before": mutant.before, "after": mutant.after}
        recorder.add(**row, outcome=result, test=test)
        print(f"{result} {mutant.file}:{mutant.line}  {mutant.before}  ->  {mutant.after}   {test or ''}", flush=True)

    import pytest

    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    options = ["-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "-k", SLOW, "--tb=no", "--timeout=600", "-s"]
    tests = {path for room in rooms for path in ROOMS[room]}
    tests |= {str(path.relative_to(ROOT)) for path in files}
    pytest.main([*options, *sorted(tests)], plugins=[Loop(drawn, told)])
    rows = recorder.record["rows"]
    caught = sum(row["outcome"] == "caught" for row in rows)
    print(f"{caught} of {len(rows)} caught")
    return 0 if caught >= 0.9 * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
