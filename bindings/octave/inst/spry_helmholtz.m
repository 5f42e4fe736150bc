function S = spry_helmholtz(grid, k2, varargin)
%SPRY_HELMHOLTZ  The operator laplace + k2 of waves on a grid, without a matrix.
%   S = spry_helmholtz(grid, k2, name, value, ...): k2 is the square of the wave number, a
%   number or one for each point; options are those of Helmholtz' operator: 'scheme',
%   'layer', 'type', 'device', ...  S is kept like a spry_matrix.
%
%   Example
%     S = spry_helmholtz('60x60 boundary=absorb layer=10', (2*pi*4)^2);
%
%   See also spry_stencil, spry_places.
  needs(nargin, 2, 'spry_helmholtz(grid, k2, ...)');
  S = spry_matrix(spry_mex('helmholtz', plain_text(grid), k2, spry_options(varargin)));
end
