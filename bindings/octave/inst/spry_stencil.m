function S = spry_stencil(grid, text, coefficients, varargin)
%SPRY_STENCIL  An operator on a grid from a text, without a matrix.
%   S = spry_stencil(grid, text) is kept like a spry_matrix: S*x, S\b and
%   solve(S, b), with multigrid where that suits; sparse(S) is its matrix.
%   grid: the intervals of each axis and options, '64x64 box=0:1,0:1 boundary=dirichlet'
%   text: '-laplace + 3*dx + k'
%   S = spry_stencil(grid, text, struct('k', K), name, value, ...) with coefficients, each
%   a number or one for each point (spry_places(grid, 'all')), and options of stencils:
%   'order', 'type', 'device', ...
%
%   Example
%     S = spry_stencil('64x64 boundary=dirichlet', '-laplace');
%     [x, result] = solve(S, ones(size(S, 1), 1), 'method', 'cg', 'precon', 'gmg');
%
%   See also spry_places, spry_step, spry_bounded, spry_helmholtz, spry_matrix.
  needs(nargin, 2, 'spry_stencil(grid, text, ...)');
  if nargin < 3
    coefficients = [];
  end
  S = spry_matrix(spry_mex('stencil', plain_text(grid), plain_text(text), coefficients, ...
                           spry_options(varargin)));
end
