"""What the library says went wrong, as Python's own kinds of exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._library import lib, text

if TYPE_CHECKING:
    from ._result import Result


class Error(Exception):
    """Anything that spry has to complain about; the message is the library's own."""


class UsageError(Error, ValueError):
    """An argument or an option is wrong."""


class InputError(Error, ValueError):
    """The data are not valid: a NaN, an index out of range, a broken file."""


class SingularError(Error, RuntimeError):
    """A matrix that `splu` and the like were to factor is singular."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class MemoryShortage(Error, MemoryError):
    """Memory, or the space on a disk, is exhausted."""


class Unsupported(Error, NotImplementedError):
    """This combination is not supported."""


class DeviceError(Error, RuntimeError):
    """A device or its driver failed."""


class SolverWarning(UserWarning):
    """A solve did what was asked in another way, or its result has a reservation."""


class NotConverged(Error, ArithmeticError):
    """A solve did not arrive, see `Result.check`; `result` is its record."""

    def __init__(self, result: "Result") -> None:
        super().__init__(result.headline())
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:  # pools send exceptions from process to process
        return NotConverged, (self.result,)


class ReleasedError(Error, ValueError):
    """An object was used after its close()."""


class ChangedError(Error, ValueError):
    """Arrays that a matrix has borrowed were changed without `Matrix.update`."""


_KINDS: dict[int, type[BaseException]] = {
    lib.SPRY_STATUS_BAD_USAGE: UsageError,
    lib.SPRY_STATUS_BAD_INPUT: InputError,
    lib.SPRY_STATUS_IO: FileError,
    lib.SPRY_STATUS_NO_MEMORY: MemoryShortage,
    lib.SPRY_STATUS_UNSUPPORTED: Unsupported,
    lib.SPRY_STATUS_INTERRUPTED: KeyboardInterrupt,
    lib.SPRY_STATUS_DEVICE: DeviceError,
    lib.SPRY_STATUS_DEVICE_LOST: DeviceError,
}


def failure(status: int, context: Any) -> BaseException:
    """The exception for a status that is not OK, with the context's message."""
    message = text(lib.spry_message(context)) if context else ""
    return _KINDS.get(status, Error)(message or text(lib.spry_status_text(status)))
