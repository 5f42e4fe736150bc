classdef spry_matrix < handle
%SPRY_MATRIX  A sparse matrix that stays with the library between calls.
%   S = spry_matrix(A) keeps A in the storage format that suits it best, found
%   by the tuner.  S*x, S'*x, S.'*x and S\b then start at once: nothing is
%   converted, copied or set up again.
%
%   S = spry_matrix(A, name, value, ...) with
%     device     'cpu', or 'cuda', 'opencl:0': where it is kept
%     format     'auto', or a name of spry_list('formats'): 'sell:C=8'
%     precision  'single' or 'double'
%
%   [x, result] = solve(S, b, options) is spry_solve(S, b, options): the set-up
%   of the last solve (a preconditioner, factors) is used again as long as the
%   options are the same.
%
%   S does not change when A does: matches(S, A) checks by a fingerprint whether
%   S still is A, and update(S, A) brings it up to date; new values for the
%   same pattern are taken without a new set-up.
%
%   The memory is given back when the last copy of S goes (clear S), or by
%   delete(S).  Using S after that is an error.
%
%   Example
%     A = gallery('poisson', 100);
%     S = spry_matrix(A);
%     x = S \ ones(10000, 1);
%     y = S' * x;
%
%   See also spry_solve, spry_tune, spry_list.
  properties (SetAccess = private)
    id = uint64(0)   % as the gateway knows it; 1 more: S.', 2 more: S'
    rows = 0
    cols = 0
    complex = false
    owner = []       % of a transpose: what it was made from, which stays alive
  end

  methods
    function s = spry_matrix(A, varargin)
      if nargin == 2 && isa(A, 'spry_matrix')
        s.id = A.id + varargin{1};
        s.owner = A;
        s.rows = A.cols;
        s.cols = A.rows;
        s.complex = A.complex;
        return
      end
      if nargin < 1
        error('spry:badUsage', 'spry_matrix(A): a sparse matrix is needed');
      end
      if isfloat(A) && ~issparse(A)
        A = sparse(double(A));
      end
      s.id = spry_mex('keep', A, spry_options(varargin));
      [s.rows, s.cols] = size(A);
      s.complex = ~isreal(A);
    end

    function delete(s)
      if s.id ~= 0 && isempty(s.owner)
        spry_mex('free', s.id);
      end
    end

    function y = mtimes(s, x)
      y = spry_mex('multiply', s, x);
    end

    function t = ctranspose(s)
      t = transposed(s, 2);
    end

    function t = transpose(s)
      t = transposed(s, 1);
    end

    function x = mldivide(s, b)
      [x, result] = solve(s, b);
      warn_unless_converged(result);
    end

    function [x, result] = solve(s, b, varargin)
      options = guard_options(spry_options(varargin));
      if issparse(b)
        b = full(b);
      end
      if isreal(b) || s.complex
        [x, result] = spry_mex('solve', s.id, b, options);
      else
        [x, result] = spry_mex('solve', s.id, [real(b), imag(b)], options);
        k = size(x, 2) / 2;
        x = complex(x(:, 1:k), x(:, k+1:end));
      end
    end

    function yes = matches(s, A)
      yes = spry_mex('matches', s.id, A) == 2;
    end

    function what = update(s, A)
      words = {'new', 'values', 'same'};
      what = words{1 + spry_mex('update', s.id, A)};
      [s.rows, s.cols] = size(A);
      s.complex = s.complex || ~isreal(A);
    end

    function info = describe(s)
      info = spry_mex('describe', s.id);
    end

    function varargout = size(s, dim)
      d = [s.rows, s.cols];
      if nargin > 1
        d(3:dim) = 1;
        varargout{1} = d(dim);
      elseif nargout < 2
        varargout{1} = d;
      else
        d(3:nargout) = 1;
        varargout = num2cell(d);
      end
    end

    function disp(s)
      marks = {'', ', transposed (.'')', ', transposed ('')'};
      try
        d = describe(s);
      catch
        fprintf('  spry_matrix that was released\n');
        return
      end
      fprintf('  spry_matrix: %d x %d, %d entries, %s on %s, %.3g MB%s\n', s.rows, s.cols, d.nnz, ...
              d.format, d.device, d.bytes / 1e6, marks{1 + mod(double(s.id), 4)});
    end
  end

  methods (Access = private)
    function t = transposed(s, op)
      if isempty(s.owner)
        t = spry_matrix(s, op);
      elseif s.id == s.owner.id + op
        t = s.owner;
      else
        error('spry:unsupported', 'the conjugate of a kept matrix: keep conj(A)');
      end
    end
  end
end
