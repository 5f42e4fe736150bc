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
%   2*S, nnz(S), S(i,j), sparse(S) and full(S) are those of A; S(i,j) copies all of
%   S back and is for a look.  c/S and S'\b solve with a transpose, which is kept
%   beside S from its first use on.
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
    turned = []      % A.', kept once something is solved with it
    options = {}     % that it was made with
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
      if nargin == 1 && isa(A, 'uint64')   % of the gateway's: an operator of a grid
        d = spry_mex('describe', A);
        s.id = A;
        s.rows = d.rows;
        s.cols = d.cols;
        s.complex = any(d.type == 'cz');
        return
      end
      needs(nargin, 1, 'spry_matrix(A, ...)');
      if isa(A, 'single')
        varargin = [{'precision', 'single'}, varargin];
      end
      if isfloat(A) && ~issparse(A)
        A = sparse(double(A));
      end
      s.options = varargin;
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
      if isnumeric(x) && isscalar(x) && s.cols ~= 1
        y = scaled(s, x);
      elseif isnumeric(s) && isscalar(s) && x.rows ~= 1
        y = scaled(x, s);
      else
        y = spry_mex('multiply', s, x);
      end
    end

    function t = ctranspose(s)
      t = transposed(s, 2);
    end

    function t = transpose(s)
      t = transposed(s, 1);
    end

    function x = mldivide(s, b)
      check_order(s, b);
      if size(b, 1) ~= s.rows
        error('spry:badShape', 'nonconformant: the matrix is %d x %d, and b %d x %d', s.rows, s.cols, ...
              size(b, 1), size(b, 2));
      end
      [x, result] = solve(s, b);
      warn_unless_converged(result);
    end

    function x = mrdivide(c, s)
      if ~isa(s, 'spry_matrix')
        x = scaled(c, 1 / s);
      elseif mod(double(s.id), 4) == 2
        x = (s.owner \ c')';
      else
        x = (s.' \ c.').';
      end
    end

    function [x, result] = solve(s, b, varargin)
      needs(nargin, 2, 'solve(S, b, ...)');
      check_order(s, b);
      if mod(double(s.id), 4) == 1
        [x, result] = solve(transpose_of(s.owner), b, varargin{:});
        return
      elseif mod(double(s.id), 4) == 2
        [x, result] = solve(transpose_of(s.owner), conj(b), varargin{:});
        x = conj(x);
        return
      end
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

    function A = sparse(s)
      A = spry_mex('arrays', s.id);
      if mod(double(s.id), 4) == 1
        A = A.';
      elseif mod(double(s.id), 4) == 2
        A = A';
      end
    end

    function A = full(s)
      A = full(sparse(s));
    end

    function n = nnz(s)
      d = describe(s);
      n = d.nnz;
    end

    function varargout = subsref(s, at)
      if strcmp(at(1).type, '()')
        varargout{1} = subsref(sparse(s), at);
      else
        [varargout{1:nargout}] = builtin('subsref', s, at);
      end
    end

    function yes = matches(s, A)
      needs(nargin, 2, 'matches(S, A)');
      yes = spry_mex('matches', s.id, A) == 2;
    end

    function what = update(s, A)
      needs(nargin, 2, 'update(S, A)');
      words = {'new', 'values', 'same'};
      what = words{1 + spry_mex('update', s.id, A)};
      [s.rows, s.cols] = size(A);
      s.complex = s.complex || ~isreal(A);
      s.turned = [];
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
    function t = scaled(s, a)
      base = s;
      if ~isempty(s.owner)
        base = s.owner;
      end
      t = spry_matrix(a * sparse(s), base.options{:});
    end

    function t = transpose_of(s)
      if isempty(s.turned)
        s.turned = spry_matrix(sparse(s).', s.options{:});
      end
      t = s.turned;
    end

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
