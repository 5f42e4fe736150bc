#!/bin/sh
# Products and iterations of cg by numbers of threads, beside a plain loop: bench/threads.sh BUILD [SIZE...]
# bench/threads.c explains the columns. Each line is a process of its own, so that no thread of another number is left.
# THREADS ("1 2 4 8 16" up to the machine's cores) has the numbers.
set -eu
build=${1:?usage: bench/threads.sh BUILD [SIZE...]}
shift
[ $# -gt 0 ] || set -- 10 22 32 64 128
printf '%4s %3s %10s %10s %10s %10s   us\n' size thr loop product cg 'cg, bytes'
for size; do
    for threads in ${THREADS:-1 2 4 8 16}; do
        [ "$threads" -le "$(nproc)" ] || continue
        "$build/bench/bench_threads" "$size" "$threads"
    done
done
