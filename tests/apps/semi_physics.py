#!/usr/bin/env python3
"""spry semi against what is known of junctions, of the mesh, and of itself.

    semi_physics.py SPRY-SEMI"""

import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile

Q, VT = 1.602176634e-19, 1.380649e-23 * 300 / 1.602176634e-19
EPS = 11.7 * 8.8541878128e-14
NI = math.sqrt(2.86e19 * 3.1e19) * math.exp(-1.1242 / (2 * VT))
DOPED = 1e17
failures = []


def expect(what, value, limit):
    """value is at most limit."""
    print("%-58s %.2e (at most %.0e)" % (what, value, limit))
    if not value <= limit:
        failures.append(what)


def run(*arguments, status=0):
    done = subprocess.run([os.path.abspath(sys.argv[1])] + [str(a) for a in arguments],
                          capture_output=True, text=True, check=False)
    if done.returncode != status:
        print(done.args, done.stderr)
        sys.exit("exit status %d, expected %d" % (done.returncode, status))
    return done


def curve(*arguments):
    return json.loads(run(*arguments, "--quiet", "--json").stdout)


def fields(*arguments):
    run(*arguments, "--quiet", "--fields", "fields.vtu")
    with open("fields.vtu", encoding="ascii") as file:
        text = file.read()
    return {name: [float(x) for x in numbers.split()] for name, numbers in
            re.findall(r'Name="(\w+)"[^>]*>\n([^<]*)<', text)}


def junction():
    f = fields("diode")
    order = sorted(range(len(f["n"])), key=lambda k: f["nm"][3 * k])
    x = [f["nm"][3 * k] for k in order]
    n, p, psi, doping = ([f[name][k] for k in order] for name in ("n", "p", "potential", "doping"))
    expect("n p = ni^2", max(abs(a * b / NI**2 - 1) for a, b in zip(n, p)), 1e-10)
    # n p = ni^2 and n - p = N, both exactly: minority carriers move it by ni^2 / N^2 = 1e-14
    built_in = VT * math.log(DOPED**2 / NI**2)
    expect("built-in potential", abs((psi[-1] - psi[0]) / built_in - 1), 1e-10)
    # The charge of one side, as that of a depleted depth. The textbook's, with 2 kT/q less for the
    # tails of majority carriers, is right to exp(-built-in/kT): what is left is of the mesh.
    charge = [(d + b - a) for a, b, d in zip(n, p, doping)]
    middle = x[-1] / 2
    own = sum((charge[k] + charge[k + 1]) / 2 * (x[k + 1] - x[k])
              for k in range(len(x) - 1) if x[k] >= middle) / DOPED
    book = math.sqrt(EPS * (built_in - 2 * VT) / (Q * DOPED)) * 1e7
    expect("depletion width", abs(own / book - 1), 0.03)


def ideality():
    """Six decades: without recombination the current is that of W. Shockley, n = 1."""
    points = curve("diode", "--no-srh", "--sweep", "anode", "--from", 0.2, "--to", 0.6, "--step",
                   0.05, "--mobility", "constant")["points"]
    current = [p["currents"][0] for p in points]
    slopes = [math.log(b / a) * VT / 0.05 for a, b in zip(current, current[1:])]
    expect("decades", 6 - math.log10(current[-1] / current[0]), 0)
    expect("ideality 1 over them", max(abs(s - 1) for s in slopes), 0.01)
    expect("currents of both ends", max(p["imbalance"] for p in points), 1e-8)
    back = curve("diode", "--sweep", "anode", "--to", -5, "--step", 1)["points"]
    expect("and against the diode", max(p["imbalance"] for p in back[1:]), 1e-8)


def dimensions():
    """The same current whatever the number of dimensions, as couplings of boxes are exact."""
    one = [curve("diode", "--dimension", d, "--bias", "anode 0.6", "--width", 1e-7)["points"][0]
           ["currents"][0] for d in (1, 2, 3)]
    expect("in 2 and 3 dimensions as in 1", max(abs(c / one[0] - 1) for c in one), 1e-7)


def rod(path, count, four=False):
    """A mesh of equal lines."""
    places = [400.0 * k / count for k in range(count + 1)]
    with open(path, "w", encoding="ascii") as out:
        out.write("$MeshFormat\n%s 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n1 1 \"silicon\"\n"
                  '0 2 "anode"\n0 3 "cathode"\n$EndPhysicalNames\n' % ("4.1" if four else "2.2"))
        if four:
            out.write("$Entities\n2 1 0 0\n1 0 0 0 1 2\n2 400 0 0 1 3\n1 0 0 0 400 0 0 1 1 2 1 2\n"
                      "$EndEntities\n$Nodes\n1 %d 1 %d\n1 1 0 %d\n" % ((count + 1,) * 3))
            out.write("".join("%d\n" % (k + 1) for k in range(count + 1)))
            out.write("".join("%.17g 0 0\n" % x for x in places))
            out.write("$EndNodes\n$Elements\n3 %d 1 %d\n1 1 1 %d\n" % (count + 2, count + 2, count))
            out.write("".join("%d %d %d\n" % (k + 1, k + 1, k + 2) for k in range(count)))
            out.write("0 1 15 1\n%d 1\n0 2 15 1\n%d %d\n" % (count + 1, count + 2, count + 1))
        else:
            out.write("$Nodes\n%d\n" % (count + 1))
            out.write("".join("%d %.17g 0 0\n" % (k + 1, x) for k, x in enumerate(places)))
            out.write("$EndNodes\n$Elements\n%d\n" % (count + 2))
            out.write("".join("%d 1 2 1 1 %d %d\n" % (k + 1, k + 1, k + 2) for k in range(count)))
            out.write("%d 15 2 2 1 1\n%d 15 2 3 2 %d\n" % (count + 1, count + 2, count + 1))
        out.write("$EndElements\n")
    return ["--mesh", path, "--doping", "all erf 2e17 x 200 -30, all -1e17"]


def refinement():
    """Halved lines: the potential's error falls to a quarter, where the doping is smooth."""
    psi = {count: fields(*rod("rod.msh", count))["potential"] for count in (40, 80, 160, 1280)}
    error = [max(abs(psi[n][k] - psi[1280][k * 1280 // n]) for k in range(n + 1))
             for n in (40, 80, 160)]
    order = min(math.log2(error[0] / error[1]), math.log2(error[1] / error[2]))
    expect("order of the potential, 2 less what it is", 2 - order, 0.15)
    both = [curve(*rod("rod.msh", 80, four), "--bias", "anode 0.5")["points"][0]["currents"]
            for four in (False, True)]
    expect("formats 2.2 and 4.1 of Gmsh", float(both[0] != both[1]), 0)


def threads():
    found = {curve_bytes(n) for n in (1, 3)}
    expect("numbers of threads with other bits", len(found) - 1, 0)


def curve_bytes(n):
    run("mosfet", "--bias", "drain 0.1, gate 0.3", "--quiet", "-o", "t.csv", "--threads", n,
        "--refine", 0.5)
    with open("t.csv", encoding="ascii") as file:
        row = list(csv.DictReader(file))[0]
    return tuple(row[k] for k in row if k != "seconds")


def checkpoint():
    """A curve that goes on from a checkpoint is the same curve."""
    base = ["diode", "--sweep", "anode", "--to", "0.5", "--step", "0.25"]
    whole = curve(*base, "--checkpoint", "state")["points"]
    again = curve(*base, "--checkpoint", "state", "--resume")["points"]
    expect("points of a checkpoint", float([p["currents"] for p in whole]
                                           != [p["currents"] for p in again]), 0)
    with open("state", "r+b") as file:
        file.seek(600)
        file.write(b"\xff\xff")
    done = run(*base, "--checkpoint", "state", "--resume", status=2)
    expect("a damaged one is refused", float("is damaged" not in done.stderr), 0)


def quantum():
    """The density gradient takes carriers from the oxide: less charge, a later threshold."""
    charge = [curve("mos", "--bias", "gate 1", "--quantum", q)["points"][0]["charges"][0]
              for q in ("none", "electrons")]
    expect("charge with quantum corrections, of that without", charge[1] / charge[0], 0.97)
    rows = []
    for q in ("none", "electrons"):
        run("mos", "--bias", "gate 1", "--quantum", q, "--cut", "cut.csv", "--line", "0 0 0 10 0 0",
            "--quiet")
        with open("cut.csv", encoding="ascii") as file:
            rows.append([(float(r["n"]), float(r["nm"])) for r in csv.DictReader(file)])
    expect("peak of electrons without, nm", max(rows[0])[1], 0.05)
    expect("peak of electrons with them, nm from 0.9", abs(max(rows[1])[1] - 0.9), 0.3)


def methods():
    """Iterations that stop early and preconditioners of older values lead where factors do. A last
    change of 1e-8 kT/q moves currents by about as much, where the drain has 2 kT/q."""
    ways = (("direct", "auto"), ("auto", "auto"), ("bicgstab", "ilu"), ("fgmres", "ilu"))
    found = [curve("nanowire", "--refine", 0.6, "--quantum", "electrons", "--bias",
                   "drain 0.05, gate 0.3", "--method", m, "--precon", p)["points"][0]["currents"][1]
             for m, p in ways]
    expect("currents by other methods", max(abs(i / found[0] - 1) for i in found), 1e-7)


def outputs():
    run("mosfet", "--refine", 0.5, "--sweep", "gate", "--step", 0.5, "--bias", "drain 0.1", "--plot",
        "plot.svg", "--picture", "plane.png", "--matrices", "newton.mtx", "--quiet")
    with open("plot.svg", encoding="utf-8") as file:
        expect("a curve as SVG", float("<svg" not in file.read()), 0)
    with open("plane.png", "rb") as file:
        expect("a plane as PNG", float(file.read(4) != b"\x89PNG"), 0)
    with open("newton-3.mtx", encoding="ascii") as file:
        expect("Newton's matrices", float(not file.readline().startswith("%%MatrixMarket")), 0)


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.argv[1] = program
        for check in (junction, ideality, dimensions, refinement, threads, checkpoint, quantum,
                      methods, outputs):
            check()
        os.chdir("/")
    for what in failures:
        print("FAILED: " + what)
    sys.exit(1 if failures else 0)


main()
