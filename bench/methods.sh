#!/bin/sh
# Every method on real matrices of $SPRY_MATRICES: bench/methods.sh BUILD_FOLDER [TSV_FILE]. Prints Markdown.
set -eu
program=${1:?build folder}/bench/bench_methods
"$program" ${2:+--tsv "$2"}
