function [x, flag, relres, iter, resvec, parts] = krylov(method, transposed, silent, args)
%KRYLOV  What spry_pcg and its kin share: MATLAB's arguments, and its results.
%   args: {A, b, tol, maxit, M1, M2, x0, further arguments of functions}; those that
%   are missing or [] take MATLAB's defaults.  transposed: the method multiplies
%   with A', so that functions are called as f(x, 'notransp') and f(x, 'transp').
%   parts: A, what multiplies with it, and what applies M; [] without M.
  if numel(args) < 2
    caller = dbstack(1);
    needs(numel(args), 2, [caller(1).name, '(A, b, ...)']);
  end
  args(end+1:7) = {[]};
  [A, b, tol, maxit, M1, M2, x0] = args{1:7};
  more = args(8:end);
  A = named_function(A);
  check_order(A, b);
  if isnumeric(A) && size(b, 1) ~= size(A, 1)
    error('spry:badShape', 'nonconformant: A is %d x %d, and b %d x %d', size(A, 1), size(A, 2), ...
          size(b, 1), size(b, 2));
  elseif size(b, 2) ~= 1
    error('spry:badShape', 'b has %d columns: one is needed; spry_solve takes several', size(b, 2));
  end
  b = full(b);
  cols = columns_of(A, b, x0, transposed, more);
  options = struct('method', method, 'precon', 'none', 'tol', 1e-6, 'max_iter', min(cols, 20));
  if ~isempty(tol)
    one_number(tol, 'tol');
    options.tol = min(max(tol, 0), 1);
  end
  if ~isempty(maxit)
    one_number(maxit, 'maxit');
    options.max_iter = maxit;
  end
  if ~isempty(x0)
    options.x0 = full(x0);
  end
  parts = struct('A', A, 'product', [], 'M', []);
  M = [];
  if is_precon(M1)
    options.precon = plain_text(M1);   % one of the library's: 'ilu', 'amg'
  elseif ~isempty(M1) || ~isempty(M2)
    M = inverses(named_function(M1), named_function(M2), transposed, more);
    if is_singular(M, b, cols, transposed)
      [x, flag, relres, iter, resvec] = deal(zeros(cols, 1), 2, 1, 0, norm(b));
      if ~isempty(x0)
        x = x0;
      end
      return
    end
  end
  if isa(A, 'function_handle')
    A = @(varargin) A(varargin{:}, more{:});
    options.cols = cols;
  end
  parts.product = product_of(A);
  parts.M = M;
  if ~isempty(M) && strncmp(method, 'gmres', 5)   % as gmres: from the left
    A = @(x) M(parts.product(x));
    b = M(b);
    options.cols = cols;
  elseif ~isempty(M)
    options.precon = M;
  end
  options.transpose = transposed;
  [x, result] = spry_solve(A, b, options);
  flag = flag_of(result.reason);
  iter = result.iterations;
  resvec = result.history * norm(b);
  if result.converged
    resvec(iter + 1:end) = result.true_residual * norm(b);
    relres = resvec(end) / max(norm(b), realmin);
  else
    relres = result.true_residual;
  end
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

% Functions may be given by their names.
function f = named_function(f)
  f = plain_text(f);
  if ischar(f)
    f = str2func(f);
  end
end

% Whether a preconditioner is one of the library's, by its name; 'ilu' is a function, too.
function yes = is_precon(M)
  M = plain_text(M);
  yes = ischar(M);
  if yes && exist(M) > 0
    known = spry_list('precons');
    yes = any(strcmp(M, {known.name}));
  end
end

function f = product_of(A)
  if isa(A, 'function_handle')
    f = A;
  else
    f = @(x) A * x;
  end
end

% Whether M has no inverse, by its first use.
function yes = is_singular(M, r, cols, transposed)
  if numel(r) ~= cols   % of least squares
    r = ones(cols, 1);
  end
  ids = {'Octave:singular-matrix', 'MATLAB:singularMatrix'};
  before = warning();
  restore = onCleanup(@() warning(before));
  words = {{}, {'notransp'}};
  try
    warning('error', ids{1 + ~exist('OCTAVE_VERSION', 'builtin')});
    yes = ~all(isfinite(M(r, words{1 + transposed}{:})));
  catch failure
    yes = any(strcmp(failure.identifier, ids));
    if ~yes
      error('spry:badInput', 'the preconditioner failed: %s', failure.message);
    end
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
