#!/usr/bin/env python3
"""The page of docs/every.md from tables of bench/every.py --all.

bench/every_page.py TABLE.tsv... > docs/every.md
"""
import os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import every

HEAD = """# Every matrix
What `spry solve A` without options does on each square matrix of a folder, against SciPy's splu
(SuperLU, with one step of refinement) and the best of a list of configurations. Written by

    bench/every.py build/release/spry FOLDER --all -o every.tsv
    bench/every_page.py every.tsv > docs/every.md

b is ones, the tolerance 1e-8, one thread of V1 ([figures](figures.md)), busy. Seconds are the
processor's, with the start of the program and reading a binary file (about 2 ms), the median of
three if below 0.2; splu's are without reading, those in italics by the clock, from another run.
*Best* is the least of `auto`, `direct` and up to 20 pairs of a method and a preconditioner (the
list is in bench/every.py), each stopped when it took longer than the best before. The script
computes residuals from x in extended precision. A dash: not solved.

"""


def solved(found):
    return found is not None and every.solved(found)


def best_of(runs):
    done = [(found["seconds"], config) for config, found in runs.items() if config != "splu" and solved(found)]
    return min(done) if done else None


def attempts(found):
    return len([part for part in found["tried"].split("; ") if part])


def shares(table):
    """Lines of (what, how many, of how many)."""
    by_splu = {name: runs for name, runs in table.items() if runs["splu"]["verdict"] == "solved"}
    arrived = {name: runs for name, runs in by_splu.items() if solved(runs["auto"])}
    near = [name for name, runs in arrived.items() if runs["auto"]["seconds"] <= 2 * best_of(runs)[0]]
    small = {name: runs for name, runs in arrived.items() if int(runs["auto"]["rows"]) < 20000}
    late = [name for name, runs in small.items() if runs["auto"]["seconds"] > 3 * runs["splu"]["seconds"] + 0.1]
    wrong = [name for name, runs in table.items()
             for found in runs.values() if found["verdict"] == "converged" and not found["residual"] <= 1.0001e-8]
    said = sum(found["verdict"] == "converged" for runs in table.values() for found in runs.values())
    above = {name: runs for name, runs in table.items() if runs["splu"]["verdict"] == "not" and runs["auto"]["verdict"] != "singular"}
    rest = {name: runs for name, runs in table.items() if runs["splu"]["verdict"] not in ("solved", "not")}
    yield "splu solves it, and so does spry", len(arrived), len(by_splu), sorted(set(by_splu) - set(arrived))
    yield "within twice the seconds of the best", len(near), len(arrived), sorted(set(arrived) - set(near))
    yield "more than 3 times splu's seconds and 0.1 s (fewer than 20,000 rows)", len(late), len(small), late
    yield "splu ends above 1e-8, spry does not call it singular, and solves it", sum(solved(r["auto"]) for r in above.values()), len(above), \
        [name for name, runs in above.items() if not solved(runs["auto"])]
    yield "splu fails, runs out of time or calls it singular, and spry solves it", sum(solved(r["auto"]) for r in rest.values()), len(rest), []
    yield "reported as singular by spry", sum(r["auto"]["verdict"] == "singular" for r in table.values()), len(table), []
    yield "`converged` where the residual is above 1e-8 (all configurations)", len(wrong), said, sorted(set(wrong))


def number(value):
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def row(name, runs):
    auto, splu, best = runs["auto"], runs["splu"], best_of(runs)
    verdict = "" if solved(auto) else f" ({auto['verdict']})"
    other = "-" if splu["verdict"] != "solved" else number(splu["seconds"]) if splu.get("iterations") else f"*{number(splu['seconds'])}*"
    chosen = f"{auto['method']}, {auto['precon']}" if auto["method"] != auto["precon"] else auto["method"]
    return (f"| {name} | {auto['rows']} | {chosen}{verdict} | {attempts(auto)} | {auto['iterations']} | {number(auto['seconds'])} | {other} | "
            + (f"{best[1]} | {number(best[0])} |" if best else "- | - |"))


def main():
    table = {}
    for path in sys.argv[1:]:
        table.update(every.read_table(path))
    table = {name: runs for name, runs in table.items() if "auto" in runs and "splu" in runs}
    print(HEAD + "| | | of | but for |\n|---|---|---|---|")
    for what, count, of, names in shares(table):
        print(f"| {what} | {count} | {of} | {', '.join(names)} |")
    print("\n| matrix | rows | chosen | tried before | iterations | seconds | splu | best of all | its seconds |\n|---|---|---|---|---|---|---|---|---|")
    for name in sorted(table, key=str.lower):
        print(row(name, table[name]))


if __name__ == "__main__":
    main()
