#!/bin/bash
# The tables of a GPU, from one run: bench/device.sh FOLDER [PART...]
# Each part is built once and writes FOLDER/PART.txt; those that run by themselves take less than 8 minutes, each has a limit.
#   spmv     products in the formats of the cost model compared with cuSPARSE, with constant coefficients and with arbitrary values
#   formats  products in every format, on fewer matrices; only when asked for
#   methods  CG, BiCGStab and GMRES(30) compared with cuSPARSE and cuBLAS: an iteration, and whole solves
#   spmm     products with several columns compared with cusparseSpMM
#   engines  OpenCL compared with CUDA, and the conversion from CSR to SELL
#   moves    CSR to the device and to other formats on it; dense blocks of the host's, copies during products
#   spgemm   products and transposes of sparse matrices compared with cusparseSpGEMM, and the steps of an aggregation
#   precon   time to solution with preconditioners set up on the device; set-up of approximate inverses compared with one core
#   block    16 right-hand sides: block-cg of several widths compared with cg, whole commands
#   start    `spry solve --device`: from the start of the program to the end of one iteration, with and without a cache
# BUILD is the build folder (build-bench). Builds need NVIDIA's toolkit; for packages that the machine lacks see tools/device-kit.
set -u
out=${1:?usage: bench/device.sh FOLDER [PART...]}
shift
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build-bench}
[ $# -gt 0 ] || set -- spmv methods spmm engines moves spgemm precon block start
# shellcheck source=tools/device-kit
. tools/device-kit "$build"

build_all() {
    local targets=(spry bench_sai) source
    for source in bench/device_*.c; do targets+=("bench_$(basename "$source" .c)"); done
    cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DSPRY_BUILD_BENCH=ON -DSPRY_BUILD_TESTS=OFF "${kit_options[@]}" &&
        cmake --build "$build" -j "$(nproc)" --target "${targets[@]}"
}

# limited SECONDS COMMAND...: what it printed so far counts, also when its time is over.
limited() {
    local limit=$1 code
    shift
    timeout -k 5 "$limit" "$@" 2>&1
    code=$?
    case $code in
    0) ;;
    124 | 137) echo "# stopped after $limit s: $*" ;;
    *) echo "# exit status $code: $*" ;;
    esac
    return "$code"
}

run_spmv() {
    local program=$build/bench/bench_device_spmv
    limited 100 "$program" --rounds 5 --formats csr+csr16+merge+sell+sell16+ellr-t+dia+bsr+auto
    limited 100 "$program" --rounds 5 --values arbitrary --formats csr+csr16+merge+sell+sell16+bsr+auto
    limited 30 "$program" --rounds 5 --formats csr+sell+auto --types scz poisson3d:size=128,points=27
    limited 25 "$program" --rounds 5 --formats csr+sell+crf+auto --types z helmholtz:size=160
}

# Every format, on matrices that are no larger than they must be to be beyond the cache.
run_formats() {
    limited 150 "$build/bench/bench_device_spmv" --rounds 5 poisson3d:size=128,points=27 elasticity:size=56 rmat:size=1000000
}

run_methods() {
    limited 95 "$build/bench/bench_device_methods" --solve no
    limited 60 "$build/bench/bench_device_methods" --solve only --rounds 3
}

run_spmm() {
    limited 70 "$build/bench/bench_device_spmm" --rounds 3
    limited 25 "$build/bench/bench_device_spmm" --rounds 3 --types sz --widths 8 poisson3d:size=160,points=27
}

run_engines() {
    limited 35 "$build/bench/bench_device_engines"
}

run_moves() {
    limited 60 "$build/bench/bench_device_moves"
}

run_precon() {
    local program=$build/bench/bench_device_precon
    limited 90 "$program" cuda poisson3d:size=256 jacobi poly fsai amg amg:precision=single
    limited 60 "$program" cuda convection-diffusion:size=128,nz=128 jacobi sai isai ilu:solve=isai amg amg-classical
    limited 30 "$program" cuda elasticity:size=64 jacobi amg ssor
    # Triangles: see what one application takes.
    limited 30 "$program" cuda poisson2d:size=400 ilu ic
    limited 30 "$program" cuda poisson3d:size=64 ilu ic ilu:order=multicolour
    limited 60 "$program" cuda poisson3d:size=100 ilu ic
    limited 60 "$program" cuda poisson3d:size=64,points=27 ilu ic
    limited 60 "$build/bench/bench_sai" poisson3d:size=128 cuda sai sai:tau=0.8 sai:power=2
    limited 40 "$build/bench/bench_sai" convection-diffusion:size=128,nz=128 cuda sai isai
}

run_spgemm() {
    limited 150 "$build/bench/bench_device_spgemm"
}

run_block() {
    limited 300 bench/block.py "$build" cuda
    PRECON=jacobi METHODS="cg block-cg" limited 120 bench/block.py "$build" cuda elasticity:32
}

# once LABEL ENVIRONMENT...: seconds of a solve with one iteration, the best of three.
once() {
    local label=$1 begin end seconds best=999999999
    shift
    for _ in 1 2 3; do
        if [ "$label" = cold ]; then rm -rf "$build/cold"; fi
        begin=$(date +%s%N)
        # Exit status 1 is an iteration that did not converge.
        env "$@" "$build/spry" solve "$build/start.spry" --device "$device" --max-iter 1 --method cg --json > "$build/start.json" 2> "$build/start.err"
        case $? in
        0 | 1) ;;
        *) printf '%-10s %-6s %s\n' "$device" "$label" "$(head -1 "$build/start.err")" && return ;;
        esac
        end=$(date +%s%N)
        seconds=$(((end - begin) / 1000))
        [ "$seconds" -ge "$best" ] || best=$seconds
    done
    printf '%-10s %-6s %8d %s\n' "$device" "$label" $((best / 1000)) \
        "$(grep -oE '"(device|format)": "[^"]*"|"(read|setup|solve)_seconds": [0-9.e+-]+' "$build/start.json" | tr '\n' ' ')"
}

run_start() {
    local device
    rm -rf "$build/warm"
    "$build/spry" gen poisson3d --size 64 --output "$build/start.spry" --quiet || return
    printf '%-10s %-6s %8s\n' device cache ms
    for device in cpu cuda:0 opencl:0; do
        once cold SPRY_CACHE="$build/cold" CUDA_CACHE_DISABLE=1
        env SPRY_CACHE="$build/warm" "$build/spry" solve "$build/start.spry" --device "$device" --max-iter 1 --method cg > /dev/null 2>&1
        once warm SPRY_CACHE="$build/warm"
    done
}

build_all > "$build/build.log" 2>&1 || {
    grep -E "error|undefined|Error" -A4 "$build/build.log" | head -40 | tee "$out/build.txt"
    exit 1
}
echo "built after $SECONDS s"
{ nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,memory.total --format=csv,noheader; "$build/spry" devices; } > "$out/machine.txt" 2>&1
bad=0
for part; do
    begin=$SECONDS
    case $part in
    spmv) run_spmv > "$out/spmv.txt" 2>&1 ;;
    formats) run_formats > "$out/formats.txt" 2>&1 ;;
    methods) run_methods > "$out/methods.txt" 2>&1 ;;
    spmm) run_spmm > "$out/spmm.txt" 2>&1 ;;
    engines) run_engines > "$out/engines.txt" 2>&1 ;;
    moves) run_moves > "$out/moves.txt" 2>&1 ;;
    spgemm) run_spgemm > "$out/spgemm.txt" 2>&1 ;;
    precon) run_precon > "$out/precon.txt" 2>&1 ;;
    block) run_block > "$out/block.txt" 2>&1 ;;
    start) run_start > "$out/start.txt" 2>&1 ;;
    *) echo "there is no part $part" > "$out/$part.txt" && false ;;
    esac || bad=1
    echo "== $part, $((SECONDS - begin)) s"
    cat "$out/$part.txt"
done
exit $bad
