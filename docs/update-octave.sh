#!/bin/sh
# Draws the pictures of docs/octave.md and writes down a walk through the menu, by Octave: update-octave.sh BUILD [FOLDER].
# Needs gnuplot (gnuplot-nox) and fonts-freefont-otf. docs/img/octave-*; the tests draw them again elsewhere.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?update-octave.sh BUILD [FOLDER]}" && pwd)
folder=${2:-$here/docs/img}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/draw.m" <<'END_OF_M'
function draw(folder)
  warning('off', 'all');   % of gnuplot, which Octave would rather not use
  graphics_toolkit gnuplot
  set(0, 'defaultfigurevisible', 'off');
  A = spry_generate('circuit', 'size', 2000);
  picture(folder, 'spy', @() spry_plot(A));
  picture(folder, 'rows', @() spry_plot(A, 'rows'));
  B = spry_generate('poisson3d', 'size', 40);
  b = ones(size(B, 1), 1);
  precons = {'none', 'ssor', 'ic', 'amg'};
  for k = 1:numel(precons)
    [~, results(k)] = spry_solve(B, b, 'method', 'cg', 'precon', precons{k}, 'tol', 1e-10);
  end
  picture(folder, 'convergence', @() spry_plot(results));
  walk(folder);
end

function picture(folder, name, plot)
  figure('paperposition', [0 0 6.4 4.2]);
  plot();
  print('-dpngcairo', '-S640,420', fullfile(folder, ['octave-', name, '.png']));
  close
end

% Every entry of the menu, in the order of a first session.
function walk(folder)
  answers = {'1', 'elasticity', '12', '2', '', 'bsr', '', '3', '4', '5', '', '', ...
             '6', '', 'cg', 'amg', '', '7', '', '', '', '', '8', '9'};
  text = evalc('spry_start(answers)');
  f = fopen(fullfile(folder, 'octave-menu.txt'), 'w');
  fprintf(f, '>> spry_start\n%s', text);
  fclose(f);
end
END_OF_M
SPRY_CACHE=$work/cache octave-cli --norc --no-history --eval \
    "addpath $here/bindings/octave/inst $build/octave $work; draw('$folder')" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
for file in spy.png rows.png convergence.png menu.txt; do
    [ -s "$folder/octave-$file" ] || { cat "$work/log"; echo "octave-$file was not made"; exit 1; }
done
! grep 'did not work' "$folder/octave-menu.txt" || exit 1
