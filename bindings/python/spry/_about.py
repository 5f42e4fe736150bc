"""Lists of choices, explanations, and reports on a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _arrays
from ._context import current
from ._errors import UsageError
from ._library import ffi, lib, sized, taken, text, version
from ._matrix import Matrix
from ._result import Text, table

_LISTS = {name: value for name, value in taken("spry_list").items() if name != "count"}


def _entries(which: str) -> dict[str, str]:
    entry, found = sized("spry_entry"), {}
    index = 0
    while lib.spry_list_at(_LISTS[which], index, entry):
        found[text(entry.name)] = text(entry.summary)
        index += 1
    return found


def choices(which: str = "methods") -> dict[str, str]:
    """Names and summaries of a list.

    Parameters
    ----------
    which : str, optional
        methods, precons, formats, files, generators, orderings, objects.

    Returns
    -------
    choices : dict
        A line for each name.

    Examples
    --------
    >>> import spry
    >>> spry.choices("methods")["cg"]
    'conjugate gradients'
    """
    if which not in _LISTS:
        raise UsageError(f"lists are {', '.join(_LISTS)}, not {which!r}")
    return _entries(which)


def _options(options: Any) -> list[str]:
    lines = []
    for index in range(options.count):
        row = lib.spry_options_at(options, index)
        name, initial = text(row.name).replace("_", "-"), text(row.initial)
        words = f" (one of {text(row.words)})" if row.words else ""
        lines.append(f"  {name} = {initial}: {text(row.help)}{words}")
    return lines


def explain(what: Any = None) -> str:
    """Explains a method, preconditioner, storage format or solver; without a name, lists them.

    Parameters
    ----------
    what : str, Method or Solver, optional
        A name of `choices`, or an object.

    Returns
    -------
    text : str
        That a notebook shows as it is.

    Examples
    --------
    >>> import spry
    >>> print(spry.explain("sell").splitlines()[0])
    sell (formats): slices of rows, as wide as their longest
    >>> "conjugate gradients" in spry.explain("cg")
    True
    """
    from ._method import Method
    from ._solver import Solver

    if isinstance(what, Solver):
        return what.explain()
    if isinstance(what, Method):
        return Text(what.explanation)
    if what is None:
        lines = []
        for name in _LISTS:
            lines += [f"{name}: {text(lib.spry_list_summary(_LISTS[name]))}"]
            lines += [f"  {word:<14}{summary}" for word, summary in _entries(name).items()]
        return Text("\n".join(lines))
    entry = sized("spry_entry")
    for name, value in _LISTS.items():
        if lib.spry_list_find(value, str(what).encode(), entry):
            if name == "methods":
                return Text(_explain_method(str(what)))
            lines = [f"{text(entry.name)} ({name}): {text(entry.summary)}"]
            lines += [text(part) for part in (entry.purpose, entry.reference) if part]
            return Text("\n".join(lines + _options(entry.options)))
    raise UsageError(f"there is nothing called {what!r}; explain() without a name lists all")


def _explain_method(name: str) -> str:
    solver, explained = ffi.new("spry_solver **"), ffi.new("char **")
    context = current()
    with context.lock:
        context.check(lib.spry_solver_new(context.pointer, solver))
        try:
            context.check(lib.spry_solver_set_text(solver[0], b"method", name.encode()))
            context.check(lib.spry_solver_explain(solver[0], explained))
            return context.given(explained[0])
        finally:
            lib.spry_solver_free(solver[0])


class Facts(dict):
    """A dictionary that prints a line for each of its items, and is a table in a notebook."""

    def _repr_html_(self) -> str:
        return table(None, self.items())

    def __str__(self) -> str:
        width = max((len(name) for name in self), default=0) + 2
        return "\n".join(f"{name:<{width}}{value}" for name, value in self.items())


def info(A: Any = None) -> Facts:
    """The statistics of a matrix; without one, versions, threads and devices.

    Parameters
    ----------
    A : Matrix, sparse array or matrix, ndarray, tensor, optional

    Returns
    -------
    facts : dict
        That prints a line for each item.

    Examples
    --------
    >>> import spry
    >>> print(spry.info()["version"] == spry.__version__)
    True
    >>> spry.info(spry.generate("poisson2d", size=5))["nnz"]
    105
    """
    if A is not None:
        matrix = A if isinstance(A, Matrix) else Matrix(A)
        return Facts(matrix.stats())
    context = current()
    with context.lock:
        facts = Facts(version=version, threads=context.threads,
                      isa=text(lib.spry_context_isa(context.pointer)))
        record = sized("spry_device_info")
        index = 0
        while lib.spry_device_describe(context.pointer, index, record):
            about = text(record.description) or text(record.why)
            facts[text(record.name)] = about if record.usable else f"not usable: {text(record.why)}"
            index += 1
    return facts


class TuneReport:
    """The storage format that suits a matrix on this machine, with the figures of the choice."""

    def __init__(self, record: Any) -> None:
        self.format = text(record.format)
        self.remembered, self.untried = bool(record.remembered), bool(record.untried)
        self.products, self.seconds = int(record.products), float(record.seconds)
        self.rows: list[dict[str, Any]] = []
        for index in range(record.count):
            row = lib.spry_tune_row_at(record, index)
            self.rows.append({
                "format": text(row.format), "bytes": int(row.bytes),
                "model_seconds": float(row.model_seconds), "seconds": float(row.seconds),
                "conversion_seconds": float(row.conversion_seconds), "note": text(row.note),
            })

    def __str__(self) -> str:
        how = "remembered" if self.remembered else "by forecast" if self.untried else "by timing"
        lines = [f"{self.format} ({how}, for {self.products} products)",
                 f"  {'format':<24}{'MB':>9}{'forecast us':>13}{'timed us':>11}  note"]
        for row in self.rows:
            timed = f"{row['seconds'] * 1e6:.3g}" if row["seconds"] else "-"
            lines.append(f"  {row['format']:<24}{row['bytes'] / 1e6:>9.3g}"
                         f"{row['model_seconds'] * 1e6:>13.3g}{timed:>11}  {row['note']}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        names = ("format", "MB", "forecast us", "timed us", "note")
        return table(names, ((row["format"], row["bytes"] / 1e6, row["model_seconds"] * 1e6,
                              row["seconds"] * 1e6 or "-", row["note"]) for row in self.rows))

    def __repr__(self) -> str:
        return f"<spry.TuneReport: {self.format}, {len(self.rows)} formats seen>"


def tune(A: Any, *, device: str | None = None, **options: Any) -> TuneReport:
    """Finds the storage format with the least time for conversion and products together.

    Parameters
    ----------
    A : Matrix, sparse array or matrix, ndarray, tensor
    device : str, optional
        Where the products are to be made.
    **options
        products, budget, remember, again, always: as in `spry tune`.

    Returns
    -------
    report : TuneReport
        With the choice in `.format`, and a row for each format in `.rows`.

    Examples
    --------
    >>> import spry
    >>> spry.tune(spry.generate("poisson2d", size=5)).format
    'csr'
    """
    matrix = A if isinstance(A, Matrix) else Matrix(A)
    words = " ".join(f"{name.replace('_', '-')}={_word(value)}" for name, value in options.items())
    record = sized("spry_tune_report")
    context = matrix._context
    with context.lock:
        place = ffi.new("spry_device **")
        if device not in (None, "cpu"):
            context.check(lib.spry_device_open(context.pointer, str(device).encode(), place))
        try:
            context.patiently(lib.spry_tune, matrix.pointer, place[0], words.encode(), record)
            return TuneReport(record)
        finally:
            lib.spry_tune_report_clear(context.pointer, record)


def _word(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, (bool, np.bool_)) else str(value)


class Diagnosis(list):
    """Findings of the doctor, the worst first: dictionaries with code, severity, text, cause, next."""

    def _repr_html_(self) -> str:
        names = ("severity", "code", "text", "cause", "next")
        return table(names, ([f[name] for name in names] for f in self)) if self else str(self)

    def __str__(self) -> str:
        if not self:
            return "nothing was found"
        return "\n".join(f"{f['severity']} {f['code']}: {f['text']}\n  cause: {f['cause']}\n"
                         f"  next: {f['next']}" for f in self)


def doctor(A: Any, b: Any = None, **options: Any) -> Diagnosis:
    """What is wrong with a system, why, and what to do next, as `spry doctor` reports it.

    Parameters
    ----------
    A : Matrix, sparse array or matrix, ndarray, tensor
    b : array_like, optional
        Right-hand side.
    **options
        Those of `spry doctor`.

    Returns
    -------
    findings : Diagnosis
        A list of dictionaries, the worst first, which prints and shows as a table.

    Examples
    --------
    >>> import spry, numpy as np
    >>> found = spry.doctor(np.array([[1.0, 0.0], [2.0, 0.0]]))
    >>> found[0]["severity"]
    'error'
    """
    matrix = A if isinstance(A, Matrix) else Matrix(A)
    words = " ".join(f"{name.replace('_', '-')}={_word(value)}" for name, value in options.items())
    record = sized("spry_diagnosis")
    context = matrix._context
    with context.lock:
        right = ffi.NULL
        if b is not None:
            right = _arrays.vector(context, _arrays.ready(_arrays.array(b, "b"), matrix.dtype.char))
        try:
            context.patiently(lib.spry_diagnose, matrix.pointer, right, words.encode(), ffi.NULL, record)
            return Diagnosis(_finding(lib.spry_finding_at(record, k)) for k in range(record.count))
        finally:
            lib.spry_diagnosis_clear(context.pointer, record)


def _finding(found: Any) -> dict[str, Any]:
    return {
        "code": text(found.code), "severity": text(lib.spry_severity_name(found.severity)),
        "text": text(found.text), "cause": text(found.cause), "next": text(found.next),
        "rows": [row for row in found.rows if row >= 0],
        "cols": [col for col in found.cols if col >= 0],
        "figures": {text(found.figures[k].name): found.figures[k].value
                    for k in range(found.figure_count)},
    }
