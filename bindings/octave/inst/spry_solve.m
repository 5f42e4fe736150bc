function [x, result] = spry_solve(A, b, varargin)
%SPRY_SOLVE  Solve the sparse linear system A*x = b.
%   x = spry_solve(A, b) solves with what suits A: the library looks at the
%   matrix and tries direct solves, multigrid and incomplete factors in turn.
%   A is a sparse matrix (double, real or complex), a matrix kept by
%   spry_matrix, or a function handle y = A(x).  b has a column for each
%   right-hand side.
%
%   x = spry_solve(A, b, options) with a struct of options, or
%   x = spry_solve(A, b, name, value, ...):
%
%     tol        relative true residual |b - A*x| / |b| to reach (1e-8)
%     max_iter   iterations at most (10000)
%     method     'auto', 'cg', 'gmres:restart=50', 'direct', ...; see
%                spry_list('methods')
%     precon     'auto', 'none', 'ilu', 'amg', ...; see spry_list('precons');
%                or a function handle z = M(r), about A\r
%     x0         first guess
%     precision  'single': in single precision, x is single; so it is where A or b
%                is single
%     device     'cpu', 'cuda', 'opencl:0'; see spry_list('devices')
%     format     storage format: 'auto', 'csr', 'sell:C=8', ...
%     monitor    go_on = monitor(iteration, residual), called each iteration
%     keep, stall, divergence, restart, nullspace, fuse: as in the manual
%
%   [x, result] = spry_solve(...) also gives a struct with the outcome:
%   result.converged, result.reason, result.iterations, result.true_residual,
%   result.history, ...  (one for each column of b).  Without it, a solve that
%   does not converge is a warning.
%
%   Example
%     A = gallery('poisson', 30);  b = ones(900, 1);
%     [x, result] = spry_solve(A, b, 'tol', 1e-10);
%
%   See also spry_matrix, spry_pcg, spry_plot, spry_info.
  needs(nargin, 2, 'spry_solve(A, b, ...)');
  options = spry_options(varargin);
  if isa(A, 'spry_matrix')
    [x, result] = solve(A, b, options);
  else
    check_order(A, b);
    if ~issparse(A) && isfloat(A)
      if isa(A, 'single') && ~isfield(options, 'precision')
        options.precision = 'single';
      end
      A = sparse(double(A));
    end
    if isa(A, 'function_handle')
      A = guarded(A);
    end
    [x, result] = spry_mex('solve', A, full_columns(b), guard_options(options));
  end
  if nargout < 2
    warn_unless_converged(result);
  end
end

function b = full_columns(b)
  if issparse(b) && isfloat(b)
    b = full(b);
  end
end
