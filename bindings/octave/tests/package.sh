#!/bin/sh
# Makes the package, installs it into a folder of its own with the library of a build, and solves with it:
# package.sh BUILD_FOLDER
set -eu
build=${1:?build folder}
here=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
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
disp('ok: package');
END
SPRY_LIBRARY=$build octave-cli --norc --no-history "$work/install.m" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
octave-cli --norc --no-history --eval "pkg prefix $work/packages $work/packages; pkg local_list $work/list; source $work/use.m" || {
    cat "$work/log"
    exit 1
}
