function varargout = spry_places(grid, points)
%SPRY_PLACES  The coordinates of a grid's unknowns.
%   [x, y, z] = spry_places(grid) has those of the unknowns, columns in the order of
%   vectors; spry_places(grid, 'all') those of all points, as coefficients have them.
%
%   Example
%     [x, y] = spry_places('64x64');  u = sin(pi * x) .* sin(pi * y);
%
%   See also spry_stencil, spry_step.
  needs(nargin, 1, 'spry_places(grid)');
  places = spry_mex('places', plain_text(grid), nargin > 1 && strcmp(points, 'all'));
  varargout = num2cell(places(:, 1:max(nargout, 1)), 1);
end
