function [x, flag, relres, iter, resvec] = spry_lsqr(varargin)
%SPRY_LSQR  Least squares: the x with the least |b - A*x|, for any matrix.
%   [x, flag, relres, iter, resvec] = spry_lsqr(A, b, tol, maxit, M1, M2, x0, ...)
%   has the arguments and results of lsqr, so that scripts change one name.
%
%   tol    relative residual |b - A*x| / |b| to reach (1e-6)
%   maxit  iterations at most (min(n, 20))
%   M1,M2  preconditioner M = M1*M2, as matrices or as functions that give
%          M1\r; or a text for one of the library's own: 'ilu', 'amg', 'jacobi'
%   x0     first guess (zeros)
%   A      sparse, a matrix kept by spry_matrix, or a function A(x, 'notransp') = A*x
%          and A(x, 'transp') = A'*x;
%          arguments after x0 are handed to functions
%   flag   0 converged, 1 maxit was reached, 2 the matrix or M is singular,
%          3 the residual no longer fell, 4 a number became too small or large
%   relres true residual of x, relative; x is the best there was
%   iter   iterations
%   resvec residual norms of all iterations, from the first guess on
%
%   flag is 0 also when x is the best there is and |b - A*x| is not 0.
%
%   Example
%     A = sprand(200, 50, 0.1) + speye(200, 50);  x = spry_lsqr(A, ones(200, 1));
%
%   See also spry_solve, spry_plot.
  [x, flag, relres, iter, resvec] = krylov('lsqr', true, nargout < 2, varargin);
end
