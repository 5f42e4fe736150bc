"""Ctrl-C while the library works.

Python's own handler of SIGINT only notes the signal; the note is read when C code comes back. But
it also writes the signal's number to a file descriptor (signal.set_wakeup_fd). While the main
thread is inside the library that descriptor is a pipe of ours, and a thread at its other end asks
the library to stop. The call then comes back, and Python raises KeyboardInterrupt as usual. This
costs two system calls for each solve, and reaches set-up and devices as well as iterations.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

from ._library import lib

_guard = threading.Lock()
_running: list[Any] = []  # contexts that the main thread is inside of
_asked: list[Any] = []  # those that were asked to stop
_pipe: tuple[int, int] | None = None
_previous = -1  # whoever had the wake-up descriptor before: asyncio


def _listen(reading: int) -> None:
    while True:
        try:
            signals = os.read(reading, 64)
        except OSError:
            return
        if not signals:
            return
        if signal.SIGINT in signals:
            with _guard:
                for context in _running:
                    lib.spry_context_interrupt(context)
                _asked.extend(_running)
        if _previous != -1:
            try:
                os.write(_previous, signals)
            except OSError:
                pass


def _start() -> tuple[int, int]:
    global _pipe
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    threading.Thread(target=_listen, args=(reading,), name="spry-interrupt", daemon=True).start()
    _pipe = reading, writing
    return _pipe


def _after_fork() -> None:
    """A child has no listener, and must not write into its parent's pipe."""
    global _pipe, _guard
    _guard = threading.Lock()
    _running.clear()
    _asked.clear()
    _pipe = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def begin(context: Any) -> bool:
    """Called before long work in the library; whether `end` has something to do."""
    global _previous
    if threading.get_ident() != threading.main_thread().ident:
        return False
    if not _running:
        pipe = _pipe or _start()
        try:
            before = signal.set_wakeup_fd(pipe[1], warn_on_full_buffer=False)
        except ValueError:  # a second interpreter
            return False
        if before != pipe[1]:  # else a second Ctrl-C has kept `end` from its end
            _previous = before
    with _guard:
        _forget()
        _running.append(context)
    return True


def _forget() -> None:
    """A request that came too late for the call before is none for the next; Python has raised
    KeyboardInterrupt for it, or will."""
    while _asked:
        lib.spry_context_interrupted(_asked.pop(), True)


def end() -> None:
    """Called after it."""
    with _guard:
        if _running:  # not in a child of this call's callback
            _running.pop()
        _forget()
    if not _running:
        signal.set_wakeup_fd(_previous)
