#!/usr/bin/env python3
"""What spry semi refuses, with exit status 2 (3: memory) and a message that says where and why; and
what it survives.

    semi_bad.py SPRY-SEMI"""

import os
import re
import subprocess
import sys
import tempfile

HEAD = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
NAMES = '$PhysicalNames\n3\n1 1 "silicon"\n0 2 "a"\n0 3 "b"\n$EndPhysicalNames\n'
NODES = "$Nodes\n3\n1 0 0 0\n2 50 0 0\n3 100 0 0\n$EndNodes\n"
CELLS = "$Elements\n4\n1 1 2 1 1 1 2\n2 1 2 1 1 2 3\n3 15 2 2 2 1\n4 15 2 3 3 3\n$EndElements\n"
GOOD = HEAD + NAMES + NODES + CELLS
TETS = (HEAD + '$PhysicalNames\n3\n3 1 "silicon"\n2 2 "a"\n2 3 "b"\n$EndPhysicalNames\n'
        "$Nodes\n5\n1 0 0 0\n2 9 0 0\n3 0 9 0\n4 0 0 9\n5 %s\n$EndNodes\n"
        "$Elements\n%s$EndElements\n")
TWO = "3\n1 4 2 1 1 1 2 3 4\n2 4 2 1 1 5 2 3 4\n3 2 2 2 2 1 2 3\n"
FOUR = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"

# What is wrong, arguments (config: and mesh: are files' texts), and what the message has.
BAD = [
    ("no shape", [], "expected a built-in shape"),
    ("unknown shape", ["triode"], "no shape triode; there are: diode"),
    ("two shapes", ["diode", "mos"], "mos"),
    ("shape and mesh", ["diode", "mesh:" + GOOD], "expected a built-in shape"),
    ("unknown option", ["diode", "--dopng", "1"], "unknown option --dopng"),
    ("unknown name", ["diode", "config:lenght = 1 um\n"], r":1:1: unknown name lenght; did you mean"),
    ("a unit missing", ["diode", "config:length = 100\n"], r":1:10: .*is a unit missing"),
    ("a wrong unit", ["diode", "config:length = 1 V\n"], r":1:12: V is no unit of this option"),
    ("a unit too much", ["diode", "config:refine = 2 nm\n"], r":1:12: this option has no unit"),
    ("no number", ["diode", "config:length = long\n"], r":1:10: expected a number"),
    ("no value", ["diode", "config:length =\n"], r":1:9: a value is missing"),
    ("no equals sign", ["diode", "config:length 1 um\n"], "expected NAME = VALUE"),
    ("set twice", ["diode", "config:donors = 1e17\ndonors = 2e17\n"], r":2:1: donors is set twice"),
    ("binary configuration", ["diode", "config:\x01\x00\x02"], r":1:\d+: "),
    ("configuration not there", ["diode", "--config", "nowhere"], "nowhere: No such file"),
    ("negative length", ["diode", "--length", "-1"], "length"),
    ("length not a number", ["diode", "--length", "nan"], "length"),
    ("temperature 0", ["diode", "--temperature", "0"], "temperature"),
    ("temperature 1e6", ["diode", "--temperature", "1e6"], "temperature"),
    ("doping 1e30", ["diode", "--donors", "1e30"], "donors"),
    ("growth 1", ["diode", "--growth", "1"], "growth"),
    ("four dimensions", ["diode", "--dimension", "4"], "dimension"),
    ("a flat fin", ["finfet", "--dimension", "2"], "a finfet has 3 to 3 dimensions, not 2"),
    ("a thick capacitor", ["mos", "--dimension", "3"], "a mos has 1 to 1 dimensions"),
    ("junction below the body", ["mosfet", "config:junction = 200 nm\n"],
     r":1:1: the junction, 200 nm deep, is not within the body"),
    ("intervals less than atoms", ["diode", "--spacing", "1e-13"], "less than atoms"),
    ("a mesh too large", ["finfet", "--refine", "100"], "the mesh needs about|is too much"),
    ("unknown statistics", ["diode", "--statistics", "bose"], "boltzmann"),
    ("unknown material", ["diode", "--materials", "body unobtainium"], "no material unobtainium"),
    ("a body that insulates", ["diode", "--materials", "body sio2"], "no region is a semiconductor"),
    ("1e6 V", ["diode", "--bias", "anode 1e6"], "1e\\+06 V is more than 1000 V"),
    ("a sweep to 1e6 V", ["diode", "--sweep", "anode", "--to", "1e6"], "to"),
    ("bias without volts", ["diode", "--bias", "anode"], "expected NAME VOLTS"),
    ("bias in kV", ["diode", "--bias", "anode 1 kV"], "expected NAME VOLTS"),
    ("bias of no contact", ["diode", "--bias", "gate 1"],
     "no contact gate; there are: anode cathode"),
    ("bias nan", ["diode", "--bias", "anode nan"], "is more than 1000 V"),
    ("sweep of no contact", ["diode", "config:sweep = gate\n"],
     r":1:1: no contact gate; there are: anode cathode"),
    ("too many voltages", ["diode", "--sweep", "anode", "--step", "1e-6", "--to", "1000"],
     "voltages are more than 10000"),
    ("step 0", ["diode", "--sweep", "anode", "--step", "0"], "step"),
    ("family without sweep", ["mosfet", "--family", "drain 1"], "needs the sweep of another"),
    ("family of the sweep", ["mosfet", "--sweep", "gate", "--family", "gate 1"], "of another"),
    ("family without voltages", ["mosfet", "--sweep", "gate", "--family", "drain"], "no voltage"),
    ("family of words", ["mosfet", "--sweep", "gate", "--family", "drain one"], "expected voltages"),
    ("a gate on silicon", ["diode", "--contacts", "anode gate 4.5"], "touches a semiconductor"),
    ("ohmic on oxide", ["mos", "--contacts", "gate ohmic"], "touches insulators alone"),
    ("a gate without work function", ["mos", "--contacts", "gate gate"], "expected NAME ohmic"),
    ("a contact of wood", ["mos", "--contacts", "gate wooden"], "expected NAME ohmic"),
    ("work function 100", ["mos", "--contacts", "gate gate 100"], "work function of 100 eV"),
    ("doping of no region", ["diode", "--doping", "roof 1e17"], "the mesh has no region roof"),
    ("doping of no value", ["diode", "config:doping = body much\n"], r":1:1: body much: expected"),
    ("doping along w", ["diode", "--doping", "body gauss 1e17 w 0 5"], "the axis is x, y or z"),
    ("deviation 0", ["diode", "--doping", "body gauss 1e17 x 0 0"], "no length in nm"),
    ("doping file of words", ["diode", "doping:1 2 3 four\n"], ":1: expected x y z VALUE"),
    ("empty doping file", ["diode", "doping:# nothing\n"], "there is no point"),
    ("a material without gap", ["diode", "material:foo permittivity=10 nc=1e19\n"],
     ":1:1: a semiconductor needs"),
    ("a material with a soul", ["diode", "material:foo like=silicon soul=1\n"], ":1:18: unknown key"),
    ("picture of a line", ["diode", "--picture", "x.png"], "a line has no plane"),
    ("fields as text", ["diode", "--fields", "x.txt"], r"has to end in \.vtu"),
    ("plot without sweep", ["diode", "--plot", "x.svg"], "--plot needs a --sweep"),
    ("cut without line", ["diode", "--cut", "x.csv"], "expected x y z x y z"),
    ("a line of length 0", ["diode", "--cut", "x.csv", "--line", "1 1 1 1 1 1"], "two places"),
    ("resume from nothing", ["diode", "--resume"], "--resume needs the --checkpoint"),
    ("checkpoint not there", ["diode", "--resume", "--checkpoint", "nowhere"], "nowhere"),
    ("unknown method", ["diode", "--method", "hope"], "hope"),
    ("unknown preconditioner", ["diode", "--precon", "prayer"], "prayer"),
    ("unknown device", ["diode", "--device", "abacus"], "abacus"),
    ("mesh not there", ["--mesh", "nowhere.msh"], "nowhere.msh: No such file"),
    ("no mesh", ["mesh:hello\n"], "this is no mesh of Gmsh"),
    ("mesh without head", ["mesh:" + NODES], r":1: expected \$MeshFormat first"),
    ("mesh 3.0", ["mesh:" + GOOD.replace("2.2", "3.0")], ":2: format 3; there are 2.2 and 4.1"),
    ("binary mesh", ["mesh:" + GOOD.replace("2.2 0", "2.2 1")], ":2: a binary mesh"),
    ("mesh cut short", ["mesh:" + GOOD[:150]], "there are no elements"),
    ("a node twice", ["mesh:" + GOOD.replace("\n2 50", "\n1 50")], "node 1 is there twice"),
    ("a node missing", ["mesh:" + GOOD.replace("1 2 1 1 2 3", "1 2 1 1 2 7")], "there is no node 7"),
    ("a node at infinity", ["mesh:" + GOOD.replace("2 50", "2 inf")], ":13: expected three coord"),
    ("a billion nodes", ["mesh:" + GOOD.replace("$Nodes\n3", "$Nodes\n1000000000")], "expected"),
    ("a quadrangle", ["mesh:" + GOOD.replace("\n1 1 2 1 1 1 2", "\n1 3 2 1 1 1 2 3 3")], "type 3"),
    ("no name", ["mesh:" + GOOD.replace('"silicon"', "silicon")], ":6: expected DIMENSION"),
    ("no region", ["mesh:" + GOOD.replace('1 1 "silicon"', '2 1 "silicon"')], "no named volume"),
    ("an unnamed region", ["mesh:" + GOOD.replace("\n2 1 2 1 1 2 3", "\n2 1 2 9 9 2 3")],
     "an element of no named region"),
    ("an unknown region", ["mesh:" + GOOD.replace("silicon", "stuff")], "what is region stuff made of"),
    ("a contact of nothing", ["mesh:" + GOOD.replace("4 15 2 3 3 3\n", "4 15 2 2 2 1\n")],
     "contact b touches nothing"),
    ("contacts that meet", ["mesh:" + GOOD.replace("4 15 2 3 3 3\n", "4 15 2 3 3 1\n")],
     "contact b meets contact a"),
    ("no volume", ["mesh:" + GOOD.replace("2 50 0 0", "2 0 0 0")], "cell 1 has no volume"),
    ("a line that turns back", ["mesh:" + GOOD.replace("3 100 0 0", "3 25 0 0")],
     "turned inside out, or overlaps"),
    ("a tetrahedron inside out", ["mesh:" + TETS % ("1 1 1", TWO)], "turned inside out, or overlaps"),
    ("a flat tetrahedron", ["mesh:" + TETS % ("9 0 0", TWO)], "has no volume"),
    ("entities cut short", ["mesh:" + FOUR + "$Entities\n1 0 0 0\n1 0 0\n"], "expected a coordinate"),
    ("blocks cut short", ["mesh:" + FOUR + "$Nodes\n1 1 1 1\n3 1 0 5\n1\n"], "expected the number"),
]

# What looks odd and works.
SURVIVED = [
    ("doping 0", ["diode", "--doping", "all 0", "--donors", "1e-5", "--acceptors", "1e-5"]),
    ("a sweep down", ["diode", "--sweep", "anode", "--from", "0.2", "--to", "-0.2", "--step", "0.3"]),
    ("50 V against the diode", ["diode", "--bias", "anode -50"]),
    ("a mesh of two lines", ["mesh:" + GOOD, "--doping", "silicon 1e17"]),
    ("an insulator that conducts", ["mos", "--materials", "oxide silicon"]),
    ("60 K", ["diode", "--temperature", "60", "--bias", "anode 0.5"]),
]


def run(program, folder, arguments):
    words = []
    for k, word in enumerate(arguments):
        kind, _, text = word.partition(":")
        option = {"config": "--config", "mesh": "--mesh", "doping": "--doping-file",
                  "material": "--material-file"}.get(kind)
        if option:
            path = os.path.join(folder, "file%d" % k)
            with open(path, "wb") as out:
                out.write(text.encode("latin-1"))
            words += [option, path]
        else:
            words.append(word)
    return subprocess.run([program] + words, cwd=folder, capture_output=True, text=True,
                          errors="replace", timeout=120, check=False)


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for what, arguments, pattern in BAD:
            done = run(os.path.abspath(sys.argv[1]), folder, arguments)
            if done.returncode not in (2, 3) or not re.search(pattern, done.stderr):
                print("%s: exit status %d, %s" % (what, done.returncode, done.stderr.strip()))
                failures += 1
        for what, arguments in SURVIVED:
            done = run(os.path.abspath(sys.argv[1]), folder, arguments + ["--quiet"])
            if done.returncode != 0:
                print("%s: exit status %d, %s" % (what, done.returncode, done.stderr.strip()))
                failures += 1
    print("%d of %d refused, %d survived: %d failures"
          % (len(BAD), len(BAD), len(SURVIVED), failures))
    sys.exit(1 if failures else 0)


main()
