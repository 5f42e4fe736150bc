#!/bin/bash
# The experiment of "Fast-Helmholtz":  bench/helmholtz.sh BUILD_FOLDER [SIDE...]      160 when none is given
# Seconds for 1,000 iterations of bi-conjugate gradients with the 7-point Helmholtz matrix of SIDE^3 points, complex double, in the
# format crf: one thread, all threads, ranks, a device, ranks on devices (of their own where there are several), and a device
# together with ranks on cores whose shares are measured, compared with tables 4.2, 4.4, 4.5 and 4.7 of G. Ortega, High
# performance computing for solving large sparse systems (2014).
# BUILD_FOLDER is a Release build. MODES="thread threads ranks device devices hybrid" selects cases, DEVICE=cuda the device,
# CORES=$(nproc) how many cores, GPUS=2 how many ranks on devices, ITERATIONS=1000 the longer of two solves: what is printed is
# 1,000 times an iteration, from the difference of it and a solve a quarter
# as long, so that what comes once does not count; and, for devices, the whole of the longer solve with its set-up. FOLDER keeps matrices.
set -u
build=${1:?usage: helmholtz.sh BUILD_FOLDER [SIDE...]}
shift
sides=${*:-160}
modes=${MODES:-thread threads ranks device devices hybrid} device=${DEVICE:-cuda} cores=${CORES:-$(nproc)} iterations=${ITERATIONS:-1000}
work=${FOLDER:-$(mktemp -d)}
[ -n "${FOLDER:-}" ] || trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
if [ -e "$build/libspry_mpi.so.2" ]; then
    SPRY_MPI_LIBRARY=$(cd "$build" && pwd)/libspry_mpi.so.2
    export SPRY_MPI_LIBRARY
fi

# The source's seconds at a size: 1 processor, 8 processors, 8 GPUs, 8 GPUs + 8 processors.
source_row() {
    case $1 in
        160) echo "214.3 28.2 5.03 4.81" ;;
        200) echo "378.0 50.7 9.12 8.62" ;;
        240) echo "719.4 93.0 14.60 14.4" ;;
        280) echo "1038.4 140.5 22.18 21.42" ;;
        320) echo "1750.8 230.6 31.90 30.52" ;;
        360) echo "2217.7 295.4 44.22 41.73" ;;
        400) echo "3411.1 436.5 58.04 55.80" ;;
        440) echo "4124.3 538.3 76.73 73.35" ;;
        480) echo "5929.4 752.2 97.86 93.38" ;;
        520) echo "- 878.2 - 123.49" ;;
        *) echo "- - - -" ;;
    esac
}

# solve ITERATIONS WORDS...: a solve of ITERATIONS iterations; its record is in $work/record.json.
solve() {
    local count=$1
    shift
    rm -f "$work/record.json"
    "$@" solve "$work/h$side.spry" --method bicg --precon none --format crf --tol 1e-300 --stall 0 --divergence 1e300 --keep last \
        --max-iter "$count" --no-memory --quiet --json "$work/record.json" "${words[@]}" > "$work/log" 2>&1
    [ $? -le 1 ] && [ -e "$work/record.json" ]
}

# timed MODE WORDS...: the row of a table.
timed() {
    local mode=$1 count=$iterations
    shift
    # a thousand iterations of one core take long
    [ "$mode" != thread ] || count=$((iterations < 40 ? iterations : 40))
    # what is compiled is compiled before
    case $mode in device | devices | hybrid) solve 2 "$@" ;; esac
    if solve $((count / 4)) "$@" && cp "$work/record.json" "$work/fewer.json" && solve "$count" "$@"; then
        python3 - "$side" "$mode" "$work/fewer.json" "$work/record.json" << 'PY'
import json, sys
side, mode = sys.argv[1:3]
few, many = [json.load(open(p)) for p in sys.argv[3:5]]
few, many = [r[0] if isinstance(r, list) else r for r in (few, many)]
each = (many["solve_seconds"] - few["solve_seconds"]) / (many["iterations"] - few["iterations"])
shares = " ".join(f"{p['device']}:{100 * p['share']:.0f}%" for p in many.get("ranks", []))
print(f"| {side}^3 | {mode} | {1000 * each:.2f} | {many['setup_seconds'] + many['solve_seconds']:.2f} for {many['iterations']} "
      f"| {many.get('bandwidth_fraction') or float('nan'):.2f} | {many['memory_bytes'] / 1e9:.1f} | {shares} |")
PY
    else
        echo "| $side^3 | $mode | failed: $(grep -v '^-*$' "$work/log" | head -1) | | | | |"
    fi
}

echo "| n | mode | seconds of 1,000 iterations | set-up and solve | of the bandwidth | GB | shares |"
echo "|---|---|---|---|---|---|---|"
for side in $sides; do
    [ -e "$work/h$side.spry" ] || "$build/spry" gen helmholtz --size "$side" -o "$work/h$side.spry" --quiet || exit 1
    for mode in $modes; do
        words=(--device cpu)
        case $mode in
            thread) words+=(--threads 1) && timed "$mode" "$build/spry" ;;
            threads) words+=(--threads "$cores") && timed "$mode" "$build/spry" ;;
            ranks) words+=(--mpi --threads 1) && timed "$mode" mpirun -n "$cores" "$build/spry" ;;
            device) words=(--device "$device") && timed "$mode" "$build/spry" ;;
            devices) words=(--device "$device" --mpi --threads 1) && timed "$mode" mpirun -n "${GPUS:-2}" "$build/spry" ;;
            hybrid) words=(--device "$device,cpu" --mpi --threads 1) && timed "$mode" mpirun -n "$cores" "$build/spry" ;;
            *) echo "no mode is called $mode" && exit 2 ;;
        esac
    done
    read -r one eight gpus both <<< "$(source_row "$side")"
    echo "| $side^3 | the source | 1 processor $one, 8 $eight, 8 GPUs $gpus, 8 GPUs and 8 processors $both | | | | |"
    [ -n "${FOLDER:-}" ] || rm -f "$work/h$side.spry"
done
