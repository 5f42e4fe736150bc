"""Contexts: each Python thread has one, made when it is first needed."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections import deque
from typing import Any, Callable

from . import _interrupt
from ._errors import UsageError, failure
from ._library import ffi, lib, text


_log = logging.getLogger("spry")
_log.addHandler(logging.NullHandler())  # what deserves attention is a warning, too
_LEVELS = {lib.SPRY_LOG_WARNING: logging.WARNING, lib.SPRY_LOG_INFO: logging.INFO,
           lib.SPRY_LOG_DEBUG: logging.DEBUG}


@ffi.callback("spry_log_fn", onerror=lambda *_: None)
def _logged(_data: Any, level: int, line: Any) -> None:
    _log.log(_LEVELS[level], "%s", text(line))


class Context:
    """The library's memory, messages and threads, with a lock: one thread at a time uses it.

    `with context.lock:` stands around calls of the library. Entering and leaving are the lock's own,
    in C: Ctrl-C comes before or after, and leaves no lock closed. Objects that Python drops are
    freed when no call is inside, so that finalizers may come at any time and from any thread.
    """

    def __init__(self, options: str | None = None) -> None:
        made = ffi.new("spry_context **")
        if _log.isEnabledFor(logging.INFO):
            options = f"log={'debug' if _log.isEnabledFor(logging.DEBUG) else 'info'} {options or ''}"
        status = lib.spry_context_new(options.encode() if options else ffi.NULL, made)
        self._adopt(made[0])
        if status:
            raise failure(status, self.pointer)

    def _adopt(self, pointer: Any) -> None:
        self.pointer = ffi.gc(pointer, lib.spry_context_free)
        lib.spry_context_set_log(pointer, _logged, ffi.NULL)
        self.lock: Any = threading.RLock()
        self._dropped: deque[tuple[Callable[[Any], None], Any, Any]] = deque()
        _all.add(self)

    def sweep(self) -> None:
        """Frees what Python has dropped, unless a call is running."""
        if not self._dropped or self.lock._is_owned():
            return
        try:
            if self.lock.acquire(False):
                while self._dropped:
                    free, pointer, _kept = self._dropped.popleft()
                    free(pointer)
        finally:
            try:  # one call: Ctrl-C could strike between a question and the release
                self.lock.release()
            except RuntimeError:  # another thread has it
                pass

    def owned(self, pointer: Any, free: Callable[[Any], None], keep: Any = None) -> Any:
        """The pointer, freed when Python drops it; the context, and `keep`, live as long."""

        def drop(dead: Any) -> None:
            self._dropped.append((free, dead, keep))
            self.sweep()

        return ffi.gc(pointer, drop)

    def check(self, status: int) -> None:
        """Raises the exception of a status."""
        if status:
            raise failure(status, self.pointer)

    def patiently(self, call: Callable[..., int], *arguments: Any) -> None:
        """A call that may take long: Ctrl-C ends it."""
        listening = _interrupt.begin(self.pointer)
        try:
            status = call(*arguments)
        finally:
            if listening:
                _interrupt.end()
        if status:
            raise failure(status, self.pointer)

    def given(self, pointer: Any) -> str:
        """A text that the library allocated: taken over and freed."""
        try:
            return text(pointer)
        finally:
            lib.spry_free(self.pointer, pointer)

    @property
    def threads(self) -> int:
        """Threads in use by products and vector work."""
        return int(lib.spry_context_threads(self.pointer))


class _Mine(threading.local):
    context: Context | None = None


_mine = _Mine()
_all: Any = weakref.WeakSet()


def _threads_wanted() -> int:
    named = os.environ.get("SPRY_THREADS", "") or "0"
    if not named.isdecimal():
        raise UsageError(f"SPRY_THREADS={named}: a whole number is needed, 0 for all cores")
    return int(named)


_threads = _threads_wanted()


def current() -> Context:
    """The context of this thread."""
    context = _mine.context
    if context is None:
        context = _mine.context = Context(f"threads={_threads}" if _threads else None)
    context.sweep()
    return context


def use(context: Context | None) -> Context | None:
    """Sets the context of this thread; returns the one before."""
    before, _mine.context = _mine.context, context
    return before


def wanted_threads() -> int:
    """The number of set_threads(); 0: all cores."""
    return _threads


def set_threads(count: int) -> None:
    """Sets the threads that the library uses for objects made by this thread.

    Parameters
    ----------
    count : int
        0: all cores.

    Examples
    --------
    >>> import spry
    >>> spry.set_threads(1)
    >>> spry.threads()
    1
    >>> spry.set_threads(0)
    """
    global _threads
    context = Context(f"threads={int(count)}")
    _threads = int(count)
    _mine.context = context


def threads() -> int:
    """The threads that the library uses for objects made by this thread.

    Returns
    -------
    count : int

    Examples
    --------
    >>> import spry
    >>> spry.threads() >= 1
    True
    """
    return current().threads


def _after_fork() -> None:
    """In a child, releases the locks that other threads of the parent held. Those of this thread,
    which has forked in a callback, stay."""
    for context in list(_all):
        if not context.lock._is_owned():
            context.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
