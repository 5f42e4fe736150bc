#!/usr/bin/env python3
"""spry circuit against what is known: an RC and an RLC circuit, a rectifier, a line, sweeps, small
signals; Kirchhoff's law in what --matrices writes; envelopes and steady states against the full
transient.

    circuit_physics.py SPRY-CIRCUIT"""

import cmath
import csv
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

FAILURES = []
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "circuits")
PROGRAM = os.path.abspath(sys.argv[1])
VT = 1.380649e-23 * 300.15 / 1.602176634e-19
TIGHT = ".options reltol=1e-5 vntol=1e-8 abstol=1e-12\n"


def run(folder, text, *words):
    """Rows of numbers by column, and the program's JSON."""
    with open(os.path.join(folder, "a.cir"), "w", encoding="ascii") as file:
        file.write("test\n" + text + "\n.end\n")
    done = subprocess.run([PROGRAM, "a.cir", "-o", "a.csv", "--json", "a.json", "--quiet", *words],
                          cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        sys.exit("%s\n%s%s" % (text, done.stdout, done.stderr))
    with open(os.path.join(folder, "a.csv"), encoding="ascii") as file:
        rows = csv.reader(file)
        names = next(rows)
        data = list(zip(*[[float(x) for x in row] for row in rows]))
    with open(os.path.join(folder, "a.json"), encoding="ascii") as file:
        return dict(zip(names, data)), json.load(file)


def check(what, error, bound):
    print("%-50s %.2e, at most %.0e" % (what, error, bound))
    if not error <= bound:
        FAILURES.append(what)


def largest(data, name, exact):
    return max(abs(v - exact(t)) for t, v in zip(data["time"], data[name]))


def at(data, name, t):
    times, values = data["time"], data[name]
    for k in range(1, len(times)):
        if times[k] >= t:
            part = (t - times[k - 1]) / (times[k] - times[k - 1] or 1)
            return values[k - 1] + part * (values[k] - values[k - 1])
    return values[-1]


def transients(folder):
    # local errors of at most 1e-5 of full scale in some hundred steps, of which those of the past
    # decay: 1e-4 has them all
    for method in ("trap", "gear"):
        options = TIGHT + ".options method=%s\n" % method
        data, _ = run(folder, options + "V1 in 0 PULSE(0 1 0 1f 1f 1 2)\nR1 in out 1k\n"
                      "C1 out 0 1u\n.tran 10u 5m")
        check("RC, " + method, largest(data, "v(out)", lambda t: -math.expm1(-t / 1e-3)), 1e-4)
        w = math.sqrt(1 / (1e-3 * 1e-6) - (20 / 2e-3) ** 2)
        d = 20 / 2e-3

        def ring(t, w=w, d=d):
            return 1 - math.exp(-d * t) * (math.cos(w * t) + d / w * math.sin(w * t))

        data, _ = run(folder, options + "V1 in 0 PULSE(0 1 0 1f 1f 1 2)\nR1 in a 20\nL1 a out 1m\n"
                      "C1 out 0 1u\n.tran 1u 0.5m")
        check("RLC, " + method, largest(data, "v(out)", ring), 2e-3 if method == "gear" else 1e-3)
    data, _ = run(folder, "R1 a 0 1k\nC1 a 0 1u ic=2\nL1 b 0 1m ic=3m\nR2 b 0 1\n" + TIGHT +
                  ".tran 10u 3m uic")
    check("initial conditions of C", largest(data, "v(a)", lambda t: 2 * math.exp(-t / 1e-3)), 4e-4)
    later = [(t, v) for t, v in zip(data["time"], data["i(l1)"])]
    check("and of L", max(abs(v - 3e-3 * math.exp(-t / 1e-3)) for t, v in later), 6e-7)
    data, _ = run(folder, TIGHT + "V1 s 0 PULSE(0 1 1n 1p 1p 1 2)\nRs s a 50\n"
                  "T1 a 0 b 0 z0=50 td=2n\nRl b 0 150\n.tran 50p 12n")
    check("a line: what comes in", abs(at(data, "v(a)", 4.5e-9) - 0.5), 1e-9)
    check("what its end gives", abs(at(data, "v(b)", 4.5e-9) - 0.75), 1e-9)
    check("what comes back", abs(at(data, "v(a)", 6e-9) - 0.75), 1e-9)


def rectifier(folder):
    """A diode and a resistor have a current that is Lambert's W."""
    data, _ = run(folder, ".options reltol=1e-8 vntol=1e-12 gmin=0\nV1 a 0 0\nR1 a b 100\n"
                  "D1 b 0 dm\n.model dm d(is=1e-14 n=1.5)\n.dc V1 -1 5 0.25\n.save v(b)")
    worst = 0
    for volts, found in zip(data["sweep"], data["v(b)"]):
        low, high = -2.0, 2.0
        for _ in range(200):
            v = (low + high) / 2
            excess = 1e-14 * math.expm1(v / (1.5 * VT)) - (volts - v) / 100
            low, high = (low, v) if excess > 0 else (v, high)
        worst = max(worst, abs(found - v))
    check("rectifier, every voltage (reltol of 1 V)", worst, 1e-8)
    data, _ = run(folder, TIGHT + "V1 a 0 SIN(0 10 50)\nD1 a b dm\nC1 b 0 100u\nR1 b 0 1k\n"
                  ".model dm d(is=1e-12)\n.tran 100u 100m")
    # between peaks the capacitor's charge decays from where the diode lets go
    first = max((v, t) for t, v in zip(data["time"], data["v(b)"]) if 79e-3 < t < 95e-3)[1]
    a, b = first + 2e-3, first + 12e-3
    check("rectifier between peaks",
          abs(at(data, "v(b)", b) / at(data, "v(b)", a) - math.exp(-(b - a) / 0.1)), 1e-4)


def small_signals(folder):
    data, out = run(folder, "V1 in 0 ac 1\nR1 in out 1k\nC1 out 0 1u\n.ac dec 7 1 1meg\n"
                    ".measure ac corner when vp(out)=-45")
    worst = 0
    for f, re, im in zip(data["frequency"], data["re v(out)"], data["im v(out)"]):
        worst = max(worst, abs(complex(re, im) * (1 + 2j * math.pi * f * 1e-3) - 1))
    check("RC, small signals (9 digits are written)", worst, 1e-8)
    check("its corner, between points", abs(out["measures"]["corner"] * 2 * math.pi * 1e-3 - 1), 2e-2)
    data, _ = run(folder, "V1 s 0 ac 1\nRs s a 50\nT1 a 0 b 0 z0=75 td=1n\nRl b 0 100\n"
                  ".ac lin 5 100meg 900meg")
    worst = 0
    for f, re, im in zip(data["frequency"], data["re v(b)"], data["im v(b)"]):
        delay = cmath.exp(-2j * math.pi * f * 1e-9)
        source, load = (50 - 75) / 125, (100 - 75) / 175
        exact = 75 / 125 * delay * (1 + load) / (1 - source * load * delay ** 2)
        worst = max(worst, abs(complex(re, im) - exact))
    check("a line, small signals", worst, 1e-8)


def controlled(folder):
    _, out = run(folder, "V1 a 0 2\nR1 a 0 1k\nE1 b 0 a 0 3\nR2 b 0 1k\nG1 0 c a 0 2m\nR3 c 0 1k\n"
                 "F1 0 d V1 2\nR4 d 0 1k\nH1 e 0 V1 500\nR5 e 0 1k\nB1 f 0 V={v(a)^2+sin(v(b))}\n"
                 "R6 f 0 1k\nB2 0 g I=v(a,c)*1m\nR7 g 0 1k\n.param x={y*2} y=21\nV2 h 0 {x}\n"
                 "R8 h 0 1\n.op\n.dc V1 2 2 1\n.measure dc b find v(b) at=2\n"
                 + "".join(".measure dc %s max v(%s)\n" % (n, n) for n in "cdefgh"))
    exact = {"b": 6, "c": 4, "d": -4, "e": -1, "f": 4 + math.sin(6), "g": -2, "h": 42}
    for name, value in exact.items():
        if name != "b":
            check("controlled source %s" % name, abs(out["measures"][name] - value), 1e-6)


def many(folder):
    """m=2 is two of them in parallel: channel, resistances, body diodes, capacitances."""
    model = (".model n nmos(vto=1 kp=1m rd=50 rs=20 is=1e-12 cbd=1n cbs=1n cgso=1u cgdo=1u)\n" + TIGHT +
             ".measure tran low min v(d)\n.measure tran mean avg v(d)\n")
    drive = ("V1 x 0 SIN(0 5 10k)\nR1 x d 500\nV2 g 0 PULSE(0 4 10u 1u 1u 40u 90u)\n%s\n"
             ".tran 1u 200u 0 0.5u\n" + model)
    _, one = run(folder, drive % "M1 d g 0 0 n w=20u l=1u m=2")
    _, two = run(folder, drive % "M1 d g 0 0 n w=20u l=1u\nM2 d g 0 0 n w=20u l=1u")
    for name in ("low", "mean"):
        # both runs control their errors to 1e-5 of 5 V
        check("m=2, " + name, abs(one["measures"][name] - two["measures"][name]), 1e-4)


def beginnings(folder):
    """Before a transient sources have their waveforms at 0, whatever their dc; without dc always."""
    for source, value in (("dc 3 PULSE(0 5 2u 1u 1u 5u 20u)", 0), ("SIN(0 1 1k 0 0 45)", math.sqrt(0.5)),
                          ("dc 2 PWL(0 1 1u 4)", 1)):
        data, _ = run(folder, "V1 a 0 %s\nR1 a b 1k\nC1 b 0 1u\n.tran 0.1u 10u" % source)
        # nine digits are written
        check("begins, %s" % source, abs(data["v(a)"][0] - value) + abs(data["v(b)"][0] - value), 1e-8)
    for source, value in (("SIN(1 5 100k 0 0 30)", 3.5), ("dc 3 PULSE(0 5 2u 1u 1u 5u 20u)", 3),
                          ("PWL(-1u 0 1u 4)", 2)):
        data, _ = run(folder, "V1 a 0 %s\nR1 a 0 1k\n.op" % source)
        check("at rest, %s" % source, abs(data["v(a)"][0] - value), 1e-8)


def ends(folder):
    """.measure finds what is at the ends, to which steps add up but for rounding, and of one row."""
    network = "V1 a 0 1 ac 1\nR1 a b 1k\nC1 b 0 1u\n"
    for analysis, what, value in [(".tran %gu %gu" % (stop / 7, stop), "tran x find v(b) at=%gu" % stop, 1)
                                  for stop in (0.7, 0.9, 1.1, 3.3, 5.7, 7.3)] + [
            (".envelope period=0.7u stop=%gu" % (0.7 * k), "envelope x find v(b) at=%gu" % (0.7 * k), 1)
            for k in (3, 7, 11)] + [
            (".ac lin 1 100 100", "ac x find vm(b) at=100", abs(1 / (1 + 0.2j * math.pi))),
            (".dc V1 -0.3 0.4 0.1", "dc x find v(b) at=0.4", 0.4)]:
        _, out = run(folder, network + analysis + "\n.measure " + what)
        found = out["measures"]["x"]
        check("%s: %s" % (analysis, what), math.inf if found is None else abs(found - value), 1e-6)


def matrices(folder):
    run(folder, "V1 a 0 1\nR1 a b 1k\nC1 b 0 1n\n.tran 1u 5u", "--matrices", "m.mtx",
        "--most-matrices", "3")
    written = sorted(name for name in os.listdir(folder) if name.startswith("m-"))
    check("matrices of three steps", abs(len(written) - 6), 0)


def stopped(folder):
    """SIGINT leaves waveforms, measures and the record of what there is."""
    for name in ("a.json", "a.csv", "s-1.mtx"):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    with open(os.path.join(folder, "a.cir"), "w", encoding="ascii") as file:
        file.write("test\nV1 a 0 SIN(1 1 1meg)\nR1 a b 1k\nC1 b 0 1n\n.tran 10n 5\n"
                   ".measure tran first find v(a) at=0\n.measure tran last find v(a) at=5\n")
    with subprocess.Popen([PROGRAM, "a.cir", "-o", "a.csv", "--json", "a.json", "--quiet", "--matrices",
                           "s.mtx", "--most-matrices", "1"], cwd=folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not os.path.exists(os.path.join(folder, "s-1.mtx")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        check("what a stopped run ends with", abs(process.wait(timeout=100) - 130), 0)
    found = {}
    if os.path.exists(os.path.join(folder, "a.json")):
        with open(os.path.join(folder, "a.json"), encoding="ascii") as file:
            found = json.load(file)
    measures, of_run = found.get("measures", {}), found.get("analyses", [{}])[0]
    check("the record says so", 0 if of_run.get("complete") is False else math.inf, 0)
    check("its first measure", abs(measures.get("first", math.inf) - 1), 1e-8)
    check("no measure of the end", 0 if measures.get("last", 0) is None else math.inf, 0)
    check("its waveforms", 0 if os.path.exists(os.path.join(folder, "a.csv")) else math.inf, 0)


def envelopes(folder):
    for name in ("buck", "boost", "flyback"):
        with open(os.path.join(FOLDER, name + ".cir"), encoding="ascii") as file:
            lines = [line for line in file.read().splitlines()[1:] if not line.startswith(".tran")]
        text = "\n".join(lines[:-1]) + "\n"
        full, _ = run(folder, text + ".tran 0.1u 2m 0 0.1u")
        data, out = run(folder, text + ".envelope period=10u stop=2m steps=100")
        for signal in ("v(out)", "i(l1)"):
            scale = max(full[signal]) - min(full[signal])
            worst, count = 0, 0
            for t, v in zip(data["time"], data[signal]):
                if abs(t / 1e-5 - round(t / 1e-5)) < 1e-6:
                    worst = max(worst, abs(v - at(full, signal, t)))
                    count += 1
            check("envelope of %s, %s, %d ends" % (name, signal, count), worst / scale, 1e-2)
        run_of = out["analyses"][0]
        print("    %d periods of 200, %d jumps" % (run_of["periods"], run_of["jumps"]))
        if run_of["jumps"] < 3:
            FAILURES.append("no jumps")
        steady, _ = run(folder, text + ".pss period=10u steps=100")
        for signal in ("v(out)", "i(l1)"):
            scale = max(full[signal]) - min(full[signal])
            check("steady state repeats, %s" % signal,
                  abs(steady[signal][0] - steady[signal][-1]) / scale, 1e-2)
    values = {}
    for update in ("implicit", "explicit", "dense"):
        steady, _ = run(folder, text + ".pss period=10u steps=100", "--update", update)
        values[update] = steady["v(out)"][-1]
    check("updates agree", max(values.values()) - min(values.values()), 1e-4)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for part in (transients, rectifier, small_signals, controlled, many, beginnings, ends, matrices,
                     stopped, envelopes):
            part(folder)
    print("%d failures %s" % (len(FAILURES), FAILURES))
    sys.exit(1 if FAILURES else 0)


main()
