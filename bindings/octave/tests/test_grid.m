function tests = test_grid()
%TEST_GRID  Operators on grids, steps of time, lower bounds.
  tests = {@operators, @multigrid, @coefficients, @steps, @bounds, @waves, @wrong};
end

function operators()
  S = spry_stencil('16x16 box=0:1,0:1', '-laplace');
  assert(size(S), [225, 225]);
  A = sparse(S);
  assert(nnz(A), 5 * 225 - 4 * 15);
  x = sin((1:225)');
  near(S * x, A * x, 100 * eps);
  near(S' * [x, 2 * x], A' * [x, 2 * x], 100 * eps);
  near(sparse(2 * S), 2 * A, 0);
  near(A * (S \ x), x, 1e-7);
  assert(S(3, 4), A(3, 4));
end

% -laplace u = 2 pi^2 u for u = sin sin; differences of order 2 are off by pi^2 h^2 / 12 relatively
function multigrid()
  [x, y] = spry_places('32x32');
  u = sin(pi * x) .* sin(pi * y);
  S = spry_stencil('32x32', '-laplace');
  [v, result] = solve(S, 2 * pi^2 * u, 'method', 'cg', 'precon', 'gmg', 'tol', 1e-10);
  assert(result.converged && result.iterations <= 20);
  assert(norm(v - u, Inf) <= 1.01 * pi^2 / 32^2 / 12);
  [v, result] = solve(S, 2 * pi^2 * u, 'tol', 1e-10);   % which takes it by itself
  assert(result.converged && result.iterations <= 20);
end

function coefficients()
  [x, y] = spry_places('8x8', 'all');
  assert(numel(x), 81);
  S = spry_stencil('8x8', '-laplace + k + c', struct('k', x, 'c', 3), 'order', 2);
  inner = spry_places('8x8');
  near(sparse(S) - sparse(spry_stencil('8x8', '-laplace')), spdiags(inner + 3, 0, 49, 49), 1e-13);
end

% sin sin decays as exp(-2 pi^2 t); the error of order 2 in space, to which dt adds less
function steps()
  [x, y] = spry_places('32x32');
  u = sin(pi * x) .* sin(pi * y);
  [v, stats] = spry_step(spry_stencil('32x32', 'laplace'), u, 0, 0.05, 'method', 'rk4', 'dt', 1e-4);
  assert(stats.steps, 500);
  assert(norm(v - exp(-2 * pi^2 * 0.05) * u, Inf) <= 2 * pi^2 * 0.05 * pi^2 / 32^2 / 12);
end

function bounds()
  S = spry_stencil('32x32', '-laplace');
  n = size(S, 1);
  [x, result] = spry_bounded(S, -20 * ones(n, 1), -0.5 * ones(n, 1), 'tol', 1e-10);
  assert(result.converged && all(x >= -0.5));
  assert(norm(min(S * x + 20, x + 0.5), Inf) <= 1e-7);
end

function waves()
  S = spry_helmholtz('24x24 boundary=absorb layer=6', (2 * pi * 3)^2);
  b = zeros(size(S, 1), 1);
  b(300) = 1;
  [x, result] = solve(S, complex(b), 'method', 'gmres:restart=100', 'max_iter', 1000, 'tol', 1e-6);
  assert(result.converged && ~isreal(x));
end

function wrong()
  fails('spry:badInput', '.', @() spry_stencil('8x8', '-laplac'));
  fails('spry:badUsage', '.', @() spry_stencil('8x8', '-laplace', [], 'ordr', 2));
  fails('spry:badShape', '49', @() spry_step(spry_stencil('8x8', 'laplace'), 1, 0, 1));
  S = spry_stencil('8x8', 'laplace');
  u = ones(49, 1);
  fails('spry:badType', '^spry_step: S is .* not of class double', @() spry_step(speye(49), u, 0, 1));
  fails('spry:badType', '^spry_bounded: S is .* not of class double', @() spry_bounded(speye(49), u, u));
  fails('spry:unsupported', '^spry_step: S is a transpose', @() spry_step(S', u, 0, 1));
  fails('spry:unsupported', 'grid', @() update(spry_stencil('8x8', 'laplace'), speye(49)));
end
