#!/bin/sh
# usage: compile.sh PROJECT COMPILER PROGRAMS: the header and all that use it give no warning, in each standard since C++17.
set -eu
project=$1
compiler=$2
shift 2
# What must not compile, with the reason.
refused() {
    printf '%s\n' '#include <spry/spry.hpp>' 'int main() { spry::context ctx; const std::vector<double> x(1); auto A = spry::matrix::generate(ctx, "poisson2d");' "$1" '}' >no.cpp
    ! "$compiler" -std=c++17 -fsyntax-only -I"$project/include" -I"$project/bindings/cpp" no.cpp 2>said || { echo "compiled: $1"; exit 1; }
    grep -q "$2" said || { cat said; exit 1; }
}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
refused 'spry::solve(A, x, x);' 'must not be const'
refused 'spry::solver(A).solve_many(spry::columns(x, 1), spry::columns(x, 1));' 'must not be const'
refused 'spry::vector v(ctx, spry::span(x));' 'not const'
cat >sized.cpp <<'END'
#include <spry/grid.h>
int main() { spry_result result = SPRY_RESULT_INIT; spry_arrays arrays = SPRY_ARRAYS_INIT; return result.size == arrays.size; }
END
set -- "$@" sized.cpp
for standard in 17 20; do
    "$compiler" -std=c++$standard -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I"$project/include" \
        -I"$project/bindings/cpp" "$@"
done
