"""A plugin of pytest: SciPy's own tests of its iterative solvers run through spry's.

    pytest -p scipy_drop_in --pyargs scipy.sparse.linalg._isolve.tests

The names are replaced before the test modules are imported; the tests themselves are unchanged.
With SPRY_DROP_IN=none they run with SciPy's own solvers, for comparison.
"""

import os

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "fail_slow: SciPy's own")
    if os.environ.get("SPRY_DROP_IN") == "none":
        return
    import scipy.sparse.linalg
    import scipy.sparse.linalg._isolve as isolve

    import spry.scipy_like

    for name in spry.scipy_like.__all__:
        setattr(isolve, name, getattr(spry.scipy_like, name))
        setattr(scipy.sparse.linalg, name, getattr(spry.scipy_like, name))


def _known():
    """Tests that are known to fail, with the reason of each."""
    reasons = {}
    with open(os.path.join(os.path.dirname(__file__), "scipy_known.txt")) as lines:
        for line in lines:
            line = line.strip()
            if line and not line.startswith("#"):
                name, reason = line.split(None, 1)
                reasons[name] = reason
    return reasons


def pytest_collection_modifyitems(items):
    if os.environ.get("SPRY_DROP_IN") == "none":
        return
    known = _known()
    for item in items:
        name = item.nodeid.rsplit("/", 1)[-1]
        if name in known:
            item.add_marker(pytest.mark.xfail(reason=known[name], strict=True))
