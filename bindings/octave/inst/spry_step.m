function [u, stats] = spry_step(S, u, t, last, varargin)
%SPRY_STEP  Steps of time: u' = S*u from t to last.
%   [u, stats] = spry_step(S, u, t, last, name, value, ...): S is kept, of spry_stencil or
%   spry_matrix; options are those of steppers: 'method' ('rk4', ...), 'dt', 'tol', ...
%   stats has steps, rejected, t, dt, limit (the largest stable step), solves and iterations.
%
%   Example
%     grid = '64x64 boundary=dirichlet';
%     [x, y] = spry_places(grid);
%     u = spry_step(spry_stencil(grid, 'laplace'), sin(pi*x).*sin(pi*y), 0, 0.02, 'dt', 5e-5);
%
%   See also spry_stencil, spry_places.
  needs(nargin, 4, 'spry_step(S, u, t, last, ...)');
  [u, stats] = spry_mex('step', kept_id(S, 'spry_step'), u, t, last, spry_options(varargin));
end
