function tests = test_solve()
%TEST_SOLVE  spry_solve: kinds of numbers, right-hand sides, options, bad input.
  tests = {@by_itself, @complex_numbers, @single_precision, @several_columns, @first_guess, ...
           @functions, @errors_in_functions, @a_monitor_stops, @names_and_structs, ...
           @not_converged_is_a_warning, @rows_are_no_columns, @wrong_order, @bad_shapes, @bad_classes, ...
           @bad_numbers, @bad_options, @empty_and_tiny, @full_matrices, @wrong_commands};
end

function [A, b] = system_of(n)
  A = spry_mex('generate', 'poisson2d', struct('size', n));
  b = cos((1:n^2)');
end

function by_itself()
  [A, b] = system_of(12);
  [x, result] = spry_solve(A, b);
  assert(result.converged);
  assert(result.reason, 'converged');
  assert(result.true_residual <= 1e-8);
  assert(norm(b - A * x) / norm(b) <= 1.01e-8);
  assert(numel(result.history), result.iterations + 1);
  assert([result.rows, result.cols, result.nnz], [144, 144, nnz(A)]);
end

function complex_numbers()
  [A, b] = system_of(10);
  C = A + sparse(1:100, 1:100, 1i * (1:100) / 100);
  near(C * spry_solve(C, b, 'tol', 1e-10), b, 1e-9);
  near(A * spry_solve(A, b + 1i, 'tol', 1e-10), b + 1i, 1e-9);
  x = spry_solve(C, b, 'method', 'gmres', 'precon', 'ilu', 'tol', 1e-10);
  near(C * x, b, 1e-9);
  assert(iscomplex(x));
end

function single_precision()
  [A, b] = system_of(10);
  [x, result] = spry_solve(A, b, 'precision', 'single', 'tol', 1e-4);
  assert(class(x), 'single');
  assert(result.type, 's');
  near(A * double(x), b, 2e-4);
  [x, result] = spry_solve(A * 1i, b, 'precision', 'single', 'tol', 1e-4);
  assert(result.type, 'c');
  assert(class(spry_solve(A, single(b), 'tol', 1e-4)), 'single');
end

function several_columns()
  [A, b] = system_of(10);
  B = [b, 2 * b, circshift(b, 3), b * 0];
  [X, results] = spry_solve(A, B, 'method', 'cg', 'precon', 'jacobi', 'tol', 1e-10);
  assert(size(X), [100, 4]);
  assert(size(results), [1, 4]);
  assert(all([results.converged]));
  near(A * X, B, 1e-9);
  assert(X(:, 4), zeros(100, 1));
end

function first_guess()
  [A, b] = system_of(10);
  x = spry_solve(A, b, 'method', 'cg', 'precon', 'none', 'tol', 1e-12);
  [~, result] = spry_solve(A, b, 'method', 'cg', 'precon', 'none', 'tol', 1e-8, 'x0', x);
  assert(result.iterations, 0);
  fails('spry:badShape', 'x0 is 3 x 1', @() spry_solve(A, b, 'x0', ones(3, 1)));
  fails('spry:badShape', 'x0 has 2 columns', @() spry_solve(A, b, 'x0', ones(100, 2)));
end

function functions()
  [A, b] = system_of(10);
  d = diag(A);
  [x, result] = spry_solve(@(x) A * x, b, 'method', 'cg', 'precon', @(r) r ./ d, 'tol', 1e-10);
  assert(result.converged);
  near(A * x, b, 1e-9);
  x = spry_solve(@(x) A * x * 1i, b * 1i, 'method', 'gmres', 'precon', 'none', 'tol', 1e-10);
  near(A * x, b, 1e-9);
  x = spry_solve(@(x) sparse(A * x), b, 'method', 'cg', 'precon', 'none', 'tol', 1e-10);
  near(A * x, b, 1e-9);
  % a function may solve by itself
  x = spry_solve(A, b, 'method', 'cg', 'precon', @(r) spry_solve(A, r, 'method', 'direct'), 'tol', 1e-8);
  near(A * x, b, 1e-7);
end

function errors_in_functions()
  b = ones(5, 1);
  one = {'method', 'cg', 'precon', 'none'};
  fails('spry:badInput', 'mine', @() spry_solve(@(x) error('mine'), b, one{:}));
  fails('spry:badInput', '4 numbers in the place of 5', @() spry_solve(@(x) x(1:4), b, one{:}));
  fails('spry:badInput', 'class char', @() spry_solve(@(x) 'hello', b, one{:}));
  fails('spry:badInput', 'complex', @() spry_solve(@(x) x * 1i, b, one{:}));
  fails('spry:badInput', 'yours', @() spry_solve(speye(5) * 3, b, 'method', 'cg', 'precon', @(r) error('yours')));
  % and later solves go well
  near(spry_solve(speye(5) * 3, b), b / 3, 1e-8);
end

function a_monitor_stops()
  [A, b] = system_of(20);
  [~, result] = spry_solve(A, b, 'method', 'cg', 'precon', 'none', 'monitor', @(k, r) k < 5);
  assert(result.reason, 'interrupted');
  assert(result.iterations, 5);
  fails('spry:badInput', 'the monitor failed: no', @() spry_solve(A, b, 'method', 'cg', 'precon', 'none', ...
                                                                 'monitor', @(k, r) error('no')));
  fails('spry:badType', 'monitor', @() spry_solve(A, b, 'monitor', 3));
end

function names_and_structs()
  [A, b] = system_of(10);
  options = struct('method', 'cg', 'max_iter', 2);
  [~, result] = spry_solve(A, b, options, 'precon', 'none');
  assert(result.iterations, 2);
  [~, result] = spry_solve(A, b, 'max-iter', 3, 'method', 'cg', 'precon', 'none', 'fuse', false);
  assert(result.iterations, 3);
  fails('spry:badUsage', 'names with values', @() spry_solve(A, b, 'method'));
end

function not_converged_is_a_warning()
  [A, b] = system_of(10);
  lastwarn('');
  x = spry_solve(A, b, 'max_iter', 2, 'method', 'cg', 'precon', 'none');
  [text, id] = lastwarn();
  assert(id, 'spry:notConverged');
end

% As A \ b' and S \ b' are errors.
function rows_are_no_columns()
  [A, b] = system_of(5);
  fails('spry:badShape', 'b is 1 x 25: 25 rows are needed', @() spry_solve(A, b'));
  fails('spry:badShape', 'b is 1 x 25: 25 rows are needed', @() solve(spry_matrix(A), b'));
  fails('spry:badShape', 'x0 is 1 x 25: 25 rows are needed', @() spry_solve(A, b, 'x0', b'));
end

function wrong_order()
  [A, b] = system_of(5);
  S = spry_matrix(A);
  swapped = '^the matrix comes first: A is 25 x 1, and b 25 x 25';
  for f = {@() spry_solve(b, A), @() spry_solve(b, full(A)), @() spry_solve(b, S), @() solve(b, S), ...
           @() b \ S, @() spry_matrix(b) \ A}
    fails('spry:badShape', swapped, f{1});
  end
  % one unknown and several right-hand sides are in order
  near(spry_solve(b, [b, 2 * b]), [1, 2], 1e-7);
end

function bad_shapes()
  [A, b] = system_of(5);
  fails('spry:badShape', 'b is 3 x 1: 25 rows are needed', @() spry_solve(A, b(1:3)));
  fails('spry:badShape', 'b is 2 x 25', @() spry_solve(A, [b, b]'));
  fails('spry:badShape', 'dimensions', @() spry_solve(A, ones(25, 2, 2)));
end

function bad_classes()
  [A, b] = system_of(5);
  fails('spry:badType', 'A is of class logical', @() spry_solve(A ~= 0, b));
  fails('spry:badType', 'A is of class int32', @() spry_solve(int32(full(A)), b));
  fails('spry:badType', 'b is of class int8', @() spry_solve(A, int8(b)));
  fails('spry:badType', 'b is of class cell', @() spry_solve(A, {1}));
  fails('spry:badType', 'A is of class char', @() spry_solve('A', b));
  fails('spry:badType', 'A is of class struct', @() spry_solve(struct(), b));
  near(A * spry_solve(A, sparse(b)), b, 1e-7);
end

function bad_numbers()
  [A, b] = system_of(5);
  A(3, 4) = NaN;
  fails('spry:badInput', 'nan', @() spry_solve(A, b));
  [A, b] = system_of(5);
  b(2) = Inf;
  fails('spry:badInput', 'not finite', @() spry_solve(A, b));
end

function bad_options()
  [A, b] = system_of(5);
  fails('spry:badUsage', 'did you mean tol', @() spry_solve(A, b, 'tool', 1));
  fails('spry:badUsage', 'tol', @() spry_solve(A, b, 'tol', -1));
  fails('spry:badUsage', 'cgg', @() spry_solve(A, b, 'method', 'cgg'));
  fails('spry:badType', 'max_iter', @() spry_solve(A, b, 'max_iter', [1 2]));
  fails('spry:badUsage', 'double', @() spry_solve(A, b, 'precision', 'half'));
  fails('spry:badType', 'precon', @() spry_solve(A, b, 'precon', A));
end

function empty_and_tiny()
  near(spry_solve(sparse(4), 8), 2, 1e-8);
  assert(size(spry_solve(speye(3), zeros(3, 0))), [3, 0]);
end

function full_matrices()
  near(spry_solve([4 1; 1 3], [1; 2]), [4 1; 1 3] \ [1; 2], 1e-8);
end

function wrong_commands()
  fails('spry:badUsage', 'command', @() spry_mex());
  fails('spry:badUsage', 'unknown command', @() spry_mex('fly'));
  fails('spry:badUsage', 'arguments', @() spry_mex('solve', 1));
  fails('spry:badType', 'text', @() spry_mex('read', 3));
  fails('spry:badUsage', 'list', @() spry_mex('list', 'stars'));
end
