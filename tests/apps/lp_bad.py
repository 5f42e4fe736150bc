#!/usr/bin/env python3
"""What spry lp refuses, with exit status 2 and file and line, and what it survives.

    lp_bad.py SPRY-LP"""

import gzip
import os
import random
import subprocess
import sys
import tempfile

GOOD = """NAME good
ROWS
 N cost
 L one
 G two
 E three
COLUMNS
 x cost 1 one 1
 x two 1
 y cost 2 three 1
RHS
 rhs one 4 two 1
 rhs three 2
RANGES
 rng one 2
BOUNDS
 UP b x 3
ENDATA
"""

# What is wrong, what is replaced by what in the text above, and what the message has.
BAD = [
    ("no such kind of row", " L one", " Q one", ":4: expected a row"),
    ("a row without a name", " L one", " L", ":4: expected a row"),
    ("a row with too much", " L one", " L one 1", ":4: expected a row"),
    ("a row twice", " G two", " G one", ":5: row one is there twice"),
    ("the objective twice", " G two", " N cost", ":5: row cost is there twice"),
    ("no rows", "ROWS\n N cost\n L one\n G two\n E three\n", "", ":2: section COLUMNS before ROWS"),
    ("right-hand sides before columns", "COLUMNS\n", "RHS\nCOLUMNS\n", ":7: section RHS before COLUMNS"),
    ("bounds before columns", "COLUMNS\n", "BOUNDS\nCOLUMNS\n", ":7: section BOUNDS before COLUMNS"),
    ("a section twice", "RANGES\n", "RHS\n", ":14: a second section RHS"),
    ("rows twice", "RANGES\n", "ROWS\n", ":14: a second section ROWS"),
    ("an unknown section", "RANGES\n", "QUADOBJ\n", ":14: a section QUADOBJ"),
    ("a section in small letters", "RANGES\n", "ranges\n", ":14: a section ranges"),
    ("an unknown row of a column", " x two 1", " x four 1", ":9: column x: there is no row four"),
    ("a number that is none", " x two 1", " x two one", ":9: one is no number"),
    ("a number with a tail", " x two 1", " x two 1k", ":9: 1k is no number"),
    ("a comma", " x two 1", " x two 1,5", ":9: 1,5 is no number"),
    ("nan", " x two 1", " x two nan", ":9: nan is not finite"),
    ("inf", " x two 1", " x two inf", ":9: inf is not finite"),
    ("1e999", " x two 1", " x two 1e999", ":9: 1e999 is not finite"),
    ("no number", " x two 1", " x two", ":9: expected a column"),
    ("two rows, one number", " x two 1", " x two 1 three", ":9: expected a column"),
    ("too much in a column", " x two 1", " x two 1 three 1 one", ":9: expected a column"),
    ("three rows", " x two 1", " x two 1 three 1 one 1", ":9: expected a column"),
    ("two numbers of a place", " x two 1", " x one 1", ":9: column x has two numbers in row one"),
    ("two in one line", " x two 1", " x two 1 two 1", ":9: column x has two numbers in row two"),
    ("a column that goes on", " y cost 2 three 1", " y cost 2\n x three 1", ":11: column x goes on after another"),
    ("a marker of another kind", " x two 1", " M 'MARKER' 'SOSORG'", ":9: a marker 'SOSORG'"),
    ("a right-hand side of no row", "rhs three 2", "rhs four 2", ":13: there is no row four"),
    ("a right-hand side of words", "rhs three 2", "rhs three two", ":13: two is no number"),
    ("a right-hand side without", "rhs three 2", "rhs", ":13: expected a name"),
    ("an infinite right-hand side", "rhs three 2", "rhs three inf", ":13: inf is not finite"),
    ("a range of no row", "rng one 2", "rng four 2", ":15: there is no row four"),
    ("a range that is none", "rng one 2", "rng one x", ":15: x is no number"),
    ("an infinite range", "rng one 2", "rng one -inf", ":15: -inf is not finite"),
    ("an unknown bound", " UP b x 3", " SC b x 3", ":17: a bound SC"),
    ("a bound in small letters", " UP b x 3", " up b x 3", ":17: a bound up"),
    ("a bound of no column", " UP b x 3", " UP b z 3", ":17: there is no column z"),
    ("a bound without a number", " UP b x 3", " UP b x", ":17: x is no number"),
    ("a bound of words", " UP b x 3", " UP b x three", ":17: three is no number"),
    ("a bound of nan", " UP b x 3", " UP b x nan", ":17: nan is not finite"),
    ("a bound alone", " UP b x 3", " UP", ":17: expected a bound"),
    ("a bound with too much", " UP b x 3", " UP b x 3 4", ":17: expected a bound"),
    ("fixed to infinity", " UP b x 3", " FX b x inf", ":17: column x is fixed to inf"),
    ("free and of no column", " UP b x 3", " FR b z", ":17: there is no column z"),
    ("binary and of no column", " UP b x 3", " BV b z", ":17: there is no column z"),
    ("two sets", "rhs three 2", "other three 2", ":13: a second set, other, behind rhs"),
    ("two sets of bounds", " UP b x 3", " UP b x 3\n UP c y 3", ":18: a second set, c, behind b"),
    ("two numbers of a row", "rhs three 2", "rhs one 2", ":13: a second number of row one"),
    ("two ranges of a row", "rng one 2", "rng one 2 one 3", ":15: a second number of row one"),
    ("nothing is below", " UP b x 3", " UP b x -inf", ":17: an upper bound of -inf"),
    ("nothing is above", " UP b x 3", " LO b x inf", ":17: a lower bound of inf"),
    ("no end", "ENDATA\n", "", "the file ends without ENDATA"),
    ("cut in the middle", GOOD[100:], "", "the file ends without ENDATA"),
    ("nothing", GOOD, "", "the file ends without ENDATA"),
    ("blanks alone", GOOD, "   \n\n  \n", "the file ends without ENDATA"),
    ("a comment alone", GOOD, "* nothing\n", "the file ends without ENDATA"),
    ("data before any section", "NAME good\n", " x y z\n", ":1: expected a section"),
    ("data behind NAME", "ROWS\n N", " x 1\nROWS\n N", ":2: expected a section"),
    ("a sense that is none", "ROWS\n N", "OBJSENSE\n    UP\nROWS\n N", ":3: a sense UP"),
    ("a sense in a line", "ROWS\n N", "OBJSENSE LEAST\nROWS\n N", ":2: a sense LEAST"),
    ("a sense twice", "ROWS\n N", "OBJSENSE MAX\nOBJSENSE MIN\nROWS\n N", ":3: a second section OBJSENSE"),
    ("another format", GOOD, "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n", ":1: a section %%MatrixMarket"),
    ("a program", GOOD, "#!/bin/sh\nexit 0\n", ":1: a section #!/bin/sh"),
    ("a line without end", " x two 1", " x two " + "1" * 5000, ":9: a line of 5007 characters"),
    ("a terminal's codes", " L one", " Q \x1b[2J", ":4: expected a row"),
    ("a section of codes", "RANGES\n", "\x1b[2J\n", r":14: a section \x1b[2J"),
    ("a byte of 0", " x two 1", " x two\0 1", "a byte of 0 (NUL)"),
    ("windows' text of 16 bits", GOOD, GOOD.encode("utf-16"), "a byte of 0 (NUL)"),
]

program, room = sys.argv[1], tempfile.mkdtemp()
path, failed = os.path.join(room, "a.mps"), 0


def run(*options):
    return subprocess.run([program, *options], capture_output=True, text=True, errors="replace", timeout=60)


def write(data):
    with open(path, "wb") as f:
        f.write(data)


def expect(what, found, good):
    global failed
    if not good:
        failed += 1
        print(f"{what}: exit {found.returncode}, {found.stderr.strip()} {found.stdout[:200]}")


write(GOOD.encode())
good = run(path)
expect("the text that is replaced in", good, good.returncode == 0 and "objective  6," in good.stdout)
for what, old, new, message in BAD:
    assert old in GOOD, what
    write(new if isinstance(new, bytes) else GOOD.replace(old, new, 1).encode())
    found = run(path)
    expect(what, found, found.returncode == 2 and message in found.stderr and "\x1b" not in found.stderr)
for what, options in (("a file that is not there", ["nowhere.mps"]), ("a folder", [room]), ("no file", []),
                      ("two files", [path, path]), ("an option that is none", [path, "--dual"]),
                      ("a tolerance of 0", [path, "--tol", "0"])):
    found = run(*options)
    expect(what, found, found.returncode == 2 and found.stderr)
packed = gzip.compress(GOOD.encode())
write(packed[:-20])
found = run(path)
expect("a gzip file that ends too early", found, found.returncode == 2)
write(packed)
found = run(path)
expect("a gzip file", found, found.returncode == 0)

# What comes at random is refused or solved, and does not end by a signal.
rng = random.Random(7)
for k in range(200):
    data = bytearray(packed if k % 4 == 0 else GOOD.encode())
    for _ in range(rng.randint(1, 12)):
        at = rng.randrange(len(data))
        act = rng.randrange(4)
        if act == 0:
            data[at] = rng.randrange(256)
        elif act == 1:
            del data[at:at + rng.randint(1, 30)]
        elif act == 2:
            data[at:at] = data[rng.randrange(len(data) + 1):][:40]
        else:
            data[at:at] = rng.choice([b"\n", b" ", b"-1e308", b"1e-308", b"0", b"inf", b"\t", b" FR b x\n"])
        if not data:
            data = bytearray(b" ")
    write(data)
    found = run(path, "-q")
    expect(f"damaged file {k}", found, 0 <= found.returncode <= 3)
print(f"{len(BAD)} files refused, {failed} failed")
sys.exit(failed > 0)
