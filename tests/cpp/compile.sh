#!/bin/sh
# usage: compile.sh PROJECT COMPILER PROGRAMS: the header and all that use it give no warning, in each standard since C++17.
set -eu
project=$1
compiler=$2
shift 2
for standard in 17 20; do
    "$compiler" -std=c++$standard -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I"$project/include" \
        -I"$project/bindings/cpp" "$@"
done
