#!/bin/bash
# `spry solve A` on the host and on a device, for every matrix of a folder: bench/device_solve.sh BUILD FOLDER [DEVICE] [SECONDS]
# FOLDER has files and list.tsv (file, name), or else INDEX.tsv with a head (file, name, rows, cols, ...), of which square ones are taken.
# Prints a line per matrix: verdict, seconds of set-up and solve and what was chosen, on the host and on the device; then how many verdicts are equal.
# SECONDS is the limit of a run (60). LEAST=10000 leaves out what has fewer rows. BUILD has the program; for packages that the machine
# lacks see tools/device-kit.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1 folder=$2 device=${3:-cuda} limit=${4:-60}
if [ -e /dev/nvidiactl ]; then
    # shellcheck source=tools/device-kit
    . tools/device-kit "$build"
fi

list() { # file and name
    if [ -e "$folder/list.tsv" ]; then
        cut -f1,2 "$folder/list.tsv"
    else
        awk -F'\t' 'NR > 1 && $3 == $4 { print $3 "\t" $1 "\t" $2 }' "$folder/INDEX.tsv" | sort -n | cut -f2,3
    fi
}

field() { # of a result as JSON
    printf '%s\n' "$1" | sed -n "s/^  \"$2\": *\"\{0,1\}\([^\",]*\).*/\1/p" | head -1
}

solve() { # FILE DEVICE: sets out, verdict, seconds, chosen
    out=$(timeout "$limit" "$build/spry" solve "$folder/$1" --device "$2" --no-memory --json 2> /dev/null)
    local code=$?
    verdict=$(field "$out" reason)
    [ -n "$verdict" ] || verdict=$([ $code -eq 124 ] && echo time || echo "exit $code")
    seconds=$(field "$out" setup_seconds)
    seconds=$(awk "BEGIN { printf \"%.4f\", ${seconds:-0} + $(field "$out" solve_seconds | grep . || echo 0) }")
    chosen="$(field "$out" method) $(field "$out" precon)"
}

line='%-24s %9s  %-12s %9s  %-20s  %-12s %9s  %s\n'
# shellcheck disable=SC2059
printf "$line" matrix rows cpu seconds chosen "$device" seconds chosen
all=0 equal=0 host=0 on_device=0
while IFS=$'\t' read -r file name; do
    solve "$file" cpu
    rows=$(field "$out" rows) first=("$verdict" "$seconds" "$chosen")
    [ "${rows:-0}" -lt "${LEAST:-0}" ] && continue
    solve "$file" "$device"
    [ "$rows" ] || rows=$(field "$out" rows)
    [ "$(field "$out" device)" = cpu ] && chosen="$chosen, on the cpu"
    all=$((all + 1))
    [ "${first[0]}" = "$verdict" ] && equal=$((equal + 1))
    [ "${first[0]}" = converged ] && host=$((host + 1))
    [ "$verdict" = converged ] && on_device=$((on_device + 1))
    # shellcheck disable=SC2059
    printf "$line" "$name" "$rows" "${first[@]}" "$verdict" "$seconds" "$chosen"
done < <(list)
echo "$equal of $all verdicts are equal; solved on cpu: $host, on $device: $on_device"
