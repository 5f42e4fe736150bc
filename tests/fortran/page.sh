#!/bin/sh
# usage: page.sh PAGE MODULES COMPILER: what docs/fortran.md shows besides its program compiles: declarations with statements, and a procedure.
set -eu
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
awk '
    /^    / && !/^    (gfortran|!|program)/ { block = block substr($0, 5) "\n"; next }
    function end_of_block() {
        if (block ~ /^subroutine/) procedures = procedures block
        else if (block ~ /^character/) statements = statements block
        block = ""
    }
    { end_of_block() }
    END {
        end_of_block()
        if (statements == "" || procedures == "") exit 1
        print "program page\n use spry\n implicit none\n type(spry_matrix) :: A\n integer :: status\n" statements "contains\n" procedures "end program page"
    }' "$1" >"$work/page.f90"
grep -q spry_message_size "$work/page.f90"
"$3" -fsyntax-only -I"$2" "$work/page.f90"
