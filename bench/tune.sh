#!/bin/sh
# The tuner's choice against the best of all formats with all options: bench/tune.sh BUILD_FOLDER [SCALE [SECONDS]].
# Columns: the time of a product in the choice over the best, the same for 1,000 products with the conversion, CSR's over the
# choice's, CSR's in milliseconds, what tuning took in products with CSR, and MKL's over the choice's where MKL is available.
set -eu
program=${1:?build folder}/bench/bench_tune
here=$(dirname "$0")
# shellcheck disable=SC2046 # a list of matrices
"$program" --seconds "${3:-60}" $(sh "$here/set.sh" "${2:-1}")
