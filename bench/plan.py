#!/usr/bin/env python3
"""How near `spry plan` comes to what `spry solve` then takes.

    bench/plan.py SPRY FOLDER [--part first|second|all] [-o FILE.tsv]

Each square matrix of the folder (INDEX.tsv, .mtx.gz) is planned, and solved with nothing else said, by one thread, b being ones, with no memory of earlier runs. Compared are the
most bytes in use (memory_bytes of both) and the seconds of set-up and iterations: those of the clock, the least of three plans and of three solves where they are short. The
parts are every other matrix by name: forecasts were fitted to the first alone.
"""
import argparse
import json
import os
import subprocess
import sys


def run(command, seconds):
    environment = dict(os.environ, SPRY_CACHE="", OMP_NUM_THREADS="1")
    try:
        done = subprocess.run(command, capture_output=True, timeout=seconds, env=environment)
    except subprocess.TimeoutExpired:
        return None
    try:
        return json.loads(done.stdout)
    except ValueError:
        return None


def whole(record):
    return record.get("choose_seconds", 0) + record["setup_seconds"] + record["solve_seconds"]


def least(spry, word, path, seconds):
    """The record whose seconds are the least; those that take long are run once."""
    best = None
    for _ in range(3):
        record = run([spry, word, path, "--json", "--threads", "1", "--no-memory"], seconds)
        if not record or record.get("setup_seconds") is None:
            return record
        spent = whole(record)
        if best is None or spent < whole(best):
            best = record
        if spent > 0.5:
            break
    return best


def measure(spry, path, seconds):
    plan, solve = least(spry, "plan", path, seconds), least(spry, "solve", path, seconds)
    if not plan or not solve or solve["reason"] == "failed":
        return None
    same = plan["method"] == solve["method"] and plan["precon"].split(":")[0] == solve["precon"] and not solve["tried"][len(plan["refused"]):]
    return {"rows": solve["rows"], "precon": plan["precon"].split(":")[0], "done": solve["precon"], "as_planned": same and solve["reason"] != "singular",
            "reason": solve["reason"],
            "bytes": plan["memory_bytes"], "bytes_done": solve["memory_bytes"],
            "seconds": None if plan["setup_seconds"] is None else plan["setup_seconds"] + plan["solve_seconds"],
            "seconds_done": whole(solve), "most": plan["most_seconds"], "least": plan["least_seconds"],
            "plan_seconds": plan["plan_seconds"], "iterations": plan["iterations"], "least_iterations": plan["least_iterations"],
            "most_iterations": plan["most_iterations"], "iterations_done": solve["iterations"]}


def share(rows, good):
    return f"{sum(map(good, rows))} of {len(rows)}" + (f" ({100 * sum(map(good, rows)) / len(rows):.0f}%)" if rows else "")


def near_bytes(row):
    return abs(row["bytes"] / row["bytes_done"] - 1) <= 0.2


def near_seconds(row):
    return row["seconds"] is not None and 0.5 <= row["seconds"] / row["seconds_done"] <= 2


def within(row):
    return row["seconds"] is not None and row["least"] <= row["seconds_done"] <= row["most"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spry")
    parser.add_argument("folder")
    parser.add_argument("--part", choices=["first", "second", "all"], default="all")
    parser.add_argument("--seconds", type=float, default=60, help="limit of one run")
    parser.add_argument("-o", "--output", help="file for the table, a line a matrix")
    options = parser.parse_args()
    with open(os.path.join(options.folder, "INDEX.tsv")) as index:
        lines = [line.rstrip("\n").split("\t") for line in index][1:]
    names = sorted(line[0] for line in lines if line[2] == line[3])
    if options.part != "all":
        names = names[options.part == "second"::2]
    rows = {}
    for name in names:
        row = measure(options.spry, os.path.join(options.folder, name), options.seconds)
        if row:
            rows[name.split(".")[0]] = row
        else:
            print(f"{name}: no record", file=sys.stderr)
    if options.output:
        with open(options.output, "w") as out:
            keys = list(next(iter(rows.values())))
            out.write("\t".join(["matrix", *keys]) + "\n")
            for name, row in rows.items():
                out.write("\t".join([name, *(str(row[key]) for key in keys)]) + "\n")
    every = list(rows.values())
    print("| matrices | memory within 20% | seconds within a factor of 2 | seconds within the range reported |\n|---|---|---|---|")
    for label, some in (("all", every), ("solved as planned", [r for r in every if r["as_planned"]]),
                        ("at least 10 ms", [r for r in every if r["seconds_done"] >= 0.01])):
        print(f"| {label} | {share(some, near_bytes)} | {share(some, near_seconds)} | {share(some, within)} |")
    print("\nfar off:")
    for name, row in rows.items():
        if not near_bytes(row) or not near_seconds(row):
            planned = "-" if row["seconds"] is None else f"{row['seconds']:.4f}"
            print(f"  {name}: {row['rows']} rows, {row['precon']} ({row['done']}, {row['reason']}), bytes {row['bytes'] / row['bytes_done']:.2f}, "
                  f"seconds {planned} of {row['seconds_done']:.4f}, iterations {row['iterations']} of {row['iterations_done']}")


main()
