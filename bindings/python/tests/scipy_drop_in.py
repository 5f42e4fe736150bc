"""A plugin of pytest: SciPy's own tests of its iterative solvers run through spry's.

    pytest -p scipy_drop_in --pyargs scipy.sparse.linalg._isolve.tests

The names are replaced before the test modules are imported; the tests themselves are unchanged.
With SPRY_DROP_IN=none they run with SciPy's own solvers, for comparison.
"""

import functools
import os

import pytest


def _as_before(function):
    """For the tests of SciPy before 1.12, which say tol, and "legacy" for no absolute tolerance."""

    @functools.wraps(function)
    def wrapped(A, b, x0=None, tol=1e-5, **options):
        options["rtol"] = options.pop("rtol", tol)
        if options.get("atol") in (None, "legacy"):
            options.pop("atol", None)
        if "restrt" in options:
            options["restart"] = options.pop("restrt")
        return function(A, b, x0, **options)

    return wrapped


def pytest_configure(config):
    config.addinivalue_line("markers", "fail_slow: SciPy's own")
    if os.environ.get("SPRY_DROP_IN") == "none":
        return
    import scipy.sparse.linalg
    import scipy.sparse.linalg._isolve as isolve

    import spry.scipy_like

    old = _is_old(scipy)
    for name in spry.scipy_like.__all__:
        function = getattr(spry.scipy_like, name)
        if old and name not in ("lsqr", "lsmr"):
            function = _as_before(function)
        setattr(isolve, name, function)
        setattr(scipy.sparse.linalg, name, function)


def _known():
    """Tests that are known to fail with this SciPy, with the reason of each."""
    import scipy

    wanted = "before 1.12" if _is_old(scipy) else "since 1.12"
    reasons, section = {}, ""
    with open(os.path.join(os.path.dirname(__file__), "scipy_known.txt")) as lines:
        for line in lines:
            line = line.strip()
            if line.startswith("["):
                section = line.strip("[]")
            elif line and not line.startswith("#") and section == wanted:
                name, reason = line.split(None, 1)
                reasons[name] = reason
    return reasons


def _is_old(scipy):
    return tuple(int(part) for part in scipy.__version__.split(".")[:2]) < (1, 12)


def pytest_collection_modifyitems(items):
    if os.environ.get("SPRY_DROP_IN") == "none":
        return
    known = _known()
    for item in items:
        name = item.nodeid.rsplit("/", 1)[-1]
        if name in known:
            strict = not known[name].startswith("by rounding")
            item.add_marker(pytest.mark.xfail(reason=known[name], strict=strict))
