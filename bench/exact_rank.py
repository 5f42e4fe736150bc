#!/usr/bin/env python3
"""Ranks of A and of [A b], b = ones, in exact arithmetic modulo a prime: the same over the rationals, but for an accident of 1 in 10^18 or so.

bench/exact_rank.py FILE.mtx[.gz]...

b is in the range of A where the two are the same. What rounding makes of it is another question: a matrix of full rank may be singular as
far as double precision can show. Sparse elimination, rows with few entries first: seconds for most graphs, a minute for a mesh of 60,000 rows.
"""
import gzip, heapq, sys
from fractions import Fraction


def is_prime(p):
    """Miller and Rabin's test, with bases that decide below 3e24."""
    d, r = p - 1, 0
    while d % 2 == 0:
        d, r = d // 2, r + 1
    return all(any(pow(a, d << k, p) == p - 1 for k in range(r)) or pow(a, d, p) == 1 for a in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37))


P = next(p for p in range((1 << 61) - 3, 0, -4) if p % 4 == 1 and is_prime(p))  # where -1 has a root
I = next(pow(g, (P - 1) // 4, P) for g in range(2, 100) if pow(g, (P - 1) // 2, P) == P - 1)


def number(text):
    f = Fraction(text)
    return f.numerator * pow(f.denominator, P - 2, P) % P


def read(path):
    """Rows as {column: value}."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        kind, symmetry = file.readline().lower().split()[3:5]
        lines = (line.split() for line in file if not line.startswith("%"))
        n = int(next(lines)[0])
        rows = [{} for _ in range(n)]
        for words in filter(None, lines):
            i, j = int(words[0]) - 1, int(words[1]) - 1
            v = 1 if kind == "pattern" else number(words[2]) + (I * number(words[3]) if kind == "complex" else 0)
            w = {"general": 0, "symmetric": v, "skew-symmetric": -v}.get(symmetry)
            if w is None:
                sys.exit(f"{path}: {symmetry} is not read")
            if v % P:
                rows[i][j] = v % P
                if w and i != j:
                    rows[j][i] = w % P
        return rows


def ranks(rows):
    b, alive, rank, outside = [1] * len(rows), [True] * len(rows), 0, False
    cols = {}
    for i, row in enumerate(rows):
        for j in row:
            cols.setdefault(j, set()).add(i)
    heap = [(len(row), i) for i, row in enumerate(rows)]
    heapq.heapify(heap)
    while heap:
        length, i = heapq.heappop(heap)
        row = rows[i]
        if not alive[i] or length != len(row):
            continue
        alive[i] = False
        if not row:
            outside = outside or b[i] != 0
            continue
        rank += 1
        j = min(row, key=lambda c: len(cols[c]))
        inverse = pow(row[j], P - 2, P)
        for c in row:
            cols[c].discard(i)
        for k in cols.pop(j):
            other = rows[k]
            f = other.pop(j) * inverse % P
            for c, v in row.items():
                if c == j:
                    continue
                new = (other.get(c, 0) - f * v) % P
                if new:
                    cols[c].add(k)
                    other[c] = new
                elif c in other:
                    del other[c]
                    cols[c].discard(k)
            b[k] = (b[k] - f * b[i]) % P
            heapq.heappush(heap, (len(other), k))
    return rank, rank + outside


for path in sys.argv[1:] or sys.exit(__doc__):
    system = read(path)
    print(path, len(system), "rows, rank %d, with b %d" % ranks(system))
