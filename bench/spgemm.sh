#!/bin/sh
# A times A compared with the libraries found when it was built: bench/spgemm.sh BUILD_FOLDER.
set -eu
"${1:?build folder}"/bench/bench_spgemm
