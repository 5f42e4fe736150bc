function [x, result] = spry_bounded(S, b, lower, varargin)
%SPRY_BOUNDED  Obstacle problems: x >= lower, S*x >= b, at each point one of them equal.
%   [x, result] = spry_bounded(S, b, lower, name, value, ...): S of spry_stencil, of order 2;
%   b and lower have a number for each unknown; options 'method', 'tol', ...
%
%   Example
%     S = spry_stencil('64x64', '-laplace');
%     x = spry_bounded(S, -ones(size(S, 1), 1), -0.02 * ones(size(S, 1), 1));
%
%   See also spry_stencil.
  needs(nargin, 3, 'spry_bounded(S, b, lower, ...)');
  [x, result] = spry_mex('bounded', kept_id(S, 'spry_bounded'), b, lower, spry_options(varargin));
  if nargout < 2
    warn_unless_converged(result);
  end
end
