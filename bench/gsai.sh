#!/bin/bash
# Iterations of BiCGStab with static sparse approximate inverses, as the pattern grows with tau; the shape of tables 5.3 and 5.7 of M.
# Dehnavi's thesis (2012): relative residual 1e-7, at most 10,000 iterations. Prints a Markdown table.
#   bench/gsai.sh SPRY [FOLDER]      SPRY is the program, FOLDER has matrix files (SPRY_MATRICES)
#   METHOD bicgstab, TAUS "0.1 0.3 0.5 0.6 0.7 0.8 0.9 1", PROBLEMS: matrices in place of its own, DEVICE cpu
set -eu
spry=${1:?usage: gsai.sh SPRY [FOLDER]}
folder=${2:-${SPRY_MATRICES:-}}
method=${METHOD:-bicgstab} taus=${TAUS:-0.1 0.3 0.5 0.6 0.7 0.8 0.9 1} device=${DEVICE:-cpu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
generated="convection-diffusion:--size,40,--nz,40,--peclet,50 poisson3d:--size,40 anisotropic:--size,120 helmholtz:--size,20"
files="epb3 cage11 memplus add20 orsreg_1 sherman4 sherman5 pores_2 watt_2 nos5 bcsstk38 young3c"
problems=${PROBLEMS:-$generated $files}

# Iterations, or why there are none.
iterations() {
    "$spry" solve "$1" --method "$method" --precon "$2" --tol 1e-7 --max-iter 10000 --device "$device" --format csr --json 2>/dev/null >"$work/out" || true
    awk -F '[:,]' '
        /"converged":/ { converged = $2 ~ /true/ }
        /"iterations":/ { n = $2 + 0 }
        /"reason":/ { reason = $2; gsub(/[" ]/, "", reason) }
        END { if (converged) print n; else if (n >= 10000) print ">10000"; else print reason == "" ? "fails" : reason }
    ' "$work/out"
}

printf '| matrix | rows | none | jacobi |'
for tau in $taus; do printf ' sai, tau = %s |' "$tau"; done
printf '\n|---|---|---|---|'
for _ in $taus; do printf -- '---|'; done
printf '\n'
for problem in $problems; do
    case $problem in
    *:*)
        name=${problem%%:*}
        file=$work/A.spry
        options=${problem#*:}
        # shellcheck disable=SC2086
        "$spry" gen "$name" ${options//,/ } -o "$file" -q
        ;;
    *)
        name=$problem
        file=$folder/$problem.mtx.gz
        ;;
    esac
    [ -e "$file" ] || continue
    rows=$("$spry" info "$file" --json 2>/dev/null | awk -F '[:,]' '/"rows"/ { print $2 + 0; exit }')
    printf '| %s | %s | %s | %s |' "$name" "$rows" "$(iterations "$file" none)" "$(iterations "$file" jacobi)"
    for tau in $taus; do
        printf ' %s |' "$(iterations "$file" "sai:tau=$tau")"
    done
    printf '\n'
done
