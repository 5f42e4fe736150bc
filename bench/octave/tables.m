function tables(varargin)
%TABLES  100 products and 100 iterations of conjugate gradients, compared with Octave's own.
%   tables() takes matrices made to order, of the sizes of the MAT-ELLRT tables
%   5.2 and 5.3; tables(file, ...) those of files. Times are the best of several
%   rounds, taken side by side; those of spry_pcg have its set-up in them.
  made = {{'poisson2d', 10}, {'poisson2d', 60}, {'poisson3d', 30}, {'poisson3d', 55}, ...
          {'elasticity', 16}, {'elasticity', 24}, {'poisson3d', 80}};
  fprintf('%-20s %9s %9s | %9s %9s %6s | %9s %9s %6s\n', 'matrix', 'rows', 'nnz', 'Octave', ...
          'spry', 'times', 'pcg', 'spry_pcg', 'times');
  fprintf('%-20s %9s %9s | %9s %9s %6s | %9s %9s %6s\n', '', '', '', 'ms', 'ms', '', 'ms', 'ms', '');
  if nargin == 0
    for k = 1:numel(made)
      row(sprintf('%s %d', made{k}{:}), spry_generate(made{k}{1}, 'size', made{k}{2}));
    end
  else
    for k = 1:nargin
      [~, name] = fileparts(varargin{k});
      row(name, spry_read(varargin{k}));
    end
  end
end

function row(name, A)
  n = size(A, 2);
  x = ones(n, 1);
  b = A * cos((1:n)');
  rounds = max(3, min(20, ceil(2e6 / nnz(A))));
  S = spry_matrix(A);
  best = Inf(1, 4);
  for r = 1:rounds
    tic; products(A, x); best(1) = min(best(1), toc);
    tic; products(S, x); best(2) = min(best(2), toc);
    tic; [~, ~, ~, ~, h] = pcg(A, b, 1e-16, 100); best(3) = min(best(3), toc / (numel(h) - 1) * 100);
    tic; [~, ~, ~, ~, h] = spry_pcg(A, b, 1e-16, 100); best(4) = min(best(4), toc / (numel(h) - 1) * 100);
  end
  best = 1e3 * best;
  fprintf('%-20s %9d %9d | %9.3g %9.3g %6.2f | %9.3g %9.3g %6.2f\n', name, n, nnz(A), best(1), ...
          best(2), best(1) / best(2), best(3), best(4), best(3) / best(4));
end

function products(A, x)
  for k = 1:100
    y = A * x;
  end
end
