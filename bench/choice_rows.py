#!/usr/bin/env python3
"""What a choice costs on a machine with many cores and a GPU: a line for each row that has a target.

bench/choice_rows.py SPRY [--device cuda] [--rows PART] [--limit SECONDS]

Seconds of the clock of set-up and solve, as the record has them, without reading; `auto` is `spry solve A` with an empty SPRY_CACHE,
`again` a second one that remembers, `pinned` the named configurations, of which the best counts. b is ones. Rows of the host have all cores.
For quiet machines; less than 4 minutes. Needs no more than Python.
"""
import argparse, json, os, subprocess, sys, tempfile

# what, spry gen, device or host, pinned configurations, what it should be
ROWS = [
    ("helmholtz 64", "helmholtz --size 64", False, ["cocg ilu"], "again 0.95"),
    ("helmholtz 40, one thread", "helmholtz --size 40 --threads 1", False, ["cocg ilu"], "0.30 both"),
    ("helmholtz 96", "helmholtz --size 96", False, ["cocg ilu"], "set-up 0.3"),
    ("elasticity 56", "elasticity --size 56", False, ["cg amg"], "1.1 times pinned"),
    ("elasticity 40, nu 0.49", "elasticity --size 40 --nu 0.49", False, ["cg amg"], "1.3 times pinned"),
    ("poisson3d 160", "poisson3d --size 160", False, ["cg jacobi", "cg amg"], "1.3 times pinned"),
    ("random 50,000", "random --size 50000", False, ["bicgstabl jacobi", "bicgstabl ilu"], "0.08"),
    ("circuit 100,000", "circuit --size 100000", False, ["direct", "bicgstabl ilutp"], "1.3 times pinned"),
    ("maxwell 32, complex", "maxwell --size 32 --sigma 100 --type z", False, ["cocg ilu", "fgmres edges"], "1.3 times pinned"),
    ("poisson3d 64", "poisson3d --size 64", True, ["cg jacobi", "cg amg"], "1.3 times pinned"),
    ("elasticity 56", "elasticity --size 56", True, ["cg amg"], "1.1 times pinned"),
]


def solve(spry, path, options, limit, cache):
    """(seconds, what was chosen): None where it took longer, or did not converge."""
    command = [spry, "solve", path, "-o", os.devnull, "--json", "--quiet", *options]
    try:
        text = subprocess.run(command, capture_output=True, text=True, timeout=limit, env={**os.environ, "SPRY_CACHE": cache}).stdout
        r = json.loads(text)
    except (subprocess.TimeoutExpired, ValueError):
        return None
    seconds = [r[key] for key in ("choose_seconds", "setup_seconds", "solve_seconds")]
    return (sum(seconds), f"{r['method']} {r['precon']} ({r['iterations']}; {len(r['tried'])} tried; "
            + " + ".join(f"{s:.3g}" for s in seconds) + ")") if r["converged"] else None


def show(found):
    return f"{found[0]:.3g}" if found else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spry")
    parser.add_argument("--device", help="that rows of a device are measured on; without, they are left out")
    parser.add_argument("--rows", default="", help="part of a row's name")
    parser.add_argument("--limit", type=float, default=15, help="seconds for a run")
    given = parser.parse_args()
    print("| what | on | auto | again | pinned | should be | auto: choosing + set-up + solve | best pinned |\n|---|---|---|---|---|---|---|---|")
    for what, options, on_device, pinned, target in ROWS:
        if given.rows not in what or (on_device and not given.device):
            continue
        words, threads = options.split(), []
        if "--threads" in words:
            at = words.index("--threads")
            threads, words = words[at:at + 2], words[:at]
        place = ["--device", given.device if on_device else "cpu", *threads]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "A.spry")
            subprocess.run([given.spry, "gen", *words, "-o", path, "--quiet"], check=True)
            auto = solve(given.spry, path, place, given.limit, folder)
            again = solve(given.spry, path, place, given.limit, folder)
            runs = []
            for config in pinned:
                method, precon = (config.split() + [""])[:2]
                found = solve(given.spry, path, [*place, "--method", method, *(["--precon", precon] if precon else [])], given.limit, "")
                runs += [found] if found else []
        best = min(runs, default=None)
        print(f"| {what} | {place[1]} | {show(auto)} | {show(again)} | {show(best)} | {target} | {auto[1] if auto else '-'} | "
              f"{best[1] if best else '-'} |", flush=True)


if __name__ == "__main__":
    main()
