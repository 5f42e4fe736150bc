function [x, flag, relres, iter, resvec, eigest] = spry_pcg(varargin)
%SPRY_PCG  Conjugate gradients, for hermitian positive definite matrices.
%   [x, flag, relres, iter, resvec, eigest] = spry_pcg(A, b, tol, maxit, M1, M2, x0, ...)
%   has the arguments and results of pcg, so that scripts change one name.
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
%   resvec residual norms of all iterations, from the first guess on; with eigest
%          a second column has sqrt(r'*(M\r))
%   eigest estimates of the least and the largest eigenvalue of M\A, which cost as
%          many products again
%
%   Example
%     A = gallery('poisson', 30);  b = ones(900, 1);
%     [x, flag] = spry_pcg(A, b, 1e-8, 200);
%
%   See also spry_solve, spry_plot.
  [x, flag, relres, iter, resvec, parts] = krylov('cg', false, nargout < 2, varargin);
  A = parts.A;
  if flag == 1 && isnumeric(A) && ~isreal(A) && norm(A - A', 1) > 1e-6 * norm(A, 1)
    flag = 4;   % not hermitian
  end
  if nargout > 5
    [eigest, resvec] = extremal(parts.product, parts.M, varargin, flag, resvec);
  end
end

% Lanczos' tridiagonal matrix, from the coefficients of the same iterations: G. Meurant, The
% Lanczos and conjugate gradient algorithms, SIAM 2006, section 2.
function [eigest, resvec] = extremal(A, M, args, flag, resvec)
  r = full(args{2});
  if numel(args) > 6 && ~isempty(args{7})
    r = r - A(args{7});
  end
  steps = numel(resvec) - 1;
  [alpha, beta, tau] = deal(zeros(steps + 1, 1));
  if isempty(M)
    M = @(r) r;
  end
  p = 0 * r;
  for k = 1:steps + 1
    z = M(r);
    tau(k) = real(z' * r);
    if k > steps || tau(k) <= 0
      break
    end
    beta(k) = tau(k) / tau(max(k - 1, 1)) * (k > 1);
    p = z + beta(k) * p;
    w = A(p);
    alpha(k) = tau(k) / real(p' * w);
    r = r - alpha(k) * w;
  end
  resvec(:, 2) = sqrt(tau);
  eigest = [NaN, NaN];
  if flag == 4
    warning('spry:eigest', 'no estimate of eigenvalues: is the matrix positive definite?');
  elseif steps < 2
    warning('spry:eigest', 'no estimate of eigenvalues: the iteration converged too fast');
  else
    alpha = alpha(1:steps);
    beta = beta(2:steps);
    T = diag(1 ./ alpha + [0; beta ./ alpha(1:end-1)]) + diag(sqrt(beta) ./ alpha(1:end-1), 1);
    eigest = eig(triu(T) + triu(T, 1)')';
    eigest = eigest([1, end]);
  end
end
