function [x, flag, relres, iter, resvec] = spry_gmres(A, b, varargin)
%SPRY_GMRES  Generalised minimal residuals, for any square matrix.
%   [x, flag, relres, iter, resvec] = spry_gmres(A, b, restart, tol, maxit, M1, M2, x0, ...)
%   has the arguments and results of gmres, so that scripts change one name.
%
%   restart  iterations between restarts; []: none
%   tol    relative residual |b - A*x| / |b| to reach (1e-6)
%   maxit  cycles of `restart` iterations at most; without restarts:
%          iterations (min(n, 10))
%   M1,M2  preconditioner M = M1*M2, as matrices or as functions that give
%          M1\r; or a text for one of the library's own: 'ilu', 'amg', 'jacobi'
%   x0     first guess (zeros)
%   A      sparse, a matrix kept by spry_matrix, or a function A(x) = A*x;
%          arguments after x0 are handed to functions
%   flag   0 converged, 1 maxit was reached, 2 the matrix or M is singular,
%          3 the residual no longer fell, 4 a number became too small or large
%   relres true residual of x, relative; x is the best there was
%   iter   [cycle, iteration within it]
%   resvec residual norms of all iterations, from the first guess on
%
%   M is applied on the right: residuals are those of A*x = b itself (gmres has
%   those of M\A*x = M\b).
%
%   Example
%     A = gallery('poisson', 30);  b = ones(900, 1);
%     [x, flag] = spry_gmres(A, b, 20, 1e-8, 200);
%
%   See also spry_solve, spry_plot.
  varargin(end+1:3) = {[]};
  [restart, tol, maxit] = varargin{1:3};
  n = numel(b);
  if isempty(maxit)
    maxit = min(n, 10);
  end
  if isempty(restart)
    restart = min(maxit, n);
    maxit = 1;
  end
  restart = min([restart, n, 10000]);
  given = [{tol, maxit * restart}, varargin(4:end)];
  [x, flag, relres, iter, resvec] = krylov(sprintf('gmres:restart=%d', restart), false, ...
                                           nargout < 2, A, b, given);
  cycle = max(ceil(iter / restart), 1);
  iter = [cycle, iter - (cycle - 1) * restart];
end
