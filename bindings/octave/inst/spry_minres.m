function [x, flag, relres, iter, resvec] = spry_minres(varargin)
%SPRY_MINRES  Minimal residuals, for hermitian matrices, also indefinite ones.
%   [x, flag, relres, iter, resvec] = spry_minres(A, b, tol, maxit, M1, M2, x0, ...)
%   has the arguments and results of minres, so that scripts change one name.
%
%   tol    relative residual |b - A*x| / |b| to reach (1e-6)
%   maxit  iterations at most (min(n, 20))
%   M1,M2  preconditioner M = M1*M2, as matrices or as functions that give
%          M1\r; or a text for one of the library's own: 'ilu', 'amg', 'jacobi'
%   x0     first guess (zeros)
%   A      sparse, a matrix kept by spry_matrix, or a function A(x) = A*x;
%          arguments after x0 are handed to functions
%   flag   0 converged, 1 maxit was reached, 2 the matrix or M is singular,
%          3 the residual no longer fell, 4 a number became too small or large
%   relres true residual of x, relative; x is the best there was
%   iter   iterations
%   resvec residual norms of all iterations, from the first guess on
%
%   Example
%     A = gallery('poisson', 30);  b = ones(900, 1);
%     [x, flag] = spry_minres(A, b, 1e-8, 200);
%
%   See also spry_solve, spry_plot.
  [x, flag, relres, iter, resvec] = krylov('minres', false, nargout < 2, varargin);
end
