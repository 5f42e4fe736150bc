"""The notebooks of the gallery run from the first cell to the last."""

import glob
import json
import os

import pytest

pytest.importorskip("matplotlib")
GALLERY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gallery")
NOTEBOOKS = sorted(glob.glob(os.path.join(GALLERY, "*.ipynb")))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[os.path.basename(path) for path in NOTEBOOKS])
def test_notebook(path):
    import matplotlib.pyplot as plt

    with open(path) as source:
        cells = [cell for cell in json.load(source)["cells"] if cell["cell_type"] == "code"]
    names: dict = {}
    for k, cell in enumerate(cells):
        exec(compile("".join(cell["source"]), f"{os.path.basename(path)}, cell {k}", "exec"), names)
    assert any("assert" in line for cell in cells for line in cell["source"]) and plt.get_fignums()
    plt.close("all")


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 5
