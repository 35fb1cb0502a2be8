"""Signals are raised where a block says so, held back elsewhere, and everything is put back afterwards."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flipwise.foundation import interrupts as subject
from flipwise.foundation.interrupts import (
    SIGNALS,
    end_process,
    guarded_interrupts,
    held_interrupts,
    interrupted_code,
    raising_interrupts,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs the signals of POSIX")
USUAL = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}


@pytest.fixture(autouse=True)
def usual_handlers() -> Iterator[None]:
    """Every test begins with the handlers of a fresh interpreter (a background job ignores some), and leaves them."""
    before = {number: signal.signal(number, handler) for number, handler in USUAL.items()}
    yield
    assert {number: signal.getsignal(number) for number in USUAL} == USUAL
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_is_remembered_and_not_raised(number: signal.Signals) -> None:
    """Inside the guard alone a signal breaks nothing off, and its code is the exit code."""
    with guarded_interrupts() as interrupts:
        signal.raise_signal(number)
        assert interrupts.requested and interrupts.number == number
        assert interrupted_code() == 128 + number
    assert interrupted_code() == 128 + number


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("before", [False, True])
def test_a_signal_is_raised_where_the_block_says_so(number: signal.Signals, before: bool) -> None:
    """Also one that came before the block; outside of the guard it is a KeyboardInterrupt or the usual exit."""
    inside: list[str] = []
    expected = KeyboardInterrupt if number == signal.SIGINT else SystemExit
    with pytest.raises(expected) as caught, guarded_interrupts() as interrupts:
        if before:
            signal.raise_signal(number)
        with interrupts.raised_here():
            inside.append("begun")
            signal.raise_signal(number)
            inside.append("not reached")
    assert inside == ([] if before else ["begun"])
    if number != signal.SIGINT:
        assert isinstance(caught.value, SystemExit) and caught.value.code == 128 + number


def test_a_held_block_comes_to_its_end_first() -> None:
    """The signal stops what the block was told to stop, and is raised when the block is over."""
    seen: list[str] = []
    with guarded_interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt), interrupts.raised_here():
            assert raising_interrupts() is interrupts
            with interrupts.held(lambda: seen.append("stop")):
                assert raising_interrupts() is None
                signal.raise_signal(signal.SIGINT)
                with held_interrupts():
                    seen.append("end")
            seen.append("not reached")
        assert seen == ["stop", "end"]
        with interrupts.held(lambda: seen.append("already")):  # too late to ask: it is told at once
            pass
    assert seen == ["stop", "end", "already"]


def test_a_held_block_in_a_raising_one_inside_a_held_one() -> None:
    """What a pool of threads does: held as a whole, raising in the user's callback, held again in a kernel there."""
    with guarded_interrupts() as interrupts:
        with (
            pytest.raises(KeyboardInterrupt),
            interrupts.raised_here(),
            interrupts.held(),
            interrupts.raised_here(),
        ):
            with held_interrupts():
                signal.raise_signal(signal.SIGINT)
            pytest.fail("the interrupt is raised at the end of the held block")
        assert not interrupts.raising


def test_clean_up_after_an_interrupt_is_not_interrupted_by_it() -> None:
    """Held blocks in a `finally` do not raise the same signal once more; a second one soon after is only remembered."""
    cleaned = False
    with guarded_interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt), interrupts.raised_here():
            try:
                signal.raise_signal(signal.SIGINT)
            finally:
                with held_interrupts():
                    pass
                signal.raise_signal(signal.SIGTERM)
                cleaned = True
        assert cleaned and interrupts.number == signal.SIGTERM


def test_a_lost_exception_can_be_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that swallows the exception does not make the block deaf: a later signal is raised again."""
    monkeypatch.setattr(subject, "AGAIN", 0.0)
    with guarded_interrupts() as interrupts, interrupts.raised_here():
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)


def test_a_guard_inside_another_shares_it() -> None:
    """Only the outermost one puts the handlers back."""
    with guarded_interrupts() as outer:
        with guarded_interrupts() as inner:
            assert inner is outer
        assert signal.getsignal(signal.SIGINT) == outer.handle
        signal.raise_signal(signal.SIGINT)
    assert outer.requested


@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda number, frame: None])
def test_handlers_of_ones_own_stay(handler: Any) -> None:
    """A program's own handler, and what nohup sets, is not replaced; other signals are guarded all the same."""
    signal.signal(signal.SIGHUP, handler)
    try:
        with guarded_interrupts() as interrupts:
            assert signal.getsignal(signal.SIGHUP) is handler
            signal.raise_signal(signal.SIGHUP)
            assert not interrupts.requested
            signal.raise_signal(signal.SIGTERM)
            assert interrupts.requested
        assert signal.getsignal(signal.SIGHUP) is handler
    finally:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_handler_that_raises_while_they_are_changed_leaves_none_behind(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program's own SIGTERM between two of the steps that take the handlers or give them back."""
    signal.signal(signal.SIGTERM, end_process)
    change, found, raised = signal.signal, signal.getsignal, []  # type: ignore[var-annotated]

    def meanwhile(number: int, handler: Any) -> Any:
        made = change(number, handler)
        if number == signal.SIGTERM and handler == end_process and not raised:
            raised.append(number)
            os.kill(os.getpid(), signal.SIGTERM)
        return made

    def asked(number: int) -> Any:
        if number == signal.SIGTERM:
            os.kill(os.getpid(), signal.SIGTERM)
        return found(number)

    try:
        with pytest.raises(SystemExit):
            if place == "before":
                monkeypatch.setattr(subject.signal, "getsignal", asked)
                guarded_interrupts().__enter__()
            else:
                with guarded_interrupts():
                    monkeypatch.setattr(subject.signal, "signal", meanwhile)
        monkeypatch.undo()
        assert {number: signal.getsignal(number) for number in USUAL} == {**USUAL, signal.SIGTERM: end_process}
        assert raising_interrupts() is None
    finally:
        monkeypatch.undo()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def test_other_threads_have_no_signals() -> None:
    """A guard in another thread changes nothing, and holding there does not hold the main thread."""
    found: list[Any] = []

    def work() -> None:
        with guarded_interrupts() as own, own.raised_here(), held_interrupts():
            found.append((own, raising_interrupts()))

    with guarded_interrupts() as interrupts, interrupts.raised_here():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert raising_interrupts() is interrupts
    ((own, raising),) = found
    assert own is not interrupts and not own.requested and raising is None


def test_the_programs_own_handler_is_guarded_too() -> None:
    """`end_process` is a SystemExit outside of a guard, and held back inside."""
    before = signal.signal(signal.SIGTERM, end_process)
    try:
        with guarded_interrupts() as interrupts:
            signal.raise_signal(signal.SIGTERM)
        assert interrupts.requested and signal.getsignal(signal.SIGTERM) is end_process
        with pytest.raises(SystemExit) as caught:
            signal.raise_signal(signal.SIGTERM)
        assert caught.value.code == 143
    finally:
        signal.signal(signal.SIGTERM, before)


def _answer(pid_file: Path) -> None:
    with guarded_interrupts():
        os.kill(os.getpid(), signal.SIGTERM)
    Path(pid_file).write_text("went on")


def test_a_process_of_multiprocessing_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    """Whoever called `terminate` waits for that: the answer is not waited for by anybody."""
    process = multiprocessing.get_context("spawn").Process(target=_answer, args=(tmp_path / "on",))
    process.start()
    process.join(60)
    assert process.exitcode == 143 and not (tmp_path / "on").exists()


def test_a_compiler_is_not_broken_off() -> None:
    """A signal in the middle of a compilation is raised after it, in a run or outside; the next call works."""
    script = """
import contextlib, signal, numpy as np
signal.signal(signal.SIGINT, signal.default_int_handler)
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.kernels import jit
@jit.kernel
def total(a):
    s = 0.0
    for i in range(a.size):
        s += a[i]
    return s
total.compile()
from numba.core import event
passes = 0
class Press(event.Listener):
    def on_start(self, happening):
        global passes
        passes += 1
        if passes == 5:
            signal.raise_signal(signal.SIGINT)
    def on_end(self, happening): pass
for numbers, guard in ((np.ones(5), guarded_interrupts), (np.ones(5, np.float32), contextlib.nullcontext)):
    passes = 0
    with event.install_listener("numba:run_pass", Press()), guard() as interrupts:
        try:
            with contextlib.nullcontext() if interrupts is None else interrupts.raised_here():
                total(numbers)
                print("not reached")
        except KeyboardInterrupt:
            print("interrupted", passes > 10)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    print(total(numbers))
"""
    environment = os.environ | {"FLIPWISE_NUMBA_CACHE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment
    )  # fmt: skip
    assert done.stdout.split() == 2 * ["interrupted", "True", "5.0"], done.stderr
