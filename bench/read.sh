#!/bin/sh
# Reading speed compared with scipy.io.mmread: bench/read.sh BUILD_FOLDER [FOLDER_FOR_FILES]
# Files are made once: 64^3 unknowns, 27 points per row, over 100 MB as plain text. Times are medians of 5
# for spry and one run of SciPy's (which takes a minute); MB/s counts the bytes of the file on disk.
set -eu
build=${1:?build folder}
files=${2:-/tmp/spry-bench}
python=${PYTHON:-/usr/bin/python3}
size=${SIZE:-64}
mkdir -p "$files"
for kind in short digits; do
    if [ ! -f "$files/$kind.spry" ]; then
        "$build/bench/bench_read" --make $kind "$size" "$files/$kind.mtx" "$files/$kind.mtx.gz" \
            "$files/$kind.spry"
    fi
done

printf '%-16s %9s %9s %9s %9s %9s %7s\n' file MB 'spry s' 'spry MB/s' 'scipy s' 'scipy MB/s' ratio
for file in short.mtx digits.mtx short.mtx.gz digits.mtx.gz short.spry digits.spry; do
    "$build/bench/bench_read" "$files/$file" >"$files/times"
    case $file in
    *.spry) scipy=- ;;
    *)
        scipy=$("$python" - "$files/$file" <<'PY' 2>/dev/null || echo -
import sys, time
from scipy.io import mmread
start = time.perf_counter()
mmread(sys.argv[1]).tocsr()
print(time.perf_counter() - start)
PY
        )
        ;;
    esac
    awk -v scipy="$scipy" -v name="$file" -F '\t' '{
        printf "%-16s %9.1f %9.4f %9.0f", name, $2, $3, $4
        if (scipy == "-") printf " %9s %9s %7s\n", "-", "-", "-"
        else printf " %9.2f %9.1f %6.1fx\n", scipy, $2 / scipy, scipy / $3
    }' "$files/times"
done
rm -f "$files/times"
