#!/bin/sh
# A fin transistor on meshes like those of E. Coronado's thesis (2021), tables 1.1 to 1.3: 11,931, 121,316 and 279,255
# nodes. For each mesh and way to solve: nodes, unknowns, seconds of equilibrium and one bias point, those of the processor, seconds of all linear
# systems, their number, iterations, peak memory per node.
#
#   bench/semi.sh SPRY-SEMI [DEVICE [CURVE]]
#
# DEVICE is cpu or cuda; with a third word the whole transfer curve, 11 voltages. MESHES="1.1 3.03 4.2" are the factors
# by which intervals are divided, WAYS="fgmres+ilu bicgstab+ilu auto+auto" the ways.
set -eu
program=$1
device=${2:-cpu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bias="--bias drain 0.05"
set -- ${3:+curve}
printf 'refine\tway\tnodes\tunknowns\tall s\tprocessor s\tlinear s\tsolves\titerations\tB/node\tused\n'
for refine in ${MESHES:-1.1 3.03 4.2}; do
    for way in ${WAYS:-fgmres+ilu bicgstab+ilu auto+auto}; do
        if [ $# -gt 0 ]; then
            sweep="--from 0 --to 0.5 --step 0.05"
        else
            sweep="--from 0.5 --to 0.5"
        fi
        if ! /usr/bin/time -f "%U %S %M" -o "$work/memory" "$program" finfet --refine "$refine" --quantum electrons \
            --bias "${bias#--bias }" --sweep gate $sweep --method "${way%+*}" --precon "${way#*+}" --device "$device" \
            --tol 1e-6 --quiet --json "$work/run.json" >"$work/out" 2>&1; then
            printf '%s\t%s\t%s\n' "$refine" "$way" "$(tail -n 1 "$work/out")"
            continue
        fi
        python3 - "$work/run.json" "$work/memory" "$refine" "$way" <<'END'
import json
import sys

run = json.load(open(sys.argv[1]))
user, system, memory = map(float, open(sys.argv[2]).read().split()[-3:])
last = run["points"][-1]
print(*sys.argv[3:5], run["nodes"], run["unknowns"], "%.1f" % run["seconds"], "%.1f" % (user + system), "%.1f" % last["linear_seconds"],
      last["linear_solves"], last["linear_iterations"], round(1024 * memory / run["nodes"]),
      run["method"] + " " + run["precon"], sep="\t")
END
    done
done
