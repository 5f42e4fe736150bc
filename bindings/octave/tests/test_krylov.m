function tests = test_krylov()
%TEST_KRYLOV  The functions with MATLAB's arguments, compared with Octave's own.
  tests = {@conjugate_gradients, @every_method, @as_octave_does, @functions, @preconditioners, ...
           @two_parts, @restarts, @least_squares, @least_squares_by_functions, @flags, ...
           @further_arguments, @kept_matrices, @complex_systems, @eigenvalues, @singles, @singular_m, @names, ...
           @arguments_of_pcr, @several_columns, @wrong_order, @wrong_numbers, @errors};
end

function [A, b] = definite()
  A = spry_mex('generate', 'poisson2d', struct('size', 12));
  A = A / A(1, 1) * 4;
  b = sin((1:144)');
end

function [A, b] = unsymmetric()
  [A, b] = definite();
  A = A + sparse(1:143, 2:144, 0.5, 144, 144);
end

function conjugate_gradients()
  [A, b] = definite();
  [x, flag, relres, iter, resvec] = spry_pcg(A, b, 1e-8, 100);
  assert(flag, 0);
  assert(norm(b - A * x) / norm(b) <= 1.01e-8);
  assert(abs(relres - norm(b - A * x) / norm(b)) <= 1e-14);
  assert(numel(resvec), iter + 1);
  assert(abs(resvec(1) - norm(b)) <= 1e-14 * norm(b));
  assert(resvec(end) <= 1e-8 * norm(b));
end

function every_method()
  [A, b] = unsymmetric();
  for f = {@spry_bicg, @spry_bicgstab, @spry_bicgstabl, @spry_cgs, @spry_qmr, @spry_tfqmr}
    [x, flag, relres] = f{1}(A, b, 1e-8, 400);
    assert(flag, 0);
    near(A * x, b, 1.01e-8);
    assert(relres <= 1e-8);
  end
  [A, b] = definite();
  for f = {@spry_pcr, @spry_minres, @spry_symmlq}
    [x, flag] = f{1}(A - 0.3 * speye(144), b, 1e-8, 400);
    assert(flag, 0);
    near((A - 0.3 * speye(144)) * x, b, 1.01e-8);
  end
end

% The same numbers of iterations and residuals: the methods are the same.
function as_octave_does()
  [A, b] = definite();
  [x, flag, relres, iter, resvec] = pcg(A, b, 1e-6, 100);
  [xs, flags, relress, iters, resvecs] = spry_pcg(A, b, 1e-6, 100);
  assert(iters, iter);
  near(xs, x, 1e-5);
  near(resvecs(1:20), resvec(1:20), 1e-6);
  [A, b] = unsymmetric();
  [x, ~, ~, iter, resvec] = gmres(A, b, 100, 1e-8, 1);
  [xs, ~, ~, iters, resvecs] = spry_gmres(A, b, 100, 1e-8, 1);
  assert(iters, iter);
  near(xs, x, 1e-6);
  near(resvecs(1:20), resvec(1:20), 1e-6);
end

function functions()
  [A, b] = unsymmetric();
  [x, flag] = spry_gmres(@(x) A * x, b, 50, 1e-8, 10);
  assert(flag, 0);
  near(A * x, b, 1.01e-8);
  [x, flag] = spry_bicg(@(x, t) either(A, x, t), b, 1e-8, 400);
  assert(flag, 0);
  near(A * x, b, 1.01e-8);
end

function y = either(A, x, t)
  if strcmp(t, 'notransp')
    y = A * x;
  else
    y = A' * x;
  end
end

function preconditioners()
  [A, b] = definite();
  [~, ~, ~, plain] = spry_pcg(A, b, 1e-8, 200);
  L = ichol(A);
  for M = {@(r) L' \ (L \ r), L * L', 'ilu', 'ssor'}
    [x, flag, ~, iter] = spry_pcg(A, b, 1e-8, 200, M{1});
    assert(flag, 0);
    assert(iter < plain);
    near(A * x, b, 1.01e-8);
  end
  [x, flag, ~, iter] = spry_pcg(A, b, 1e-8, 200, [], [], ones(144, 1));
  near(A * x, b, 1.01e-8);
end

function two_parts()
  [A, b] = unsymmetric();
  [L, U] = ilu(A);
  one = @(r) L \ r;
  two = @(r) U \ r;
  for f = {@spry_bicgstab, @spry_cgs, @spry_tfqmr, @spry_bicg, @spry_qmr}
    [x, flag] = f{1}(A, b, 1e-8, 100, L, U);
    assert(flag, 0);
    near(A * x, b, 1.01e-8);
  end
  [x1, flag, ~, iter1] = spry_gmres(A, b, 20, 1e-8, 10, L, U);
  assert(flag, 0);
  [x2, ~, ~, iter2] = spry_gmres(A, b, 20, 1e-8, 10, one, two);
  assert(x1, x2);
  x3 = spry_gmres(A, b, 20, 1e-8, 10, L, two);
  assert(x1, x3);
  x4 = spry_gmres(A, b, 20, 1e-8, 10, [], @(r) U \ (L \ r));
  near(x4, x1, 1e-12);
end

function restarts()
  [A, b] = unsymmetric();
  [~, flag, ~, iter, resvec] = spry_gmres(A, b, 5, 1e-8, 2);
  assert(flag, 1);
  assert(iter, [2, 5]);
  assert(numel(resvec), 11);
  [~, flag, ~, iter] = spry_gmres(A, b, [], 1e-8, 7);
  assert(flag, 1);
  assert(iter, [1, 7]);
  [~, ~, ~, iter] = spry_gmres(A, b);
  assert(iter, [1, 10]);
end

function least_squares()
  A = sprandn(60, 20, 0.3) + speye(60, 20);
  b = randn(60, 1);
  [x, flag, relres] = spry_lsqr(A, b, 1e-10, 200);
  assert(flag, 0);
  near(x, full(A) \ b, 1e-7);
  assert(abs(relres - norm(b - A * x) / norm(b)) <= 1e-12);
  R = sparse(chol(full(A' * A)));
  [x, flag, ~, iter] = spry_lsqr(A, b, 1e-10, 200, R);
  assert(flag, 0);
  assert(iter <= 4);
  near(x, full(A) \ b, 1e-7);
end

function least_squares_by_functions()
  A = sprandn(60, 20, 0.3) + speye(60, 20);
  b = randn(60, 1);
  [x, flag] = spry_lsqr(@(x, t) either(A, x, t), b, 1e-10, 200);
  assert(flag, 0);
  near(x, full(A) \ b, 1e-7);
end

function flags()
  [A, b] = definite();
  [~, flag, relres, iter] = spry_pcg(A, b, 1e-8, 3);
  assert(flag, 1);
  assert(iter, 3);
  assert(relres > 1e-8 && relres <= 1);
  [x, flag, relres, iter, resvec] = spry_pcg(A, b * 0);
  assert(x, zeros(144, 1));
  assert([flag, relres, iter], [0, 0, 0]);
  [~, flag] = spry_pcg(sparse([0 1; 1 0]), [1; 0]);
  assert(flag, 4);
end

function further_arguments()
  [A, b] = definite();
  x = spry_pcg(@(x, s, t) A * x * s * t, b, 1e-8, 200, [], [], [], 2, 3);
  near(A * x * 6, b, 1.01e-8);
  x = spry_pcg(@(x, s) A * x * s, b, 1e-8, 200, @(r, s) r / s, [], [], 2);
  near(A * x * 2, b, 1.01e-8);
end

function kept_matrices()
  [A, b] = definite();
  S = spry_matrix(A);
  [x, flag] = spry_pcg(S, b, 1e-8, 100, 'ilu');
  assert(flag, 0);
  near(A * x, b, 1.01e-8);
end

function complex_systems()
  [A, b] = definite();
  C = A + 1i * sparse(1:143, 2:144, 1, 144, 144) - 1i * sparse(2:144, 1:143, 1, 144, 144) + 3 * speye(144);
  [x, flag] = spry_pcg(C, b, 1e-8, 200);
  assert(flag, 0);
  near(C * x, complex(b), 1.01e-8);
  [x, flag] = spry_bicg(@(x, t) either(C, x, t), b + 1i, 1e-8, 200);
  assert(flag, 0);
  near(C * x, b + 1i, 1.01e-8);
  [x, flag] = spry_qmr(C, b * 1i, 1e-8, 200, diag(diag(C)));
  assert(flag, 0);
end

function eigenvalues()
  [A, b] = definite();
  M = diag(diag(A)) + speye(144);
  b = b + ones(144, 1);
  for m = {[], M}
    [~, ~, ~, ~, resvec, eigest] = pcg(A, b, 1e-8, 100, m{1});
    [~, ~, ~, iter, resvecs, eigests] = spry_pcg(A, b, 1e-8, 100, m{1});
    assert(size(resvecs), [iter + 1, 2]);
    near(eigests, eigest, 1e-4);
    near(resvecs(1:10, 2), resvec(1:10, 2), 1e-8);
  end
end

function singles()
  [A, b] = definite();
  x = spry_pcg(single(full(A)), b, 1e-4, 100);
  assert(class(x), 'single');
  near(A * double(x), b, 2e-4);
  assert(class(spry_solve(single(full(A)), b, 'tol', 1e-4)), 'single');
  assert(class(spry_matrix(single(full(A))) * b), 'single');
end

function singular_m()
  [A, b] = definite();
  M = speye(144);
  M(3, 3) = 0;
  for f = {@spry_pcg, @spry_pcr, @spry_minres, @spry_bicg, @spry_bicgstab, @spry_cgs, @spry_qmr, @spry_tfqmr}
    [x, flag, relres, iter] = f{1}(A, b, 1e-8, 100, M);
    assert({x, flag, relres, iter}, {zeros(144, 1), 2, 1, 0});
  end
  [~, flag] = spry_gmres(A, b, [], 1e-8, 100, @(r) M \ r);
  assert(flag, 2);
end

function names()
  assert(spry_pcg('sin', zeros(3, 1)), zeros(3, 1));
  [A, b] = definite();
  near(spry_pcg(A, b, 1e-8, 100, 'ilu'), A \ b, 1e-6);
end

function arguments_of_pcr()
  [A, b] = definite();
  x0 = A \ b;
  [~, flag, ~, iter] = spry_pcr(A, b, 1e-8, 100, speye(144), x0);
  assert([flag, iter], [0, 0]);
  x = spry_pcr(@(x, s) A * x * s, b, 1e-8, 100, [], [], 2);
  near(A * x * 2, b, 1.01e-8);
end

% The twelve, lsqr among them; a function for A, too.
function several_columns()
  [A, b] = definite();
  for f = {@spry_bicg, @spry_bicgstab, @spry_bicgstabl, @spry_cgs, @spry_gmres, @spry_lsqr, @spry_minres, ...
           @spry_pcg, @spry_pcr, @spry_qmr, @spry_symmlq, @spry_tfqmr}
    fails('spry:badShape', '^b has 2 columns: one is needed; spry_solve takes several', @() f{1}(A, [b, b]));
  end
  fails('spry:badShape', '^b has 2 columns', @() spry_pcg(@(x) A * x, [b, b]));
end

function wrong_order()
  [A, b] = definite();
  for f = {@spry_pcg, @spry_gmres, @spry_lsqr}
    fails('spry:badShape', '^the matrix comes first: A is 144 x 1, and b 144 x 144', @() f{1}(b, A));
  end
  fails('spry:badShape', '^the matrix comes first', @() spry_lsqr(b, spry_matrix(A)));
end

function wrong_numbers()
  [A, b] = definite();
  fails('spry:badUsage', '^restart .* 1e-06 is given', @() spry_gmres(A, b, 1e-6));
  fails('spry:badUsage', '^restart .* 2.5 is given', @() spry_gmres(A, b, 2.5));
  fails('spry:badType', '^restart is to be one real number', @() spry_gmres(A, b, 'abc'));
  fails('spry:badType', '^maxit is to be one real number', @() spry_gmres(A, b, 20, 1e-6, 'abc'));
  fails('spry:badType', '^tol is to be one real number', @() spry_pcg(A, b, 'abc'));
  fails('spry:badType', '^maxit is to be one real number', @() spry_pcg(A, b, 1e-6, [1, 2]));
end

function errors()
  [A, b] = definite();
  fails('spry:badUsage', '^spry_pcg\(A, b, ...\): too few arguments', @() spry_pcg(A));
  fails('spry:badInput', '^row 3, column 3: the value is nan', @() spry_pcg(sparse(diag([1 2 NaN])), ones(3, 1)));
  fails('spry:badInput', 'row 10: diagonal entry 0', @() spry_pcg(sparse(diag([1:9, 0])), ones(10, 1), [], [], 'jacobi'));
  fails('spry:badShape', 'b 3 x 1', @() spry_pcg(A, b(1:3)));
  fails('spry:badInput', 'oops', @() spry_pcg(A, b, 1e-6, 10, @(r) error('oops')));
  fails('spry:badType', 'logical', @() spry_pcg(A ~= 0, b));
  fails('spry:badUsage', '.', @() spry_pcg(A, b, 1e-6, -1));
  fails('spry:badUsage', '.', @() spry_pcg(A, b, 1e-6, 10, 'nonsense'));
end
