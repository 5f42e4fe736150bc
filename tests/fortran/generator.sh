#!/bin/sh
# usage: generator.sh MODULE_AWK PREPROCESSED INVENTED: a header with names that are new becomes Fortran without a change of
# the generator, each kind of argument as its head says; what it does not understand it refuses, with the words.
set -eu
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
awk -f "$1" "$2" >"$work/before.f90"
cat "$2" "$3" >"$work/more.i"
awk -f "$1" "$work/more.i" >"$work/after.f90"
diff "$work/before.f90" "$work/after.f90" | sed -n 's/^> *//p' >"$work/new" || true
while read -r line; do
    grep -qxF "$line" "$work/new" || { echo "generator: no line '$line' in:"; cat "$work/new"; exit 1; }
done <<'END'
integer(c_int), parameter :: SPRY_COLOUR_BLUE = 7
integer(c_int), parameter :: SPRY_COLOUR_COUNT = 8
integer(c_int), parameter :: SPRY_INVENTED_ROOM = 3
type, bind(c) :: spry_invented
real(c_double) :: b(3) = 0
type(c_ptr) :: text = c_null_ptr
character(kind=c_char) :: name(16) = c_null_char
type(c_funptr) :: ask = c_null_funptr
subroutine init_invented(it)
subroutine spry_invented_fn(data, &
character(kind=c_char), intent(in) :: text(*)
type(c_ptr), value :: numbers
real(c_double), intent(inout) :: mean
type(spry_invented), intent(inout) :: it
type(spry_invented), intent(inout) :: inventeds(*)
integer(c_int), value :: colour
type(c_ptr), value :: v
type(c_ptr), intent(inout) :: w
type(c_funptr), value :: report
type(c_funptr), value :: progress
character(kind=c_char), intent(inout) :: room(*)
integer(c_size_t), value :: A
integer(c_int), value :: a2
integer(c_int) :: spry_invented_make
type(spry_invented), value :: it
type(c_ptr) :: spry_invented_word
END
printf '# 1 "include/spry/bad.h"\nlong double spry_odd(wchar_t w);\n' >"$work/bad.h"
cat "$2" "$work/bad.h" >"$work/bad.i"
if awk -f "$1" "$work/bad.i" >/dev/null 2>"$work/said"; then echo "generator: took wchar_t"; exit 1; fi
grep -q 'what is wchar_t w' "$work/said"
