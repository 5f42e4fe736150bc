#!/usr/bin/env python3
"""What spry circuit refuses, with exit status 2 and file and line; what has no solution; and what it
survives, garbage among it.

    circuit_bad.py SPRY-CIRCUIT"""

import os
import random
import re
import subprocess
import sys
import tempfile

# What is wrong, lines after the title, and what the message has. A line is that of the fault.
BAD = [
    ("an unknown element", "Y1 a 0 1", r":2: y1 is no element"),
    ("a letter alone", "R a 0 1", r":2: r is no element"),
    ("an unknown line", "R1 a 0 1\n.fourier v(a)", r":3: \.fourier is not known"),
    ("a control block", "R1 a 0 1\n.control", r":3: \.control is not known"),
    ("no value", "R1 a 0", r":2: the value is missing"),
    ("no nodes", "R1", r":2: a node is missing"),
    ("a value of words", "R1 a 0 much", r":2: much is no number"),
    ("a value with a wrong tail", "R1 a 0 1k5", r":2: 1k5 is no number"),
    ("hexadecimal", "R1 a 0 0x10", r":2: 0x10 is no number"),
    ("infinity", "R1 a 0 inf", r":2: inf is no number"),
    ("nan", "R1 a 0 nan", r":2: nan is no number"),
    ("1e999", "R1 a 0 1e999", r":2: 1e999 is no number"),
    ("a resistance of 0", "R1 a 0 0", r":2: a resistance of 0"),
    ("a negative capacitance", "R1 a 0 1\nC1 a 0 -1p", r":3: -1e-12 is less than 0"),
    ("too much", "R1 a 0 1 2", r":2: 2 is not understood here"),
    ("a parameter of a resistor", "R1 a 0 1 tc1=2", r":2: tc1 is not known here"),
    ("an element twice", "R1 a 0 1\nR1 b 0 1", r":3: there are two elements r1"),
    ("a continuation of nothing", "+ R1 a 0 1", r":2: \+ continues no line"),
    ("a fault in a continuation", "R1 a 0\n* more\n+ much", r":2: much is no number"),
    ("a file that is not there", "R1 a 0 1\n.include nowhere.inc", r":3: nowhere\.inc: No such file"),
    ("a file that includes itself", ".include a.cir", r"include each other too deeply"),
    ("include without a file", ".include", r":2: expected \.include FILE"),
    ("no inductor", "L1 a 0 1m\nR1 a 0 1\nK1 L1 L2 0.9", r":4: l2 is no inductor"),
    ("a coupling of 2", "L1 a 0 1m\nL2 b 0 1m\nR1 a 0 1\nK1 L1 L2 2", r":5: a coupling of 2"),
    ("coupled with itself", "L1 a 0 1m\nR1 a 0 1\nK1 L1 L1 0.5", r":4: .*with itself"),
    ("coupled twice", "L1 a 0 1m\nL2 b 0 1m\nR1 a b 1\nK1 L1 L2 0.5\nK2 L2 L1 0.4", r":6: l2 and l1 are"),
    ("couplings of three", "L1 a 0 1m\nL2 b 0 1m\nL3 c 0 2m\nR1 a b 1\nR2 b c 1\nK12 L1 L2 0.99\n"
     "K23 L2 L3 0.99\nK13 L1 L3 -0.99", r":9: no inductors have these couplings of l3"),
    ("two that are one, and not", "L1 a 0 1m\nL2 b 0 1m\nL3 c 0 2m\nR1 a b 1\nR2 b c 1\nK12 L1 L2 1\n"
     "K23 L2 L3 0.9\nK13 L1 L3 0.8", r":9: no inductors have these couplings of l3"),
    ("an unknown waveform", "V1 a 0 SAW(0 1)", r":2: saw is no number"),
    ("a pulse of one number", "V1 a 0 PULSE(0)", r":2: pulse needs 2 numbers"),
    ("a pulse of nine", "V1 a 0 PULSE(0 1 2 3 4 5 90 8 9)", r":2: 8 is too much: pulse has 7"),
    ("a pulse without rise", "V1 a 0 PULSE(0 1)\nR1 a 0 1", r":2: PULSE needs times"),
    ("a pulse longer than its period", "V1 a 0 PULSE(0 1 0 1n 1n 9n 5n)", r":2: PULSE rises"),
    ("a pulse without )", "V1 a 0 PULSE(0 1 0 1n 1n 9n 20n\nR1 a 0 1", r":2: a \) is missing"),
    ("a wave without (", "V1 a 0 SIN 0 1 1k)\nR1 a 0 1", r":2: a \( is missing"),
    ("a model without )", ".model m d(is=1f\nR1 a 0 1", r":2: a \) is missing"),
    ("negative times", "V1 a 0 PULSE(0 1 -1n 1n 1n 1n)", r":2: times of PULSE"),
    ("times that fall", "V1 a 0 PWL(0 0 2n 1 1n 0)", r":2: times of PWL"),
    ("a time without a value", "V1 a 0 PWL(0 0 1n)", r":2: PWL has a time"),
    ("EXP without constants", "V1 a 0 EXP(0 1 0 0 1 1)", r":2: EXP needs"),
    ("SIN without frequency", "V1 a 0 SIN(0 1)", r":2: sin needs 3"),
    ("no branch", "F1 a 0 V9 2\nR1 a 0 1", r":2: v9 is no element with a current"),
    ("a resistor's current", "H1 a 0 R1 2\nR1 a 0 1", r":2: r1 is no element with a current"),
    ("B of nothing", "B1 a 0", r":2: V= or I= is missing"),
    ("B of charge", "B1 a 0 Q=1", r":2: expected V= or I="),
    ("an expression without end", "B1 a 0 V=1+", r":2: the expression ends too early"),
    ("a parenthesis missing", "B1 a 0 V=(1+2", r":2: a \) is missing"),
    ("an unknown function", "B1 a 0 V=bessel(1)", r":2: unknown function bessel"),
    ("an unknown name", "B1 a 0 V=2*x", r":2: unknown name x"),
    ("an argument missing", "B1 a 0 V=max(1)", r":2: an argument is missing"),
    ("two expressions", "B1 a 0 V=1 2", r":2: cannot read on at 2"),
    ("deep parentheses", "B1 a 0 V=" + "(" * 300 + "1" + ")" * 300, r":2: the expression is too deep"),
    ("? without :", "B1 a 0 V=1 ? 2", r":2: a : is missing"),
    ("no such parameter", "R1 a 0 {r}", r":2: unknown name r"),
    ("a brace without end", "R1 a 0 {1", r":2: \{1 has no end"),
    ("parameters in a circle", ".param a={b} b={a}\nR1 a 0 {a}", r":2: parameter b: unknown name a"),
    ("a parameter that is infinite", ".param a={1/0}\nR1 a 0 1", r":2: parameter a: .* is inf"),
    ("a parameter without a value", ".param a\nR1 a 0 1", r":2: a is not understood here: expected NAME=VALUE"),
    ("voltages in a parameter", ".param a={v(x)}\nR1 x 0 1", r":2: .*have no place here"),
    ("no model", "D1 a 0 dm\nR1 a 0 1", r":2: there is no model dm"),
    ("a model of another kind", "D1 a 0 m\n.model m npn", r":2: the model m is one of another"),
    ("an unknown kind", ".model m njf\nR1 a 0 1", r":2: njf is no kind of model"),
    ("an unknown parameter", "R1 a 0 1\n.model m d(is=1f\n+ area51=2)", r":3: area51=2 is not known"),
    ("a parameter out of bounds", ".model m d(m=7)\nR1 a 0 1", r":2: m=7 is out of range: 0.01 to 0.9"),
    ("level 3", ".model m nmos(level=3)\nR1 a 0 1", r":2: level=3 is out of range: 1 to 1"),
    ("a gain of 0", ".model m npn(bf=0)\nR1 a 0 1", r":2: bf=0 is out of range"),
    ("a current of 0", ".model m d(is=0)\nR1 a 0 1", r":2: is=0 is out of range"),
    ("a long word", "R1 a 0 {1" + "+1" * 300 + "}", r":2: \{1\+1.*\.\.\. is longer than 510 characters"),
    ("a long parameter", ".param x={1" + "+1" * 300 + "}\nR1 a 0 1", r":2: .* is longer than 510 characters"),
    ("a long expression", "B1 a 0 V={1" + "+1" * 3000 + "}", r":2: the expression is longer than 4095"),
    ("a long name", "R" + "1" * 300 + " a 0 1", r":2: r1.* is longer than 200 characters"),
    ("a long node", "R1 " + "a" * 300 + " 0 1", r":2: aaa.* is longer than 200 characters"),
    ("two models", ".model m d\n.model m d\nR1 a 0 1", r":3: there are two models m"),
    ("an area of 0", "D1 a 0 m 0\n.model m d\nR1 a 0 1", r":2: an area of 0"),
    ("no width", "M1 a a 0 0 m w=0\n.model m nmos\nR1 a 0 1", r":2: w, l - 2 ld and m"),
    ("on and on", "S1 a 0 a 0 m on on\n.model m sw\nR1 a 0 1", r":2: on is too much"),
    ("neither on nor off", "S1 a 0 a 0 m ajar\n.model m sw\nR1 a 0 1", r":2: expected on or off"),
    ("a line without delay", "T1 a 0 b 0 z0=50\nR1 a 0 1", r":2: a line needs"),
    ("a subcircuit without end", ".subckt s a\nR1 a 0 1", r":2: this \.subckt has no \.ends"),
    ("no subcircuit", "X1 a b s\nR1 a b 1", r":2: there is no subcircuit s"),
    ("ports", ".subckt s a b\nR1 a b 1\n.ends\nX1 a s", r":5: s has 2 ports, not 1"),
    ("a subcircuit within itself", ".subckt s a\nX1 a s\n.ends\nX1 a s", r":3: .*in each other more"),
    ("a fault in a subcircuit", ".subckt s a\nR1 a 0\n.ends\nX1 a s", r":3: the value is missing"),
    ("an unknown parameter of one", ".subckt s a\nR1 a 0 1\n.ends\nX1 a s q=1", r":5: s has no parameter q"),
    ("an analysis within one", ".subckt s a\nR1 a 0 1\n.op\n.ends\nX1 a s", r":4: \.op has no place"),
    ("ground as a port", ".subckt s 0\nR1 a 0 1\n.ends\nX1 a s", r":2: 0 is no port"),
    ("ic of no node", "R1 a 0 1\n.ic v(b)=1", r":3: there is no node b"),
    ("ic of a current", "R1 a 0 1\n.ic i(r1)=1", r":3: expected V\(NODE\)=VALUE"),
    ("ic of a node of a source", "V1 a 0 1\nR1 a b 1\nC1 b 0 1\n.ic v(b)=1\n.ic v(a)=0\n.tran 1 5",
     r":6: v\(a\) is given already"),
    ("ic of what an inductor joins", "V1 a 0 1\nL1 a b 1\nR1 b 0 1\n.ic v(b)=0\n.tran 1 5",
     r":5: v\(b\) is given already"),
    (".tran without stop", "R1 a 0 1\n.tran 1n", r":3: expected \.tran STEP STOP"),
    (".tran backwards", "R1 a 0 1\n.tran 1n 5n 9n", r":3: times have to be"),
    (".tran of five", "R1 a 0 1\n.tran 1n 5n 0 1n 7", r":3: 7 is too much"),
    (".ac of a kind", "R1 a 0 1\n.ac log 10 1 10", r":3: expected dec, oct or lin"),
    (".ac down", "R1 a 0 1\n.ac dec 10 10 1", r":3: expected COUNT"),
    (".ac from 0", "R1 a 0 1\n.ac dec 10 0 1", r":3: expected COUNT"),
    (".dc of no source", "R1 a 0 1\n.dc V1 0 1 1", r":3: there is no source v1"),
    (".dc the wrong way", "V1 a 0 1\nR1 a 0 1\n.dc V1 0 1 -1", r":4: the step does not lead"),
    (".pss without period", "R1 a 0 1\n.pss steps=100", r":3: period=T is missing"),
    (".envelope without stop", "R1 a 0 1\n.envelope period=1u", r":3: stop=T is missing"),
    (".envelope of what", "R1 a 0 1\n.envelope period=1u stop=1m hope=1", r":3: hope has no place"),
    (".pss with a line", "V1 a 0 1\nT1 a 0 b 0 z0=50 td=1n\nR1 b 0 1\n.pss period=1u", r":5: t1 is a line"),
    ("an unknown option", "R1 a 0 1\n.options speed=9", r":3: speed is no option"),
    ("an option out of bounds", "R1 a 0 1\n.options reltol=2", r":3: reltol is"),
    ("an unknown method", "R1 a 0 1\n.options method=euler", r":3: method is trap or gear"),
    ("save of no node", "R1 a 0 1\n.save v(b)\n.op", r":3: there is no v\(b\)"),
    ("measure of what", "R1 a 0 1\n.measure noise x max v(a)", r":3: expected \.measure"),
    ("measure how", "R1 a 0 1\n.measure tran x mode v(a)", r":3: not known in \.measure: mode"),
    ("trig without targ", "R1 a 0 1\n.measure tran x trig v(a) val=1 rise=1", r":3: expected TARG"),
    ("a floating node", "V1 a 0 1\nR1 a 0 1\nC1 a b 1n\nC2 b 0 1n\n.op", r":4: node b of c1 has no path"),
    ("a loop of sources", "V1 a 0 1\nV2 a 0 2\nR1 a 0 1", r":3: v2 closes a loop"),
    ("an inductor over a source", "V1 a 0 1\nL1 a 0 1m\nR1 a 0 1", r":3: l1 closes a loop"),
    ("a byte 0", "R1 a 0 1\x00", r":2: a byte 0"),
    ("nothing", "", "there is no element"),
    ("comments alone", "* nothing\n; at all", "there is no element"),
]

# What looks odd and works.
SURVIVED = [
    ("long expressions", "R1 a 0 {1" + "+1" * 253 + "}\nB1 b 0 V=1" + "+1" * 900 + "\nR2 b 0 1"),
    ("waves without parentheses, and with more", "V1 a 0 SIN 0 1 1k\nR1 a 0 1\nV2 b 0 (PULSE(0 {2*(1+1)} 0 1n "
     "1n 9n 20n)) ac 1\nR2 b 0 1"),
    ("ic of both ends of a capacitor", "V1 a 0 1\nR1 a b 1\nC1 b c 1\nR2 c 0 1\n.ic v(b)=2 v(c)=1\n.tran 1 5"),
    ("ic of a source, in the place of an operating point", "V1 a 0 1\nR1 a b 1\nC1 b 0 1\n"
     ".ic v(a)=1 v(b)=0\n.tran 1 5 uic"),
    ("three coupled by 1, two that are not", "L1 a 0 1m\nL2 b 0 1m\nL3 c 0 2m\nL4 d 0 1u\nL5 e 0 1u\n"
     "R1 a b 1\nR2 b c 1\nR3 d e 1\nK12 L1 L2 1\nK23 L2 L3 1\nK13 L1 L3 1\nK4 L5 L4 -0.3\n"
     "V1 x 0 1\nR4 x a 1\nR5 a d 1"),
    ("upper case and suffixes", "V1 A 0 1MEGV\nR1 a 0 1kOhm\n.OP"),
    ("continuation, comments", "V1 a 0\n* a comment\n+ 1 ; volt\nR1 a 0 1 $ ohm\n.op"),
    ("what follows .end", "R1 a 0 1\n.end\nnonsense"),
    ("no end", "R1 a 0 1"),
    ("a source that is shorted by a resistor", "V1 a 0 1\nR1 a 0 1n"),
    ("nested parameters", ".param c={a+b} b={2*a} a=1\n.subckt s p r={c}\nR1 p 0 {r*2}\n.ends\n"
     "X1 p s r={c+1}\nX2 p s\nV1 p 0 1"),
    ("names with dots", ".subckt s p\nR1 p q 1\nR2 q 0 1\n.ends\nX1 p s\nV1 p 0 1\n.save v(x1.q)"),
    ("windows", "R1 a 0 1\r\nV1 a 0 1\r\n.op\r"),
    ("a latch", "V1 d 0 5\nR1 d a 1k\nR2 d b 1k\nM1 a b 0 0 m w=10u l=1u\nM2 b a 0 0 m w=10u l=1u\n"
     ".model m nmos(vto=1 kp=100u)"),
    ("a diode at 1 kV", "V1 a 0 1k\nR1 a b 1\nD1 b 0 d\n.model d d"),
    ("switches that turn", "V1 a 0 SIN(0 1 1k)\nS1 a b a 0 m\nR1 b 0 1\n.model m sw(vt=0.5 vh=0.1)\n"
     ".tran 10u 2m"),
]

WORDS = ["v1", "a", "0", "b", "r1", "(", ")", "=", "{", "}", "1k", "-1", "1e308", ".tran", ".subckt", "s",
         ".ends", "x1", "pulse", "d", "q1", ".model", "npn", "+", "*", "'", "\"", ",", "?", ":", "t1", "z0",
         ".param", ".measure", "tran", "v(a)", "i(v1)", "uic", "ic", ".ic", "k1", "b1", "v", "ln", "1/0"]


def run(program, folder, text):
    with open(os.path.join(folder, "a.cir"), "wb") as file:
        file.write(("title\n" + text + "\n").encode("latin-1"))
    return subprocess.run([program, "a.cir", "--quiet"], cwd=folder, capture_output=True, text=True,
                          errors="replace", timeout=120, check=False)


def mutated(random_numbers, text):
    """A netlist with some words lost, doubled, or put in the place of others."""
    lines = [line.split(" ") for line in text.split("\n")]
    for _ in range(random_numbers.randint(1, 4)):
        line = random_numbers.choice(lines)
        at = random_numbers.randrange(len(line))
        kind = random_numbers.randrange(4)
        if kind == 0:
            line[at] = random_numbers.choice(WORDS)
        elif kind == 1:
            line.insert(at, random_numbers.choice(WORDS))
        elif kind == 2 and len(line) > 1:
            del line[at]
        else:
            word = line[at]
            cut = random_numbers.randint(0, len(word))
            line[at] = word[:cut] + chr(random_numbers.randint(1, 255)) + word[cut + 1:]
    return "\n".join(" ".join(line) for line in lines)


def main():
    program = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for what, text, pattern in BAD:
            done = run(program, folder, text)
            if done.returncode != 2 or not re.search(pattern, done.stderr):
                print("%s: exit status %d, %s" % (what, done.returncode, done.stderr.strip()))
                failures += 1
        for what, text in SURVIVED:
            done = run(program, folder, text)
            if done.returncode != 0:
                print("%s: exit status %d, %s" % (what, done.returncode, done.stderr.strip()))
                failures += 1
        random_numbers = random.Random(43)
        texts = [text for _, text in SURVIVED] + [text for _, text, _ in BAD]
        for k in range(count):
            text = mutated(random_numbers, random_numbers.choice(texts))
            text = re.sub(r"(?m)^\.(tran|envelope|pss|ac|dc).*", "", text)
            done = run(program, folder, text)
            if done.returncode not in (0, 1, 2, 3) or "Sanitizer" in done.stderr:
                print("garbage %d: exit status %d, %s\n%s"
                      % (k, done.returncode, done.stderr.strip(), text))
                failures += 1
    print("%d refused, %d survived, %d of garbage: %d failures"
          % (len(BAD), len(SURVIVED), count, failures))
    sys.exit(1 if failures else 0)


main()
