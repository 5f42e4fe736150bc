% The two systems of README.md in Octave: problem.m FOLDER NAME
[folder, name] = argv(){end - 1:end};
side = 24;
report = fopen(fullfile(folder, [name, '.txt']), 'w');
one = ones(side, 1);
neighbours = spdiags([-one, -one], [-1, 1], side, side);
b = 1 + mod((0:side^2 - 1)', 7) / 8;
kinds = {'real', 4, -1.375, -0.625, 'bicgstab', 'ilu'
         'complex', 3.5 + 0.625i, -1, -1, 'gmres:restart=20', 'jacobi'};
for k = 1:2
  [kind, diagonal, before, after, method, precon] = kinds{k, :};
  line = spdiags([before * one, diagonal * one, after * one], [-1, 0, 1], side, side);
  A = kron(speye(side), line) + kron(neighbours, speye(side));
  [x, result] = spry_solve(A, b, 'method', method, 'precon', precon, 'format', 'csr', 'tol', 1e-10);
  fprintf(report, '%s %s %d\n', kind, result.reason, result.iterations);
  if k == 2
    x = [real(x), imag(x)]';
  end
  f = fopen(fullfile(folder, sprintf('%s-%s.x', name, kind)), 'w');
  fwrite(f, x, 'double');
  fclose(f);
end
fclose(report);
