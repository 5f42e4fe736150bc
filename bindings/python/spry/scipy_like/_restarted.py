"""gmres, lgmres, gcrotmk with SciPy's signatures."""

from __future__ import annotations

import bisect
import itertools
import warnings
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .. import _arrays
from .._errors import InputError
from .._library import ffi, lib
from .._matrix import arrays_of
from .._operator import is_operator
from .._result import record
from ._docs import documented
from ._system import Outcome, System, norm, solve_on_device, tolerance, whole

_UNSAID = ("scipy.sparse.linalg.gmres called without specifying `callback_type`. The default value "
           "will be changed in a future release. For compatibility, specify a value for "
           "`callback_type` explicitly, e.g., ``gmres(..., callback_type='pr_norm')``, or to retain "
           "the old behavior ``gmres(..., callback_type='legacy')``")


@documented(restart=("int, optional", "Iterations of a cycle (default: 20)."),
            maxiter=("int, optional", "Cycles at most; iterations where `callback_type` is 'legacy'."),
            callback=("callable, optional", "Called as `callback_type` says."),
            callback_type=("{'x', 'pr_norm', 'legacy'}, optional",
                           "'x': after each cycle with x; 'pr_norm' and 'legacy': after each iteration with the norm of the\n"
                           "preconditioned residual over |b|."))
def gmres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
          restart: int | None = None, maxiter: int | None = None, M: Any = None,
          callback: Any = None, callback_type: str | None = None) -> tuple[np.ndarray, int]:
    """Solves A x = b by restarted GMRES, preconditioned from the left."""
    if callback is not None and callback_type is None:
        warnings.warn(_UNSAID, DeprecationWarning, stacklevel=2)
    kind = callback_type or "legacy"
    if kind not in ("x", "pr_norm", "legacy"):
        raise ValueError(f"Unknown callback_type: {callback_type!r}")
    if _arrays.on_device(b) and callback is None:
        steps = _cycle("restart", min(20 if restart is None else int(restart), b.shape[0]))
        x, info = solve_on_device(f"gmres:restart={steps},side=left", A, b, x0, rtol, atol,
                                  (10 * b.shape[0] if maxiter is None else int(maxiter)) * steps,
                                  M, None)
        return x, info and max(info // steps, 1)
    system = System(A, M, x0, b)
    tol = tolerance("gmres", system.size, atol, rtol)
    if system.size == 0:
        return system.nothing(), 0
    n = system.shape[0]
    limit = 10 * n if maxiter is None else whole(maxiter)
    steps = _cycle("restart", min(20 if restart is None else int(restart), n))
    if limit <= 0:
        return system.answer(), limit
    heard = _Heard(system, callback, steps) if callback is not None and kind != "x" else None
    with system.context.lock, system:
        system.prepare(f"gmres:restart={steps},side=left")
        if callback is not None and kind == "x":
            outcome = _cycle_by_cycle(system, tol, limit, steps, callback)
        else:
            legacy = callback is not None and kind == "legacy"
            outcome = system.run(tol, limit if legacy else whole(limit * steps), watch=heard)
    return system.answer(), 0 if outcome.converged else limit


def _cycle(name: str, steps: int) -> int:
    """The length of a cycle; those longer than the library's need no restart in any system of ours."""
    if steps < 1:
        raise ValueError(f"{name}={steps}: at least 1 is needed")
    return min(steps, 10000)


def _cycle_by_cycle(system: System, tol: float, limit: int, steps: int, callback: Any) -> Outcome:
    """The callback sees x after each cycle: a cycle is a solve that goes on from there."""
    for _ in range(limit):
        outcome = system.run(tol, steps)
        if outcome.iterations:
            callback(system.x.copy())
        if outcome.converged:
            break
    return outcome


class _Heard:
    """SciPy reports the norm of the preconditioned residual M r over |b|, the library that of r as
    it follows from it: |r| / |M r| of a cycle's beginning apart. So M is watched there."""

    def __init__(self, system: System, callback: Any, steps: int) -> None:
        self.callback, self.steps, self.ratio, self.fresh = callback, steps, 1.0, True
        if system.M is not None:
            inner = system.M

            def apply(v: np.ndarray) -> np.ndarray:
                z = np.asarray(inner @ v).reshape(-1)
                if self.fresh:
                    self.ratio, self.fresh = norm(z) / norm(v), False
                return z

            system.M = LinearOperator(inner.shape, matvec=apply, dtype=system.char)

    def __call__(self, iteration: int, residual: float) -> None:
        self.fresh = iteration % self.steps == 0
        self.callback(np.float64(residual * self.ratio))


@documented(maxiter=("int, optional", "Cycles at most."),
            callback=("callable, optional", "``callback(xk)`` sees x before each cycle."),
            inner_m=("int, optional", "Iterations of a cycle besides the directions that it keeps."),
            outer_k=("int, optional", "Corrections that are kept."),
            outer_v=("list of tuples, optional",
                     "Corrections, with their products with A or None, from one solve to the next: x is first improved\n"
                     "within their span, and the correction of this solve is added to them."),
            store_outer_Av=("bool, optional", "Whether products with A are kept with them."),
            prepend_outer_v=("bool, optional", "Accepted for SciPy's sake: their order does not matter here."))
def lgmres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
           maxiter: int = 1000, M: Any = None, callback: Any = None, inner_m: int = 30,
           outer_k: int = 3, outer_v: list | None = None, store_outer_Av: bool = True,
           prepend_outer_v: bool = False) -> tuple[np.ndarray, int]:
    """Solves A x = b by GMRES whose cycles also use the corrections of those before."""
    system = System(A, M, x0, b)
    _finite(system)
    tol = tolerance("lgmres", system.size, atol, rtol)
    if system.size == 0:
        return system.nothing(), 0
    start = system.x.copy()
    if outer_v:
        _project(system, [v for v, _ in outer_v], [Av for _, Av in outer_v])
    keep = max(min(outer_k, 100), 0)
    steps = _cycle("inner_m", inner_m + keep)
    text = (f"lgmres:restart={steps},augment={keep},side=left" if keep
            else f"gmres:restart={steps},side=left")
    cycles = _Cycles(maxiter, [inner_m + i for i in range(keep)], inner_m + keep)
    outcome, info = _outer(system, text, tol, cycles, callback)
    if outer_v is not None and outcome.iterations:
        _remember(system, start, outer_v, outer_k, store_outer_Av)
    return system.answer(), info


@documented(maxiter=("int, optional", "Cycles at most."),
            callback=("callable, optional", "``callback(xk)`` sees x before each cycle."),
            m=("int, optional", "Iterations of a cycle."), k=("int, optional", "Directions that are kept (default: m)."),
            CU=("list of tuples, optional", "Pairs (c, u) with c = A u, from one solve to the next."),
            discard_C=("bool, optional", "Leaves their c out: for another A."),
            truncate=("{'oldest', 'smallest'}, optional", "Accepted; the oldest one goes first."))
def gcrotmk(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
            maxiter: int = 1000, M: Any = None, callback: Any = None, m: int = 20,
            k: int | None = None, CU: list | None = None, discard_C: bool = False,
            truncate: str = "oldest") -> tuple[np.ndarray, int]:
    """Solves A x = b by GCROT(m, k), which may take another preconditioner in each step."""
    system = System(A, M, x0, b)
    _finite(system)
    if truncate not in ("oldest", "smallest"):
        raise ValueError(f"Invalid value for 'truncate': {truncate!r}")
    tol = tolerance("gcrotmk", system.size, atol, rtol)
    if system.size == 0:
        return system.nothing(), 0
    m = _cycle("m", m)
    keep = min(m if k is None else k, 1000)
    space = None
    text = f"gcrot:restart={m},keep={keep}" if keep > 0 else f"fgmres:restart={m}"
    if CU is not None and keep > 0:
        keep = min(keep, 999)
        space = _Space(system, CU, keep, m, discard_C)
        text = f"gcrot:restart={m},keep={space.room},recycle=yes"
    cycles = _Cycles(maxiter, [m + keep - i for i in range(keep)], m)
    return system.answer(), _outer(system, text, tol, cycles, callback, space)[1]


class _Space:
    """The pairs (c, u) of gcrotmk, with c = A u orthonormal, as the library's arrays C and U: into
    the solver before a solve, and out of it afterwards."""

    def __init__(self, system: System, pairs: list[Any], keep: int, m: int, discard: bool) -> None:
        self.system, self.pairs, self.keep, self.m, self.discard = system, pairs, keep, m, discard
        self.room = min(max(keep, len(pairs)), keep + 1)  # with x, which is added below

    def put(self) -> None:
        made: list[tuple[np.ndarray, np.ndarray]] = []
        for c, u in self.pairs:
            u = np.array(u, self.system.char).reshape(-1)
            known = c is not None and not self.discard
            c = np.array(c if known else self.system.A @ u, self.system.char).reshape(-1)
            size = norm(c)
            for _ in range(2):  # Gram and Schmidt; pairs that come from here pass unchanged
                for other, direction in made:
                    share = np.vdot(other, c)
                    c, u = c - share * other, u - share * direction
            left = norm(c)
            if left > 1e-10 * size and np.isfinite(left):
                made.append((c / left, u / left))
        made = made[-self.room:]
        if made:
            self._move(lib.spry_solver_set_space, *zip(*made))

    def take(self, steps: int) -> None:
        C, U = ([np.zeros_like(self.system.x) for _ in range(self.room)] for _ in "CU")
        self._move(lib.spry_solver_get_space, C, U)
        oldest = -(-steps // self.m) % self.room  # the next place to be written to
        pairs = list(zip(C, U))
        pairs = [(c, u) for c, u in pairs[oldest:] + pairs[:oldest] if norm(c) > 0.5]
        self.pairs[:] = [(None if self.discard else c, u) for c, u in pairs[-self.keep:]]
        self.pairs.append((None, self.system.x.copy()))

    def _move(self, call: Any, C: Any, U: Any) -> None:
        for name, vectors in ((b"C", C), (b"U", U)):
            handles = ffi.new("spry_vector *[]", [self.system._vector(v) for v in vectors])
            self.system.context.check(call(self.system.solver, name, len(handles), handles))


class _Cycles:
    """A number of outer iterations of a number of steps each: the first ones, and all that follow."""

    def __init__(self, count: Any, first: list[int], rest: int) -> None:
        self.count, self.rest = whole(count), rest
        self.ends = [0, *itertools.accumulate(first[:max(self.count, 0)])]

    def end(self, cycle: int) -> int:
        """Steps up to the end of that many cycles."""
        known = len(self.ends) - 1
        return self.ends[min(cycle, known)] + max(cycle - known, 0) * self.rest

    def of(self, steps: int) -> int:
        """How many cycles these steps make, the last one perhaps not whole."""
        if steps <= self.ends[-1]:
            return bisect.bisect_left(self.ends, steps)
        return len(self.ends) - 1 - (self.ends[-1] - steps) // self.rest

    def ended(self, steps: int) -> bool:
        """Whether a cycle that is not the last ends here."""
        cycle = self.of(steps)
        return 0 < cycle < self.count and self.end(cycle) == steps


def _outer(system: System, text: str, tol: float, cycles: _Cycles,
           callback: Any, space: _Space | None = None) -> tuple[Outcome, int]:
    """SciPy's outer iterations, of some steps each: x is judged, and the callback called, before
    each of them; so a solve that arrives in the last one is reported as not converged."""
    limit = cycles.count
    if limit <= 0:
        return Outcome(record()), 0

    def monitor(iteration: int, _residual: float, x: np.ndarray) -> None:
        if cycles.ended(iteration):
            callback(x)

    if callback is not None:
        callback(system.x.copy())
    with system.context.lock, system:
        try:
            system.prepare(text)
            if space is not None:
                space.put()
            outcome = system.run(tol, whole(cycles.end(limit)), monitor if callback is not None else None)
            if space is not None:
                space.take(outcome.iterations)
        except InputError:
            if _is_finite(system.A):
                raise
            return Outcome(record()), 1  # SciPy's word for a NaN on the way
    if not outcome.converged:
        return outcome, limit if np.isfinite(outcome.true_residual) else 1
    used = cycles.of(outcome.iterations)
    if used and callback is not None and used < limit and not cycles.ended(outcome.iterations):
        callback(system.x.copy())
    return outcome, 0 if used < limit else limit


def _is_finite(A: Any) -> bool:
    return is_operator(A) or bool(np.isfinite(arrays_of(A).values).all())


def _finite(system: System) -> None:
    if not np.isfinite(system.b).all():
        raise ValueError("RHS must contain only finite numbers")


def _project(system: System, directions: list[Any], products: list[Any]) -> None:
    """x + V y with the least residual: V are the directions, A V their products where known."""
    V = np.stack([np.asarray(v, system.char).reshape(-1) for v in directions], axis=1)
    known = [np.asarray(system.A @ v if Av is None else Av).reshape(-1)
             for v, Av in zip(V.T, products)]
    AV = np.stack(known, axis=1)
    y = np.linalg.lstsq(AV, system.residual(), rcond=1e-12)[0]
    if np.isfinite(y).all():
        system.x += (V @ y).astype(system.char)


def _remember(system: System, start: np.ndarray, pairs: list[Any], room: int, product: bool) -> None:
    """Adds the correction of this solve, of length 1, to those of the solves before."""
    step = system.x - start
    size = norm(step)
    if size > 0 and np.isfinite(size):
        v = step / size
        pairs.append((v, np.asarray(system.A @ v).reshape(-1) if product else None))
    while len(pairs) > room:
        del pairs[0]
