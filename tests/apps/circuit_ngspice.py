#!/usr/bin/env python3
"""Circuits by spry circuit and by ngspice, at equal tolerances: waveforms differ by at most 0.5% of
full scale.

    circuit_ngspice.py SPRY-CIRCUIT [NAME ...]

Skipped (77) where there is no ngspice, or no NumPy. Waveforms with steep edges are compared over a
window of time besides: an edge that one of both has a hundredth of the run later is no error of a
volt. The window is 0.02% of the run, less than what both give as the time of an event."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "circuits")
NAMES = ["buck", "boost", "flyback", "cuk", "ring", "opamp", "bridge", "pump", "ladder", "amplifier",
         "inverters", "grid", "line"]
OPTIONS = ".options reltol=1e-4 vntol=1e-6 abstol=1e-10\n"
BOUND = 0.005


def read_raw(path):
    """Names and columns of a binary raw file with real numbers."""
    with open(path, "rb") as file:
        head, _, body = file.read().partition(b"Binary:\n")
    lines = head.decode().splitlines()
    count = int(re.search(r"No\. Variables: *(\d+)", head.decode()).group(1))
    points = int(re.search(r"No\. Points: *(\d+)", head.decode()).group(1))
    at = lines.index("Variables:") + 1
    names = [line.split()[1].lower() for line in lines[at:at + count]]
    names = [re.sub(r"^(.*)#branch$", r"i(\1)", name) for name in names]
    return dict(zip(names, np.frombuffer(body, count=count * points).reshape(points, count).T))


def run(program, folder, text):
    path = os.path.join(folder, "netlist.cir")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    results = []
    for words in ([program, path, "-o", os.path.join(folder, "spry.raw"), "--quiet"],
                  ["ngspice", "-b", "-r", os.path.join(folder, "ngspice.raw"), path]):
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600,
                              check=False)
        if done.returncode != 0:
            print(done.stdout, done.stderr)
            sys.exit("%s failed" % words[0])
    for name in ("spry", "ngspice"):
        results.append(read_raw(os.path.join(folder, name + ".raw")))
    return results


def difference(ours, theirs, name):
    """The largest over time, relative to full scale, between one curve and the band that the other
    covers within the window."""
    end = ours["time"][-1]
    times = np.linspace(0, end, 5001)
    window = 2e-4 * end
    scale = np.ptp(theirs[name]) or 1

    def at(data, t):
        return np.interp(t, data["time"], data[name])

    shifts = [at(theirs, times + window * k) for k in np.linspace(-1, 1, 9)]
    value = at(ours, times)
    return np.max(np.maximum(np.min(shifts, 0) - value, value - np.max(shifts, 0))) / scale


def main():
    if not shutil.which("ngspice"):
        print("skipped: there is no ngspice")
        sys.exit(77)
    failures = 0
    program = os.path.abspath(sys.argv[1])
    for name in sys.argv[2:] or NAMES:
        with open(os.path.join(FOLDER, name + ".cir"), encoding="ascii") as file:
            title, _, rest = file.read().partition("\n")
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = run(program, folder, title + "\n" + OPTIONS + rest)
        for signal in [key for key in ours if key != "time"]:
            error = difference(ours, theirs, signal)
            failures += not error <= BOUND
            print("%-12s %-12s %.3f%% of full scale, %d and %d points%s"
                  % (name, signal, 100 * max(error, 0), len(ours["time"]), len(theirs["time"]),
                     "" if error <= BOUND else "  TOO MUCH"))
    sys.exit(1 if failures else 0)


main()
