"""The process that `interrupts.py` sends its signals to: it calls one function again and again and says what happened.

python benchmarks/interrupt_worker.py FUNCTION SIGINT      # then a line of JSON on standard input for every call
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from interrupt_commands import CASES
from interrupt_functions import Case

OUTSIDE = "outside"
"""The interrupt met the worker itself, before or after the call, or the call when its answer was on its way out."""
GIVING_BACK = ("_Guard.__exit__", "_Guard.leave", "_put_back", "ExitStack.__exit__")
"""What a call does last, with its answer in hand: it puts the program's own handlers back. One of these may be called
before the call has returned; what it raises there is the program's business."""

Outcome = dict[str, Any]


class Reports:
    """Lines of JSON to whoever started the worker; what the calls themselves print goes elsewhere."""

    def __init__(self) -> None:
        self._to = os.dup(1)
        os.dup2(2, 1)

    def send(self, **message: Any) -> None:
        """One line, written at once."""
        os.write(self._to, (json.dumps(message) + "\n").encode())


class Arrivals:
    """Whether a signal has arrived, however it was handled."""

    def __init__(self) -> None:
        self._read, write = os.pipe()
        for end in (self._read, write):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)

    def any(self, number: int) -> bool:
        """Whether there was one since the last question."""
        try:
            return number in os.read(self._read, 4096)
        except BlockingIOError:
            return False


def work(name: str, number: int) -> None:
    """Serve one function: a call for every line of standard input, which may be interrupted by this signal."""
    signal.signal(number, signal.SIG_IGN)
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    reports = Reports()
    case = CASES[name]()
    if not case.is_command:
        for threads in (1, None):  # compiles
            case.call(lambda progress: None, threads)
    reports.send(prepared=True)
    arrivals = Arrivals()
    for line in sys.stdin:
        threads = json.loads(line)
        if not case.is_command:
            reports.send(**attempted(case, threads, number, reports, arrivals))
            continue
        process = os.fork()
        if process == 0:
            try:
                for stream, file in ((1, "stdout"), (2, "stderr")):
                    os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
                Path("answer.txt").unlink(missing_ok=True)
                reports.send(**attempted(case, threads, number, reports, Arrivals()))
                os._exit(0)
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        status = os.waitpid(process, 0)[1]
        if status != 0:  # it has said nothing itself
            said = " / ".join(Path("stderr").read_text().splitlines()[-12:])
            reports.send(outcome="error", where=f"the process ended with status {status}: {said}")


def attempted(case: Case, threads: int | None, number: int, reports: Reports, arrivals: Arrivals) -> Outcome:
    """One call, which may be interrupted: its outcome and what it left behind."""
    import numba

    from flipwise.foundation.interrupts import end_process

    usual = signal.default_int_handler if number == signal.SIGINT else end_process
    iterations = 0

    def watch(progress: Any) -> None:
        nonlocal iterations
        iterations += 1

    before = numba.get_num_threads(), _threads()
    arrivals.any(number)
    result: Any = None
    handler: Any = None
    inside = False
    outcome: Outcome = {"outcome": "result"}
    try:  # the signal may come as soon as it is heeded, before the call has begun
        signal.signal(number, usual)
        reports.send(ready=os.getpid(), began=time.monotonic())
        try:
            inside = True
            result = case.call(watch, threads)
            inside = False
        finally:
            handler = signal.getsignal(number)
            signal.signal(number, signal.SIG_IGN)
    except (KeyboardInterrupt, SystemExit) as error:
        expected = isinstance(error, KeyboardInterrupt) if number == signal.SIGINT else _code(error) == 128 + number
        where = where_interrupted(error) if inside else OUTSIDE
        outcome = {"outcome": where, "where": _last_frames(error)}
        if not expected:
            outcome = {"outcome": "error", "where": f"{error!r} {_last_frames(error)}"}
    except BaseException as error:
        outcome = {"outcome": "error", "where": f"{type(error).__name__}: {error} {_last_frames(error)}"}
    signal.signal(number, signal.SIG_IGN)
    outcome |= {"ended": time.monotonic(), "arrived": arrivals.any(number)}
    if outcome["outcome"] == OUTSIDE:
        return outcome
    ended_program = case.is_command and handler is signal.SIG_IGN
    outcome["left"] = _left_behind(usual if ended_program else handler, usual, *before)
    if case.is_command:
        sys.stdout.flush()
        sys.stderr.flush()
        return _ended_command(case, outcome, result, 128 + number)
    if outcome["outcome"] == "result":
        outcome |= {"wrong": _what_is_wrong(case, result), "status": _status(result)}
    return {**outcome, "iterations": iterations}


def _what_is_wrong(case: Case, result: Any) -> str | None:
    """What is wrong with an answer; an error in looking, such as a checkpoint that nothing resumes, is wrong too."""
    try:
        return case.wrong(result)
    except Exception as error:
        return f"{type(error).__name__}: {error} {_last_frames(error)}"


def _code(error: BaseException) -> Any:
    return error.code if isinstance(error, SystemExit) else None


def _ended_command(case: Case, outcome: Outcome, code: int, interrupted: int) -> Outcome:
    """The outcome of a command in the words of that of a function."""
    said = Path("stderr").read_text()
    outcome["iterations"] = len(re.findall(r"^[* ] +\d+ .*s$", said, re.MULTILINE))
    if outcome["outcome"] != "result":
        return {**outcome, "outcome": "error", "where": f"traceback: {outcome['where']}"}
    if "Traceback" in said or "unexpected" in said or code not in (0, interrupted):
        told = " / ".join(said[max(0, said.find("Traceback") - 200) :].splitlines()[:12])
        return {**outcome, "outcome": "error", "where": f"exit code {code}: {told}"}
    if code == interrupted and "before there was an answer" in said:
        stray = "left the file of an answer" if Path("answer.txt").exists() else None
        return {**outcome, "outcome": "interrupt", "where": "the command", "left": outcome["left"] or stray}
    return {**outcome, "wrong": case.wrong(code), "status": "INTERRUPTED" if code == interrupted else "finished"}


def where_interrupted(error: BaseException) -> str:
    """Whether an interrupt came from inside the call: from deeper than `attempted` and the case's own line.

    One that the program's own handler raised while the call was giving the handlers back came after it.
    """
    from flipwise.foundation.interrupts import end_process

    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)][2:]
    by_program = isinstance(error, KeyboardInterrupt)  # whose handler has no frame; the library's has one
    if codes and codes[-1] is end_process.__code__:
        by_program = True
        del codes[-1]
    return OUTSIDE if not codes or (by_program and codes[-1].co_qualname in GIVING_BACK) else "interrupt"


def _last_frames(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames))


def _left_behind(handler: Any, usual: Any, numba_threads: int, active: int) -> str | None:
    """What the call did not put back."""
    import numba

    if handler is not usual:
        return f"the handler is {handler}"
    if numba.get_num_threads() != numba_threads:
        return f"Numba has {numba.get_num_threads()} threads, {numba_threads} before"
    until = time.monotonic() + 10.0  # a thread may be about to end, on a busy machine
    while _threads() > active and time.monotonic() < until:
        time.sleep(0.01)
    return f"{_threads() - active} threads still run" if _threads() > active else None


def _threads() -> int:
    """The threads there are, but for those that wait for rows of kernels as long as the process lives."""
    return sum(not thread.name.startswith("flipwise-blocks") for thread in threading.enumerate())


def _status(result: Any) -> str | None:
    """The name of the status of a result, of a fitted estimator's, or of any result of several."""
    several = list(result) if hasattr(result, "ks") else [getattr(result, "result_", result)]
    names = [each.status.name for each in several if hasattr(each, "status")]
    return "INTERRUPTED" if "INTERRUPTED" in names else names[-1] if names else None


if __name__ == "__main__":
    work(sys.argv[1], signal.Signals[sys.argv[2]])
