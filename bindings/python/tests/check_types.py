"""What mypy finds in the lines of typed.txt: options that are misspelt, a result taken for several."""

import os
import re
import subprocess
import sys

import pytest

import spry

HERE = os.path.dirname(os.path.abspath(__file__))
BEFORE = ["import numpy as np", "import scipy.sparse as sp", "import spry", "A: sp.csr_matrix = sp.csr_matrix(np.eye(2))",
          "b = np.ones(2)"]


def lines():
    with open(os.path.join(HERE, "typed.txt")) as table:
        for line in table:
            if line.strip() and not line.startswith("#"):
                yield re.split(r"\s{2,}|(?<=\S) (?=ok$)", line.strip(), maxsplit=1)


def mypy():
    """A command that runs mypy: this interpreter's, or Debian's."""
    for command in ([sys.executable, "-m", "mypy"], ["/usr/bin/mypy"]):
        try:
            if subprocess.run([*command, "--version"], capture_output=True).returncode == 0:
                return command
        except OSError:
            pass
    return None


def test_types(tmp_path):
    command = mypy()
    if command is None:
        pytest.skip("mypy is not installed")
    version = subprocess.run([*command, "--version"], capture_output=True, text=True).stdout.split()[1]
    if tuple(map(int, version.split(".")[:2])) < (1, 7):  # which has it for granted
        command.append("--enable-incomplete-feature=Unpack")
    table = list(lines())
    source = tmp_path / "user.py"
    source.write_text("\n".join([*BEFORE, *[code for code, _ in table]]) + "\n")
    environment = dict(os.environ, MYPYPATH=os.path.dirname(os.path.dirname(os.path.abspath(spry.__file__))))
    found = subprocess.run([*command, "--ignore-missing-imports", "--follow-imports=silent", "--cache-dir", os.devnull,
                            "--python-executable", sys.executable, "--no-error-summary", str(source)],
                           capture_output=True, text=True, env=environment, cwd=tmp_path)
    said: dict = {}
    for line in found.stdout.splitlines():
        match = re.match(r"[^:]*user\.py:(\d+): error: (.*)", line)
        if match:
            said.setdefault(int(match.group(1)) - len(BEFORE) - 1, []).append(match.group(2))
    assert not found.stderr and found.returncode == 1, found.stderr + found.stdout
    for k, (code, wanted) in enumerate(table):
        errors = " / ".join(said.get(k, []))
        if wanted == "ok":
            assert not errors, f"{code}: {errors}"
        else:
            assert any(part in errors for part in wanted.split("|")), f"{code}: {errors or 'nothing was said'}"
