"""The examples in docstrings, and in docs/python.md."""

import doctest
import importlib
import os
import pkgutil

import pytest

import spry

MODULES = ["spry"] + [name for _, name, _ in pkgutil.walk_packages(spry.__path__, "spry.") if name not in ("spry._ffi", "spry.libspry", "spry.libspry_mpi")]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    failures, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failures == 0


def test_page(tmp_path, monkeypatch):
    page = os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "python.md")
    if not os.path.exists(page):
        pytest.skip("no docs here")
    monkeypatch.chdir(tmp_path)
    failures, count = doctest.testfile(page, module_relative=False,
                                       optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert failures == 0 and count > 10


def test_typed_and_documented():
    assert os.path.exists(os.path.join(os.path.dirname(spry.__file__), "py.typed"))
    for name in spry.__all__:
        thing = getattr(spry, name)
        if callable(thing) and name not in ("ffi", "lib"):
            assert thing.__doc__, name
