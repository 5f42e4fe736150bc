function [x, flag, relres, iter, resvec] = krylov(method, transposed, silent, A, b, given)
%KRYLOV  What spry_pcg and its kin share: MATLAB's arguments, and its results.
%   given: {tol, maxit, M1, M2, x0, further arguments of functions}; those that
%   are missing or [] take MATLAB's defaults.  transposed: the method multiplies
%   with A', so that functions are called as f(x, 'notransp') and f(x, 'transp').
  given(end+1:5) = {[]};
  [tol, maxit, M1, M2, x0] = given{1:5};
  more = given(6:end);
  b = full(b(:));
  cols = columns_of(A, b, x0, transposed, more);
  options = struct('method', method, 'precon', 'none', 'tol', 1e-6, 'max_iter', min(cols, 20));
  if ~isempty(tol)
    options.tol = min(max(tol, 0), 1);
  end
  if ~isempty(maxit)
    options.max_iter = maxit;
  end
  if ~isempty(x0)
    options.x0 = full(x0(:));
  end
  M1 = plain_text(M1);
  if ischar(M1)
    options.precon = M1;   % one of the library's: 'ilu', 'amg'
  elseif ~isempty(M1) || ~isempty(M2)
    options.precon = inverses(M1, M2, transposed, more);
  end
  if isa(A, 'function_handle')
    A = @(varargin) A(varargin{:}, more{:});
    options.cols = cols;
  end
  options.transpose = transposed;
  [x, result] = spry_solve(A, b, options);
  flag = flag_of(result.reason);
  relres = result.true_residual;
  iter = result.iterations;
  resvec = result.history * norm(b);
  if silent
    warn_unless_converged(result);
  end
end

% Elements of x.
function n = columns_of(A, b, x0, transposed, more)
  if ~isa(A, 'function_handle')
    n = size(A, 2);
  elseif ~isempty(x0)
    n = numel(x0);
  elseif transposed
    n = numel(A(b, 'transp', more{:}));
  else
    n = numel(b);
  end
end

% z = M2 \ (M1 \ r), and with 'transp' M1' \ (M2' \ r).
function f = inverses(M1, M2, transposed, more)
  if transposed
    f = @(r, t) in_order(M1, M2, r, t, more);
  elseif isempty(M2) && isa(M1, 'function_handle')
    f = @(r) M1(r, more{:});
  elseif isempty(M2)
    f = @(r) M1 \ r;
  elseif isnumeric(M1) && isnumeric(M2) && ~isempty(M1)
    f = @(r) M2 \ (M1 \ r);
  else
    f = @(r) inverse(M2, inverse(M1, r, '', more), '', more);
  end
end

function z = in_order(M1, M2, r, t, more)
  if strcmp(t, 'notransp')
    z = inverse(M2, inverse(M1, r, t, more), t, more);
  else
    z = inverse(M1, inverse(M2, r, t, more), t, more);
  end
end

function z = inverse(M, r, t, more)
  if isempty(M)
    z = r;
  elseif isa(M, 'function_handle') && isempty(t)
    z = M(r, more{:});
  elseif isa(M, 'function_handle')
    z = M(r, t, more{:});
  elseif strcmp(t, 'transp')
    z = M' \ r;
  else
    z = M \ r;
  end
end

% MATLAB's: 0 converged, 1 maxit, 2 a bad preconditioner, 3 stagnated, 4 numbers out of bounds.
function flag = flag_of(reason)
  reasons = {'converged', 'accepted', 'iterations', 'singular', 'stagnated', 'breakdown', 'diverged', 'nan'};
  flags = [0, 0, 1, 2, 3, 4, 4, 4];
  k = find(strcmp(reason, reasons));
  if isempty(k)
    flag = 1;
  else
    flag = flags(k);
  end
end
