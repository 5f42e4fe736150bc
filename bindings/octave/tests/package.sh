#!/bin/sh
# Makes the package, installs it by `pkg install` into a folder of its own, and solves with it: package.sh [LIBRARY_FOLDER].
# Without the folder of a libspry that is built already, installing builds the library from the package's own sources.
set -eu
here=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work" # nothing of what the user has installed
if [ $# -gt 0 ]; then
    export SPRY_LIBRARY="$1"
else
    unset SPRY_LIBRARY
fi
"$here/tools/octave-package" "$work" >/dev/null
cat >"$work/install.m" <<END
pkg prefix $work/packages $work/packages
pkg local_list $work/list
pkg install -local -verbose $(ls "$work"/spry-*.tar.gz)
END
cat >"$work/use.m" <<'END'
pkg load spry
A = spry_generate('poisson2d', 'size', 10);
x = A \ ones(100, 1);
assert(norm(spry_solve(A, ones(100, 1)) - x) <= 1e-6 * norm(x));
S = spry_matrix(A);
assert(norm(S * x - 1) <= 1e-10);
assert(~isempty(strfind(get_help_text('spry_pcg'), 'SPRY_PCG')));
assert(isempty(strfind(which('spry_solve'), 'bindings')));   % the one that was installed
disp('ok: package');
END
octave-cli --norc --no-history "$work/install.m" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
rm -f "$work"/spry-*.tar.gz # what is installed must do without
octave-cli --norc --no-history --eval "pkg prefix $work/packages $work/packages; pkg local_list $work/list; source $work/use.m" || {
    cat "$work/log"
    exit 1
}
