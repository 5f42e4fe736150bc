#!/bin/bash
# Twelve problems to a true residual of 1e-8 beside hypre and PETSc with a rank on every core, on a machine where nothing can be
# installed:  bench/peers16.sh BUILD_FOLDER KIT [RANKS]
# BUILD_FOLDER has bench_precon (Release, SPRY_BUILD_BENCH=ON); KIT is the folder of tools/peers-kit or its .tar.xz. Each side has a
# few configurations that suit the problem, spry its own choice, too; the median of three runs of the best counts, as in precon.sh.
# BUDGET 450 s in all; PROBLEMS, LIMIT, OUT and the like as in precon.sh.
set -euo pipefail
build=${1:?usage: peers16.sh BUILD_FOLDER KIT [RANKS]} kit=${2:?usage: peers16.sh BUILD_FOLDER KIT [RANKS]} ranks=${3:-16} budget=${BUDGET:-450}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x "$build/bench/bench_precon" ] || { echo "peers16: $build/bench/bench_precon is not built" >&2; exit 1; }
if [ -f "$kit" ]; then
    python3 -m tarfile -e "$kit" "$work" || tar -C "$work" -xJf "$kit"
    kit=$work/$(basename "$kit" .tar.xz)
fi
kit=$(cd "$kit" && pwd)

# Ranks on cores of their own, and messages without a copy between, where this machine allows it: the first way that works without
# a complaint, else the first that works.
find_start() {
    local copy bind way works=
    for copy in cma none; do
        for bind in "--bind-to core" "--use-hwthread-cpus --bind-to hwthread" "--host localhost:$ranks --bind-to none"; do
            way="$bind --mca btl_vader_single_copy_mechanism $copy"
            # shellcheck disable=SC2086 # words are meant
            timeout -k 5 15 "$kit/mpirun" $way -n "$ranks" "$kit/bin/bench_precon_petsc" poisson3d:size=40 "$ranks" \
                "-ksp_max_it 20 -pc_type jacobi" >"$work/answer" 2>"$work/errors" </dev/null || true
            head -n 3 "$work/errors" >&2
            [ -s "$work/answer" ] || continue
            works=${works:-$way}
            [ -s "$work/errors" ] || { echo "$way" && return; }
        done
    done
    echo "$works"
}

start=$(find_start)
[ -n "$start" ] || { echo "peers16: no way of starting $ranks ranks works" >&2; exit 1; }
echo "$ranks ranks by mpirun $start, $ranks threads; $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort -u)"

# What takes little time first: the rest of its share goes to the others.
export PROBLEMS=${PROBLEMS:-$(printf 'file:%s ' "$kit"/mtx/*.mtx.gz) poisson2d:size=1000 anisotropic:size=96,nz=96,epsilon=0.001
    anisotropic:size=96,nz=96,epsilon=1000 convection-diffusion:size=96,nz=96 poisson3d:size=128 poisson3d:size=96,points=27
    elasticity:size=48 diffusion:size=96,nz=96,jump=6}
configs="spry (auto|cg[+](jacobi|ic-modified|amg-single)|bicgstab[+](jacobi|ilut-.01|amg-single))$"
configs+="|petsc (cg[+](icc0|icc1|gamg|gamg-rigid)|bicgstab[+](jacobi|ilu0|ilu2))$"
configs+="|hypre (cg[+](amg|amg-pmis|amg-aggressive|amg-aggressive-pmis|amg-unknowns-aggressive)|bicgstab[+](jacobi|ilu0|amg))$"
configs+="|(poisson|anisotropic|shallow).* petsc cg[+](jacobi|ssor)$|elasticity.* hypre cg[+]amg-.5$"
configs+="|(epb3|kkt_BOYD1) (spry|petsc) (minres[+].*|gmres[+](ilu2|direct|mumps))$"
export CONFIGS=${CONFIGS:-$configs} THREADS=$ranks LIMIT=${LIMIT:-8} NEAR=${NEAR:-1.2} SPRY_CACHE=
PEERS=$kit/bin MPIRUN="$kit/mpirun $start" BUDGET=$((budget - SECONDS)) "$here/precon.sh" "$build" generated
