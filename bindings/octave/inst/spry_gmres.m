function [x, flag, relres, iter, resvec] = spry_gmres(varargin)
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
%   relres and resvec are those of M\A*x = M\b, as gmres has them. A preconditioner
%   of the library's is applied on the right: residuals are those of A*x = b.
%
%   Example
%     A = gallery('poisson', 30);  b = ones(900, 1);
%     [x, flag] = spry_gmres(A, b, 20, 1e-8, 200);
%
%   See also spry_solve, spry_plot.
  given = varargin;
  given(end+1:5) = {[]};
  [restart, maxit] = given{[3, 5]};
  if ~isempty(restart)
    one_number(restart, 'restart');
    if ~(restart >= 1 && restart == fix(restart))
      error('spry:badUsage', 'restart is a whole number from 1 on, or []; %g is given', restart);
    end
  end
  if ~isempty(maxit)
    one_number(maxit, 'maxit');   % of cycles: krylov is given that of iterations
  end
  n = 0;
  if nargin > 1
    n = size(given{2}, 1);
  end
  if isempty(maxit)
    maxit = min(n, 10);
    if ~isempty(restart) && restart < n
      maxit = min(ceil(n / restart), 10);
    elseif ~isempty(restart)
      restart = [];
    end
  end
  if isempty(restart)
    restart = min(maxit, n);
    maxit = 1;
  end
  restart = min([restart, n, 10000]);
  given = [varargin(1:min(end, 2)), given(4), {maxit * restart}, given(6:end)];
  [x, flag, relres, iter, resvec] = krylov(sprintf('gmres:restart=%d', max(restart, 1)), false, ...
                                           nargout < 2, given(1:(nargin > 1) * end));
  cycle = ceil(iter / restart);
  iter = [cycle, iter - (cycle - (iter > 0)) * restart];
end
