function tests = test_matrix()
%TEST_MATRIX  spry_matrix: products, solves, new values, release.
  tests = {@products, @complex_products, @single_products, @from_the_left, @solves, @as_matrices_do, ...
           @set_up_is_kept, @fingerprints, @new_values, @new_patterns, @becomes_complex, ...
           @use_after_release, @transposes_keep_it_alive, @cleared, @wrong_input, @shown, ...
           @in_a_function_of_a_solve, @rectangles};
end

function A = matrix_of(m, n)
  A = sprandn(m, n, 0.2) + speye(m, n) * 5;
end

function products()
  A = matrix_of(40, 40);
  x = randn(40, 1);
  S = spry_matrix(A);
  bound = 100 * eps;
  near(S * x, A * x, bound);
  near(S' * x, A' * x, bound);
  near(S.' * x, A.' * x, bound);
  near(S * [x, 2 * x, 3 * x], A * [x, 2 * x, 3 * x], bound);
  near(S' * [x, -x], A' * [x, -x], bound);
  fails('spry:badShape', 'nonconformant: the matrix is 40 x 40, and its factor 1 x 40', @() S * x');
  fails('spry:badShape', 'nonconformant', @() x * S);
  fails('spry:badShape', 'nonconformant: the matrix is 40 x 40, and b 1 x 40', @() S \ x');
  fails('spry:badShape', 'nonconformant', @() x / S);
  assert(size(S * zeros(40, 0)), [40, 0]);
  for format = {'csr', 'ell', 'sell:C=8', 'ellr-t', 'hyb'}
    near(spry_matrix(A, 'format', format{1}) * x, A * x, bound);
  end
end

function complex_products()
  A = matrix_of(30, 30);
  C = A + 1i * matrix_of(30, 30);
  x = randn(30, 2) + 1i * randn(30, 2);
  S = spry_matrix(C);
  T = spry_matrix(A);
  bound = 100 * eps;
  near(S * x, C * x, bound);
  near(S' * x, C' * x, bound);
  near(S.' * x, C.' * x, bound);
  near(S * real(x), C * real(x), bound);
  near(T * x, A * x, bound);
  near(T' * x(:, 1), A' * x(:, 1), bound);
end

function single_products()
  A = matrix_of(30, 30);
  x = randn(30, 1);
  S = spry_matrix(A, 'precision', 'single');
  assert(class(S * x), 'single');
  near(S * x, A * x, 1e-5);
  near(S * single(x), A * x, 1e-5);
  near(S * (x * 1i), A * x * 1i, 1e-5);
  near(spry_matrix(A) * single(x), A * double(single(x)), 100 * eps);
end

function from_the_left()
  A = matrix_of(20, 20);
  x = randn(3, 20);
  near(x * spry_matrix(A), x * A, 100 * eps);
  C = A + 1i * matrix_of(20, 20);
  S = spry_matrix(C);
  z = x + 1i * randn(3, 20);
  near(z * S, z * C, 100 * eps);
  near(z * S', z * C', 100 * eps);
  near(z * S.', z * C.', 100 * eps);
  fails('spry:badType', 'class spry_matrix: .* full\(S\)', @() S * S);
end

function solves()
  A = matrix_of(30, 30);
  b = randn(30, 2);
  S = spry_matrix(A);
  near(A * (S \ b), b, 1e-7);
  near(A * (S \ (b * (1 + 2i))), b * (1 + 2i), 1e-7);
  near(A * spry_solve(S, b, 'method', 'gmres', 'tol', 1e-9), b, 1e-8);
  [x, result] = solve(S, b(:, 1), 'method', 'gmres', 'precon', 'none', 'max_iter', 1);
  assert(result.iterations, 1);
  near(A' * (S' \ b), b, 1e-7);
  near(A.' * (S.' \ b), b, 1e-7);
  near((b' / S) * A, b', 1e-7);
  C = A + 1i * speye(30);
  T = spry_matrix(C);
  c = b + 2i;
  near(C' * (T' \ c), c, 1e-7);
  near((c' / T) * C, c', 1e-7);
  near((c' / T') * C', c', 1e-7);
  assert(update(T, 2 * C), 'values');
  near((c' / T) * 2 * C, c', 1e-7);
end

function as_matrices_do()
  A = matrix_of(30, 20);
  S = spry_matrix(A);
  assert(full(S), full(A));
  assert(sparse(S'), A');
  assert(nnz(S), nnz(A));
  assert(nnz(S'), nnz(A));
  assert(S(2, 3), A(2, 3));
  assert(S(:, 4), A(:, 4));
  assert(S'(4, 3), A(3, 4));
  T = 2 * S;
  assert(class(T), 'spry_matrix');
  assert(sparse(T), 2 * A);
  assert(sparse(S * 0.5), A / 2);
  assert(sparse(S / 2), A / 2);
  assert(size(2 * S'), [20, 30]);
  v = spry_matrix(A(:, 1));
  near(v * 3, A(:, 1) * 3, eps);
end

function set_up_is_kept()
  A = spry_mex('generate', 'poisson2d', struct('size', 30));
  b = ones(900, 1);
  S = spry_matrix(A);
  options = {'method', 'cg', 'precon', 'ilu'};
  [x1, first] = solve(S, b, options{:});
  [x2, second] = solve(S, b, options{:});
  assert(first.setup_seconds > 0);
  assert(second.setup_seconds < first.setup_seconds);
  assert(x1, x2);
  [~, third] = solve(S, b, 'method', 'cg', 'precon', 'jacobi');
  assert(third.precon, 'jacobi');
end

function fingerprints()
  A = matrix_of(30, 30);
  S = spry_matrix(A);
  assert(matches(S, A));
  B = A;
  B(find(B, 1)) *= 1 + eps;
  assert(~matches(S, B));
  B = A;
  B(1, find(~B(1, :), 1)) = 1;
  assert(~matches(S, B));
  assert(~matches(S, A(1:29, :)));
  assert(~matches(S, complex(A, A)));
  assert(update(S, A), 'same');
end

function new_values()
  A = matrix_of(30, 30);
  x = randn(30, 1);
  for format = {'csr', 'sell', 'auto', 'ellr-t'}
    S = spry_matrix(A, 'format', format{1});
    S \ x;
    B = A;
    B(find(B)) = nonzeros(B) + 1;
    assert(update(S, B), 'values');
    near(S * x, B * x, 100 * eps);
    near(B * (S \ x), x, 1e-7);
    assert(matches(S, B) && ~matches(S, A));
  end
end

function new_patterns()
  x = randn(30, 1);
  S = spry_matrix(matrix_of(20, 20));
  T = S';
  A = matrix_of(30, 30);
  assert(update(S, A), 'new');
  near(S * x, A * x, 100 * eps);
  assert(size(S), [30, 30]);
  near(A * (S \ x), x, 1e-7);
  near(T * x, A' * x, 100 * eps);
end

function becomes_complex()
  A = matrix_of(20, 20);
  x = randn(20, 1);
  S = spry_matrix(A);
  assert(update(S, A * 1i), 'new');
  near(S * x, A * x * 1i, 100 * eps);
end

function use_after_release()
  S = spry_matrix(speye(3));
  T = S';
  delete(S);
  fails('spry:released', 'released', @() S * ones(3, 1));
  fails('spry:released', 'released', @() S \ ones(3, 1));
  fails('spry:released', 'released', @() T * ones(3, 1));
  fails('spry:released', 'released', @() matches(S, speye(3)));
  fails('spry:released', 'released', @() update(S, speye(3)));
  spry_mex('free', S.id);
end

function transposes_keep_it_alive()
  A = matrix_of(10, 10);
  S = spry_matrix(A);
  T = S';
  clear S
  near(T * ones(10, 1), A' * ones(10, 1), 100 * eps);
  near(T' * ones(10, 1), A * ones(10, 1), 100 * eps);
  clear T
end

function cleared()
  S = spry_matrix(speye(3));
  assert(mislocked('spry_mex'));
  clear spry_mex
  assert(S * [1; 2; 3], [1; 2; 3]);
  clear S
  assert(~mislocked('spry_mex'));
end

function wrong_input()
  A = matrix_of(5, 5);
  S = spry_matrix(A);
  fails('spry:badShape', 'its factor 4 x 1', @() S * ones(4, 1));
  fails('spry:badType', 'class int8', @() S * int8(ones(5, 1)));
  fails('spry:badType', 'sparse', @() S * sparse(ones(5, 1)));
  fails('spry:badType', 'logical', @() spry_matrix(A ~= 0));
  fails('spry:badType', 'char', @() spry_matrix('hello'));
  fails('spry:badType', 'logical', @() matches(S, A ~= 0));
  fails('spry:badUsage', '^spry_matrix\(A, ...\): too few arguments', @() spry_matrix());
  fails('spry:badUsage', '^solve\(S, b, ...\): too few', @() solve(S));
  fails('spry:badUsage', '^matches\(S, A\): too few', @() matches(S));
  fails('spry:badUsage', '^update\(S, A\): too few', @() update(S));
  fails('spry:badUsage', 'unknown option fromat: .* device, format and precision', ...
        @() spry_matrix(A, 'fromat', 'csr'));
  fails('spry:badUsage', 'unknown option precison', @() spry_matrix(A, 'precison', 'single'));
  fails('spry:badUsage', 'unknown', @() spry_matrix(A, 'format', 'paper'));
  fails('spry:badUsage', 'single', @() spry_matrix(A, 'precision', 'half'));
  fails('spry:badType', 'format', @() spry_matrix(A, 'format', 3));
  fails('spry:unsupported', 'conj', @() S'.');
  fails('spry:badType', 'id', @() spry_mex('multiply', 3, 3));
  fails('spry:released', 'released', @() spry_mex('multiply', uint64(7), 3));
end

function shown()
  S = spry_matrix(speye(4), 'format', 'csr');
  assert(~isempty(strfind(evalc('disp(S)'), '4 x 4, 4 entries, csr on cpu')));
  delete(S);
  assert(~isempty(strfind(evalc('disp(S)'), 'released')));
end

function in_a_function_of_a_solve()
  A = spry_mex('generate', 'poisson2d', struct('size', 10));
  S = spry_matrix(A);
  b = ones(100, 1);
  near(A * spry_solve(@(x) S * x, b, 'method', 'cg', 'precon', 'none'), b, 1e-7);
  % released within a solve with it: it goes when that has ended
  x = solve(S, b, 'method', 'cg', 'precon', 'none', 'monitor', @(k, r) let_go(S, k));
  fails('spry:released', 'released', @() S * b);
end

function go_on = let_go(S, k)
  if k == 3
    delete(S);
  end
  go_on = true;
end

function rectangles()
  A = matrix_of(12, 7);
  S = spry_matrix(A);
  near(S * ones(7, 1), A * ones(7, 1), 100 * eps);
  near(S' * ones(12, 1), A' * ones(12, 1), 100 * eps);
  assert(size(S'), [7, 12]);
  b = randn(12, 1);
  near(spry_solve(S, b, 'method', 'lsqr', 'tol', 1e-10), full(A) \ b, 1e-6);
end
