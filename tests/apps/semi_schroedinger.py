#!/usr/bin/env python3
"""The density gradient of spry semi against Schroedinger's and Poisson's equations in one dimension,
solved here: electrons below an oxide, in the two ladders of silicon's (100) surface, with waves that
fade in the oxide. And the textbook's capacitance, without quantum mechanics.

    semi_schroedinger.py SPRY-SEMI

Exit status 77: NumPy is missing."""

import csv
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("SKIP: numpy is not installed")
    sys.exit(77)

trapezoid = getattr(np, "trapezoid", None) or np.trapz  # before NumPy 2
Q, VT = 1.602176634e-19, 1.380649e-23 * 300 / 1.602176634e-19
VACUUM = 8.8541878128e-14  # F/cm
HBAR2 = 0.0761996  # hbar^2 / m, eV nm^2
EPS, EPS_OXIDE, BARRIER, OXIDE_MASS = 11.7, 3.9, 3.15, 0.5
NC, NV, GAP = 2.86e19, 3.1e19, 1.1242
NI = np.sqrt(NC * NV) * np.exp(-GAP / (2 * VT))
LEVEL = 4.05 + GAP / 2 + VT / 2 * np.log(NC / NV)
EDGE = GAP / 2 + VT / 2 * np.log(NC / NV)  # of the conduction band above -psi
# Ladders: valleys, mass along the normal, mass of density of states in the plane.
LADDERS = ((2, 0.916, 0.19), (4, 0.19, np.sqrt(0.916 * 0.19)))


def schroedinger(psi, inside, h, box):
    """Levels and |wave|^2 of both ladders; waves end at the ends of the box."""
    found = []
    potential = -psi[:box] + EDGE + np.where(inside[:box], 0, BARRIER)
    for valleys, normal, plane in LADDERS:
        mass = np.where(inside[:box], normal, OXIDE_MASS)
        between = HBAR2 / (mass[:-1] + mass[1:])  # hbar^2 / 2m, of the mean mass
        diagonal = potential.copy()
        diagonal[1:] += between / h**2
        diagonal[:-1] += between / h**2
        a = np.diag(diagonal) - np.diag(between / h**2, 1) - np.diag(between / h**2, -1)
        level, wave = np.linalg.eigh(a)
        keep = level < level[0] + 0.6
        density = valleys * plane * VT / (np.pi * HBAR2) * 1e14  # per cm^2
        found.append((density, level[keep], wave[:, keep] ** 2 / (h * 1e-7)))
    return found


def solve(gate, acceptors, oxide, depth=120.0, h=0.1, box_depth=30.0):
    """Places (nm), electrons (cm^-3) of a capacitor at a gate's psi: Trellakis' iteration (1997)."""
    x = np.arange(-oxide, depth + h / 2, h)
    count = len(x)
    inside = x > h / 2
    surface = np.abs(x) <= h / 2
    inside = inside | surface
    share = np.where(surface, 0.5, inside * 1.0)
    box = int(round((oxide + box_depth) / h)) + 1
    eps = np.where(x[:-1] + x[1:] > 0, EPS, EPS_OXIDE) * VACUUM / Q / (h * 1e-7) ** 2
    bulk = -VT * np.arcsinh(acceptors / (2 * NI))
    psi = np.interp(x, [-oxide, 0, 40], [gate, bulk + 0.9, bulk])
    psi[-1] = bulk
    old, levels = psi, None
    for outer in range(60):
        levels = schroedinger(psi, inside, h, box)
        old = psi.copy()
        for _ in range(60):
            n, dn = np.zeros(count), np.zeros(count)
            moved = psi[:box] - old[:box]
            for density, level, waves in levels:
                for k, e in enumerate(level):
                    t = (moved - e) / VT
                    n[:box] += density * waves[:, k] * np.logaddexp(0, t)
                    dn[:box] += density * waves[:, k] / (1 + np.exp(-t)) / VT
            classical = NI * np.exp(psi[box:] / VT)
            n[box:], dn[box:] = classical, classical / VT
            p = NI * np.exp(np.clip(-psi / VT, None, 300)) * share
            f = p - n - acceptors * share
            df = -p / VT - dn
            residual, a, b, c = f, df.copy(), np.zeros(count), np.zeros(count)
            flow = eps * np.diff(psi)
            residual[:-1] += flow
            residual[1:] -= flow
            a[:-1] -= eps
            a[1:] -= eps
            matrix = np.zeros((3, count))
            matrix[1] = a
            matrix[0, 1:] = eps
            matrix[2, :-1] = eps
            matrix[1, [0, -1]] = 1
            matrix[0, 1] = matrix[2, -2] = 0
            residual[[0, -1]] = 0
            step = tridiagonal(matrix, -residual)
            psi = psi + np.clip(step, -0.1, 0.1)
            if np.max(np.abs(step)) < 1e-10:
                break
        if np.max(np.abs(psi - old)) < 1e-7:
            break
    return x, n, psi


def tridiagonal(m, right):
    upper, middle, lower = m[0].copy(), m[1].copy(), m[2]
    right = right.copy()
    for k in range(1, len(right)):
        w = lower[k - 1] / middle[k - 1]
        middle[k] -= w * upper[k]
        right[k] -= w * right[k - 1]
    out = np.zeros(len(right))
    out[-1] = right[-1] / middle[-1]
    for k in range(len(right) - 2, -1, -1):
        out[k] = (right[k] - upper[k + 1] * out[k + 1]) / middle[k]
    return out


def by_spry(program, folder, arguments):
    table, cut = os.path.join(folder, "curve.csv"), os.path.join(folder, "cut.csv")
    subprocess.run([program, "mos", "--quiet", "--cut", cut, "--line", "0 0 0 25 0 0", "--output",
                    table] + arguments, check=True, stdout=subprocess.DEVNULL)
    with open(cut, encoding="ascii") as file:
        rows = [(float(r["nm"]), float(r["n"])) for r in csv.DictReader(file) if r["n"]]
    with open(table, encoding="ascii") as file:
        return np.array(rows), list(csv.DictReader(file))


def look(places, n):
    """Sheet density (cm^-2), the place of the peak and of the middle."""
    total = trapezoid(n, places) * 1e-7
    return total, places[np.argmax(n)], trapezoid(n * places, places) * 1e-7 / total


def quantum(program, folder, acceptors, oxide, volts):
    x, n, _ = solve(volts + LEVEL - 4.1, acceptors, oxide)
    inside = (x >= -1e-9) & (x < 25)
    total, peak, middle = look(x[inside], n[inside])
    base = ["--acceptors", "%g" % acceptors, "--oxide", "%ge-9" % oxide, "--statistics", "fermi",
            "--bias", "gate %g" % volts, "--spacing", "5e-11", "--growth", "1.1"]
    rows, _ = by_spry(program, folder, base + ["--quantum", "electrons"])
    own, own_peak, own_middle = look(rows[:, 0], rows[:, 1])
    rows, _ = by_spry(program, folder, base)
    plain, plain_peak, _ = look(rows[:, 0], rows[:, 1])
    print("%.0e cm^-3, %g nm, %.2f V: %.3e per cm^2, peak %.2f, middle %.2f nm; density gradient "
          "%.3e (%+.1f%%), %.2f, %.2f nm; classical %.3e (%+.0f%%), %.2f nm"
          % (acceptors, oxide, volts, total, peak, middle, own, 100 * (own / total - 1), own_peak,
             own_middle, plain, 100 * (plain / total - 1), plain_peak))
    return abs(own_peak - peak) <= 0.2 and abs(own / total - 1) <= 0.05


# Acceptors (cm^-3), oxide (nm), gates (V). To the first the effective mass was fitted; the others it
# has not seen.
FITTED = ((5e17, 2.0, (0.6, 1.0, 1.5)), (2e18, 1.5, (0.6, 1.0, 1.5)))
HELD_OUT = ((1e17, 3.0, (0.5, 1.2, 2.0)), (1e18, 1.2, (0.5, 0.8, 1.2)), (4e18, 1.0, (0.7, 1.0, 1.3)))


def capacitance(program, folder):
    """Accumulation and inversion: the oxide's. Depletion: with that of the depleted depth in series,
    at the surface potential that the charge says."""
    acceptors, oxide = 1e17, 5.0
    _, table = by_spry(program, folder, ["--acceptors", "1e17", "--oxide", "5e-9", "--sweep", "gate",
                                         "--from", "-3", "--to", "3", "--step", "0.05", "--growth",
                                         "1.1", "--width", "0.01", "--bias", "body 0"])
    own = np.array([(float(r["V_gate"]), float(r["C"])) for r in table])
    c_oxide = EPS_OXIDE * VACUUM / (oxide * 1e-7)
    fermi = VT * np.log(acceptors / NI)
    flat = 4.1 - LEVEL - fermi
    surface = np.linspace(0.2, 1.6 * fermi, 20)
    field = np.sqrt(2 * Q * acceptors * (surface - VT) / (EPS * VACUUM))
    gate = flat + surface + EPS * VACUUM * field / c_oxide
    depth = np.sqrt(2 * EPS * VACUUM * (surface - VT) / (Q * acceptors))
    book = 1 / (1 / c_oxide + depth / (EPS * VACUUM))
    there = np.interp(gate, own[:, 0], own[:, 1])
    worst = np.max(np.abs(there / book - 1))
    ends = own[2, 1] / c_oxide, own[-3, 1] / c_oxide
    print("capacitance: %.1f%% from the textbook's in depletion, %.3f and %.3f of the oxide's in "
          "accumulation and inversion" % (100 * worst, *ends))
    return worst < 0.03 and all(0.93 < e < 1 for e in ends)


def main():
    ok = True
    with tempfile.TemporaryDirectory() as folder:
        ok &= capacitance(sys.argv[1], folder)
        for name, cases in (("fitted", FITTED), ("held out", HELD_OUT)):
            print(name)
            for acceptors, oxide, gates in cases:
                for volts in gates:
                    ok &= quantum(sys.argv[1], folder, acceptors, oxide, volts)
    sys.exit(0 if ok else 1)


main()
