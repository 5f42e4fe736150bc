#!/bin/bash
# `spry solve A --device D` on every matrix of a list: bench/device_solve.sh BUILD FOLDER [DEVICE]; prints a line per matrix.
# FOLDER has files and list.tsv (file, name). For packages that the machine lacks see tools/device-kit.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1 folder=$2 device=${3:-cuda}
# shellcheck source=tools/device-kit
. tools/device-kit "$build"
good=0 all=0
while IFS=$'\t' read -r file name; do
    out=$(timeout 60 "$build/spry" solve "$folder/$file" --device "$device" --no-memory --json 2> /dev/null)
    line=$(printf '%s\n' "$out" | sed -n 's/^  "\(converged\|method\|precon\|device\|iterations\|true_residual\|setup_seconds\|solve_seconds\)": *\(.*[^,]\),*$/\1=\2/p' | tr '\n' ' ')
    all=$((all + 1))
    case $line in *converged=true*) good=$((good + 1)) ;; esac
    echo "$name $line"
done < "$folder/list.tsv"
echo "$good of $all on $device"
