#!/bin/sh
# What numbers of threads make of products, iterations and set-ups on the host: bench/threads.sh BUILD [SIZE...]
# bench/threads.c explains the columns. Each line is a process of its own, so that no thread of another number is left.
# THREADS ("1 2 4 8 16" up to the machine's cores) has the numbers, TABLES ("loop triangles amg direct") what is measured.
set -eu
bench=${1:?usage: bench/threads.sh BUILD [SIZE...]}/bench/bench_threads
shift
[ $# -gt 0 ] || set -- 10 12 14 16 19 22 64 128 256

measure() { # MATRIX [OPTIONS]: a line for each number of threads
    for threads in ${THREADS:-1 2 4 8 16}; do
        [ "$threads" -gt "$(nproc)" ] || timeout 120 "$bench" "$1" "$threads" ${2:+"$2"} || echo "$threads: failed"
    done
}

solve() { # MATRIX OPTIONS
    printf '\n%s, %s\n%3s %9s %9s %6s %9s\n' "$1" "$2" thr setup/s solve/ms iter. us/iter.
    measure "$1" "$2"
}

for table in ${TABLES:-loop triangles amg direct}; do
    case $table in
    loop)
        printf '%4s %3s %9s %9s %9s %9s %9s %9s   us\n' size thr loop product cg 'cg,bytes' gmres 'gm.,bytes'
        for size; do
            measure "$size" "$([ "$size" -gt 200 ] && echo 20 || echo 100)"
        done
        ;;
    triangles) # beside jacobi: the difference is what the two triangles take
        solve poisson3d:size=64 'method=cg precon=jacobi'
        solve poisson3d:size=64 'method=cg precon=ic'
        solve poisson3d:size=64 'method=bicgstab precon=ilu'
        solve elasticity:size=30 'method=cg precon=ic'
        ;;
    amg) solve poisson3d:size=160 'method=cg precon=amg' ;;
    direct)
        solve poisson3d:size=40 'method=direct'
        solve elasticity:size=16 'method=direct'
        ;;
    *) echo "no table $table" >&2 && exit 2 ;;
    esac
done
