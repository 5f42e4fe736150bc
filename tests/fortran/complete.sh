#!/bin/sh
# usage: complete.sh MODULE_SOURCE SYMBOLS...: the module binds every function that the libraries export, and of others those of libspry_mpi.
set -eu
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
module=$1
shift
grep -hv '^#' "$@" | awk '{print $1}' | LC_ALL=C sort >"$work/exported"
grep -o 'bind(c, name="[a-z_0-9]*")' "$module" | sed 's/.*"\(.*\)".*/\1/' | grep -v '^spry_mpi_' | LC_ALL=C sort >"$work/bound"
test "$(wc -l <"$work/bound")" -ge 200
diff "$work/exported" "$work/bound"
