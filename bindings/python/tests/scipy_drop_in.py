"""A plugin of pytest: SciPy's own tests of its solvers run through spry's.

    pytest -p scipy_drop_in --pyargs scipy.sparse.linalg._isolve.tests scipy.sparse.linalg._dsolve.tests

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
    import scipy.sparse.linalg._dsolve as dsolve
    import scipy.sparse.linalg._isolve as isolve

    import spry.scipy_like

    old, known = _is_old(scipy), _capabilities()
    for name in spry.scipy_like.__all__:
        function = getattr(spry.scipy_like, name)
        package = isolve if hasattr(isolve, name) else dsolve
        if old and package is isolve and name not in ("lsqr", "lsmr"):
            function = _as_before(function)
        if getattr(package, name) in known:
            known[function] = known[getattr(package, name)]
        setattr(package, name, function)
        setattr(scipy.sparse.linalg, name, function)
    dsolve.SuperLU = scipy.sparse.linalg.SuperLU = spry.Factors


def _capabilities():
    """SciPy's table of what functions can do with the arrays of others (since 1.18), which its tests ask."""
    try:
        from scipy._lib._array_api import xp_capabilities_table
    except ImportError:
        return {}
    return xp_capabilities_table


def _known():
    """Tests that are known to fail with this SciPy, with the reason of each."""
    import scipy

    number = _version(scipy)
    wanted = [section for section, holds in (("before 1.12", number < (1, 12)), ("since 1.12", number >= (1, 12)),
                                             ("since 1.18", number >= (1, 18))) if holds]
    reasons, section = {}, ""
    with open(os.path.join(os.path.dirname(__file__), "scipy_known.txt")) as lines:
        for line in lines:
            line = line.strip()
            if line.startswith("["):
                section = line.strip("[]")
            elif line and not line.startswith("#") and section in wanted:
                name, reason = line.split(None, 1)
                reasons[name] = reason
    return reasons


def _version(scipy):
    return tuple(int(part) for part in scipy.__version__.split(".")[:2])


def _is_old(scipy):
    return _version(scipy) < (1, 12)


def pytest_collection_modifyitems(items):
    if os.environ.get("SPRY_DROP_IN") == "none":
        return
    known = _known()
    for item in items:
        name = item.nodeid.rsplit("/", 1)[-1]
        if name in known:
            strict = not known[name].startswith("by rounding")
            item.add_marker(pytest.mark.xfail(reason=known[name], strict=strict))
