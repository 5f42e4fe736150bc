#!/usr/bin/env python3
"""Writes netlists with on-chip power grids of N x N nodes: by themselves, or as loads of converters.

    power_grid.py N dc|tran|buck|boost|flyback

A grid by itself has pads every 20 nodes, each a current behind its resistance, so that the matrix
stays symmetric and definite."""

import os
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "circuits")


def grid(n, ohms, farads):
    for i in range(n):
        for j in range(n):
            if i + 1 < n:
                yield "Rx%d_%d n%d_%d n%d_%d %g" % (i, j, i, j, i + 1, j, ohms)
            if j + 1 < n:
                yield "Ry%d_%d n%d_%d n%d_%d %g" % (i, j, i, j, i, j + 1, ohms)
            if farads > 0:
                yield "C%d_%d n%d_%d 0 %g" % (i, j, i, j, farads)


def alone(n, transient):
    yield "Power grid of %d x %d nodes" % (n, n)
    yield from grid(n, 0.1, 1e-12 if transient else 0)
    for i in range(n):
        for j in range(n):
            if (i * 7 + j * 3) % 10 == 0:
                yield ("I%d_%d n%d_%d 0 DC 1m PULSE(1m 3m %gn 0.2n 0.2n 1n 5n)"
                       % (i, j, i, j, 1 + (i + j) % 4 * 0.5))
            if i % 20 == 10 and j % 20 == 10:
                yield "Rp%d_%d n%d_%d 0 0.05\nIp%d_%d 0 n%d_%d 36" % (i, j, i, j, i, j, i, j)
    yield ".tran 50p 10n" if transient else ".op"
    yield ".save v(n0_0) v(n%d_%d)\n.end" % (n // 2, n // 2)


def load(name, n):
    """The converter's resistor is spread over the nodes of a grid."""
    with open(os.path.join(FOLDER, name + ".cir"), encoding="ascii") as file:
        for line in file.read().splitlines():
            if not line.startswith("R1 "):
                if not line.startswith((".tran", ".end")):
                    yield line
                continue
            ohms = float(line.split()[3])
            yield from grid(n, 0.02, 1e-10)
            yield "Rpad out n0_0 0.01"
            for i in range(n):
                for j in range(n):
                    yield "Rl%d_%d n%d_%d 0 %g" % (i, j, i, j, ohms * n * n)
    yield ".envelope period=10u stop=2m steps=100\n.end"


def main():
    n, what = int(sys.argv[1]), sys.argv[2]
    lines = alone(n, what == "tran") if what in ("dc", "tran") else load(what, n)
    print("\n".join(lines))


main()
