"""The examples in docstrings, and in docs/python.md."""

import doctest
import importlib
import inspect
import os
import pkgutil

import pytest

import spry

MODULES = ["spry"] + [name for _, name, _ in pkgutil.walk_packages(spry.__path__, "spry.")
                      if name not in ("spry._ffi", "spry._torch") and not name.startswith("spry.libspry")]


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


def test_typed():
    assert os.path.exists(os.path.join(os.path.dirname(spry.__file__), "py.typed"))


PUBLIC = [name for name in spry.__all__ if callable(getattr(spry, name)) and name not in ("ffi", "lib")]
MADE_BY_OTHERS = {"Diagnosis", "Factors", "Halo", "Operator", "Result", "Results", "Stencil", "TuneReport"}  # not by their users


@pytest.mark.parametrize("name", PUBLIC)
def test_documented(name):
    """By numpydoc: a section for parameters with each of them, for what is returned, and examples, which doctest runs."""
    thing = getattr(spry, name)
    text = inspect.getdoc(thing)
    assert text and text.splitlines()[0].endswith((".", ":")), name
    if inspect.isclass(thing) and (issubclass(thing, (Exception, Warning)) or name in MADE_BY_OTHERS):
        return
    sections = [line for line, below in zip(text.splitlines(), text.splitlines()[1:]) if below and set(below) == {"-"}]
    taken = [p for p in inspect.signature(thing.__init__ if inspect.isclass(thing) else thing).parameters if p != "self"]
    if taken:
        described = text[text.index("Parameters\n"):]
        assert all(p in described for p in taken), f"{name}: {[p for p in taken if p not in described]}"
    if name not in ("set_threads", "write") and not inspect.isclass(thing):
        assert "Returns" in sections, name
    assert name == "Ranks" or "Examples" in sections and ">>>" in text, name
